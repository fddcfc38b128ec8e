"""python -m pasts.child [PATTERN]: parse the file of earlier talk on standard input, inside the sandbox.

PATTERN is the JSON of a `TextPattern`. The answer is {"form", "pattern", "remarks"}, followed by the lines of
`collector.py`; or {"code"}.

A file is in memory only once, as UTF-8: a ZIP stays on disk, and messages are written to disk as they are found.
"""

import gc
import json
import sys

from jobs.confinement import answer_with_body, answer_without_body, begin_body, limit_process
from pasts.formats import parse
from pasts.past import PastFormatError, TextPattern

CPU_SECONDS = 10  # the most messages that a file may have take a third of it
MEMORY_BYTES = 256 * 1024**2  # of address space
WRITTEN_BYTES = 256 * 1024**2


def main(pattern_json: str = "") -> None:
    limit_process(MEMORY_BYTES, CPU_SECONDS, WRITTEN_BYTES)
    gc.disable()  # no reference cycles arise here, and searching for them would take a third of the time
    try:
        pattern = TextPattern(**json.loads(pattern_json)) if pattern_json else None
        form, collector = parse(sys.stdin.buffer, begin_body(), pattern)
    except PastFormatError as error:
        answer_without_body({"code": error.code})
    except MemoryError:
        answer_without_body({"code": "too_large"})
    else:
        answer_with_body({"form": form, "pattern": collector.pattern, "remarks": sorted(collector.remarks)})


if __name__ == "__main__":
    main(*sys.argv[1:])
