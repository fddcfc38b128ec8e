"""`make bench-recall DATA=path`: how much of what holds the answer does a companion recall?

DATA is one or more files of LoCoMo's or REALTALK's shape, or folders of them. Each talk becomes a companion with a user
of its own, in a database of its own, stored as talk is; each question goes through the `recall` that a reply uses.
Beside it, over the same texts and vectors: plain BM25, plain cosine, and reciprocal-rank fusion of the two; then
every question put to every companion that was never told.
"""

import argparse
import sys
import time
from dataclasses import replace

from bench.common.command import amount, count, machine, parser_of_talks
from bench.common.place import Place
from bench.recall.reading import DataError, talks


def main() -> None:
    """Measure, and print as it goes."""
    asked = _arguments()
    try:
        read = talks(asked.data)[: asked.conversations]
    except DataError as error:
        sys.exit(str(error))
    if asked.only_first:
        read = [replace(talk, questions=talk.questions[: asked.only_first]) for talk in read]
    began = time.monotonic()
    print(f"{amount(read)}; {machine()}", flush=True)
    with Place():
        from bench.recall.report import Report

        report = Report(read, is_markdown=asked.markdown, form=asked.form)
        report.quality()
        report.speed()
        if not asked.quick:
            report.pool(is_alone=asked.alone)
    print(f"\nMeasured in {time.monotonic() - began:.0f} s.")


def _arguments() -> argparse.Namespace:
    parser = parser_of_talks("recall", __doc__)
    parser.add_argument(
        "--only-first", type=count, metavar="N", help="only each conversation's first N questions"
    )
    parser.add_argument(
        "--as",
        dest="form",
        default="",
        choices=["sillytavern", "chatgpt"],
        help="bring the talks in as such files, instead of as they are stored",
    )
    parser.add_argument("--quick", action="store_true", help="without the pool test")
    parser.add_argument(
        "--alone",
        action="store_true",
        help="in the pool test compare each companion's results with those it gives alone",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
