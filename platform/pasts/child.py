"""python -m pasts.child SIZE [PATTERN]: read the earlier talk that comes at the input, in the sandbox.

SIZE is a key of CPU_SECONDS, PATTERN the JSON of a `TextPattern`. The answer is {"form", "pattern", "remarks"} and
after it the lines of `collector.py`; or {"code"}.

A file lies in memory once, as UTF-8: a ZIP stays on the disk, and what is found of a talk goes there as it is found.
"""

import gc
import json
import sys

from jobs.confinement import answer_with_body, answer_without_body, begin_body, limit_process
from pasts.formats import parse
from pasts.past import PastFormatError, TextPattern

SMALL, LARGE = "small", "large"
SMALL_BYTES = 20_000_000
CPU_SECONDS = {SMALL: 5, LARGE: 10}  # for what is read; what is refused is found to be so within two
MEMORY_BYTES = 256 * 1024**2  # of address space
WRITTEN_BYTES = 256 * 1024**2


def limit(size: str) -> None:
    """Limit this process, before it reads anything."""
    limit_process(MEMORY_BYTES, CPU_SECONDS[size], WRITTEN_BYTES)


def main(size: str, told: str = "") -> None:
    limit(size)
    gc.disable()  # no circles are made here; to look for them takes a third of the time
    try:
        pattern = TextPattern(**json.loads(told)) if told else None
        form, collector = parse(sys.stdin.buffer, begin_body(), pattern)
    except PastFormatError as error:
        answer_without_body({"code": error.code})
    except MemoryError:
        answer_without_body({"code": "too_large"})
    else:
        answer_with_body({"form": form, "pattern": collector.pattern, "remarks": sorted(collector.remarks)})


if __name__ == "__main__":
    main(*sys.argv[1:])
