"""python -m pasts.child SIZE [PATTERN]: read the earlier talk that comes at the input, in the sandbox.

SIZE is a key of LIMITS, PATTERN the JSON of a `TextPattern`. The answer is {"form", "pattern", "remarks"}, and
after it the lines of `collector.py`; or {"code"}.

256 MB are enough for a file of 20 MB. A larger one lies in memory as it came, as it was unpacked, and once more as what
was read of it, before any of that is answered: 100 MB each at most, and a few for the message that is being built.
"""

import json
import sys

from jobs.sandbox import answer, limit_process
from pasts.errors import PastFormatError
from pasts.formats import parse
from pasts.past import TextPattern

SMALL, LARGE = "small", "large"
SMALL_BYTES = 20_000_000
LIMITS = {SMALL: (256 * 1024**2, 5), LARGE: (512 * 1024**2, 10)}  # of address space, and of seconds computed
WRITTEN_BYTES = 256 * 1024**2


def limit(size: str) -> None:
    """Limit this process, before it reads anything."""
    memory, seconds = LIMITS[size]
    limit_process(memory, seconds, WRITTEN_BYTES)


def main(size: str, told: str = "") -> None:
    limit(size)
    try:
        pattern = TextPattern(**json.loads(told)) if told else None
        form, collector = parse(sys.stdin.buffer.read(), pattern)
    except PastFormatError as error:
        answer({"code": error.code})
        return
    except MemoryError:
        answer({"code": "too_large"})
        return
    answer({"form": form, "pattern": collector.pattern, "remarks": sorted(collector.remarks)})
    sys.stdout.buffer.write(collector.body)  # alone: one whole answer would take the memory twice


if __name__ == "__main__":
    main(*sys.argv[1:])
