"""`make bench-scale`: is recall as quick in a large memory, and among a million memories of others?

Companions of 1,000, 10,000 and 100,000 memories are talked to as people talk, then a thousand of 1,000 lie beside them.
Timed are recall's SQL, all of recall, and the embedding of the cue; beside them the barest search by likeness. Three
hundred memories are embedded really; all other vectors are those, turned a little.
"""

import argparse
import os
import time

from bench.common.command import count, machine, parser
from bench.common.place import Place

TOTAL = 1_000_000
SIZES = (1_000, 10_000, 100_000)
CUES = 60
BUDGET_MINUTES = 10


def main() -> None:
    """Measure, and print as it goes."""
    asked = _arguments()
    if asked.shared_buffers:
        _give_postgres(asked.shared_buffers)
    began = time.monotonic()
    print(f"Kith on {machine()},", end=" ")
    print(f"load average {os.getloadavg()[0]:.2f}; about {BUDGET_MINUTES} minutes for {TOTAL:,} memories.")
    with Place():
        from bench.scale.report import Report

        report = Report(cues_asked=asked.cues, is_markdown=asked.markdown, is_explained=asked.explain)
        report.few()
        report.sizes(asked.sizes)
        report.many(asked.total)
        report.disk()
    print(f"Measured in {(time.monotonic() - began) / 60:.1f} of {BUDGET_MINUTES} minutes.")


def _arguments() -> argparse.Namespace:
    asks = parser("scale", __doc__)
    asks.add_argument("--total", type=count, default=TOTAL, help="memories in all, by the thousand")
    asks.add_argument("--sizes", type=count, nargs="+", default=SIZES, help="memories of one companion")
    asks.add_argument("--cues", type=count, default=CUES, help="how many different questions, 1 to 600")
    asks.add_argument("--explain", action="store_true", help="print the plans of recall's statements")
    asks.add_argument("--shared-buffers", metavar="SIZE", help="what Postgres gets in place of its 128MB")
    return asks.parse_args()


def _give_postgres(memory: str) -> None:
    from config.up import postgres

    postgres.TUNING["shared_buffers"] = memory


if __name__ == "__main__":
    main()
