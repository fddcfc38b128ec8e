"""`make bench-learning`: what is learnt of scripted talks, with what must and must not be remembered of each.

Each talk of bench/learning/corpus is said to a companion of its own that knows what the corpus says it knows; then its
session ends for real, and a scripted model answers as the corpus has it: true facts and false ones, a diary with
sentences that somebody said and others that nobody did. It says of every second false fact how the line was truly meant,
and nothing of the others. Which known facts a new one contradicts it answers truly, where it is asked.
"""

import argparse
import time

from bench.common.command import machine
from bench.common.place import Place
from bench.learning.corpus_files import read_talks
from bench.learning.model import serving


def main() -> None:
    """Play both halves, and print what came of them."""
    asked = _arguments()
    began = time.monotonic()
    print(machine(), flush=True)
    with Place(), serving() as model:
        from django.conf import settings

        from bench.learning import report
        from bench.learning.playing import play

        settings.CHAT = {"base_url": model.url, "api_key": "", "model": "scripted", "is_rehearsal": False}
        for half in asked.halves:
            played, calls = [], model.calls
            for model.talk in read_talks(half):
                played.append(play(model.talk))
            report.show(half, played, is_listing=half in asked.list)
            print(f"model calls an ending: {(model.calls - calls) / len(played):.2f}", flush=True)
    print(f"\nMeasured in {time.monotonic() - began:.0f} s.")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.learning",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--halves", nargs="+", choices=["dev", "held"], default=["dev", "held"])
    parser.add_argument("--list", nargs="*", choices=["dev", "held"], default=[], help="name what went wrong")
    return parser.parse_args()


if __name__ == "__main__":
    main()
