"""`make bench-peers DATA=path`: the same questions, put to Kith and to mem0 over the same vectors.

DATA is as for `make bench-recall`. mem0 (mem0ai on PyPI, bench/peers/mem0.txt) is installed into an environment of its
own in `.kith-peers`. It embeds with Kith's embedder over HTTP and keeps what it is told in its default store, a local
Qdrant. The rehearsal model stands in for its language model and answers every turn's extraction with that turn, whole.
"""

import argparse
import sys
import time
from pathlib import Path

from bench.common.command import amount, machine, parser_of_talks
from bench.common.place import ROOT, Place
from bench.peers.venv import VenvError, python_with
from bench.recall.reading import DataError, talks

FOLDER = ROOT / ".kith-peers"
MORE = "install these as well: with fastembed and spacy, and a network for their models, mem0 weighs words and entities"


def main() -> None:
    """Measure, and print as it goes."""
    asked = _arguments()
    began = time.monotonic()
    try:
        read = talks(asked.data)[: asked.conversations]
        python = python_with(asked.folder, *asked.more)
    except (DataError, VenvError) as error:
        sys.exit(str(error))
    print(f"{amount(read)}; {machine()}", flush=True)
    with Place():
        from bench.peers.report import report

        report(python, read, is_markdown=asked.markdown, is_quick=asked.quick)
    print(f"\nMeasured in {time.monotonic() - began:.0f} s.")


def _arguments() -> argparse.Namespace:
    parser = parser_of_talks("peers", __doc__)
    parser.add_argument("--quick", action="store_true", help="only mem0's turns as they are")
    parser.add_argument("--with", dest="more", nargs="+", default=[], metavar="PACKAGE", help=MORE)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where mem0 is installed")
    return parser.parse_args()


if __name__ == "__main__":
    main()
