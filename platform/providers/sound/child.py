"""python -m providers.sound.child SECONDS: read a sound from stdin, write its samples to stdout, under limits.

The first line of what it writes is a JSON object: `rate`, and the samples follow as 16 bits each; or `code` and `said`.
"""

import contextlib
import json
import resource
import sys

from providers.sound.errors import SoundError
from providers.sound.reading import read

MOST_BYTES = (
    1_024**3
)  # of address space: five minutes at 48,000 samples a second take 30 MB twice, the rest is libraries
MOST_CPU_SECONDS = 20
MOST_WRITTEN_BYTES = 64 * 1_024**2
MOST_OPEN_FILES = 16


def main() -> None:
    limit()
    content = sys.stdin.buffer.read()
    try:
        sound = read(content, float(sys.argv[1]))
    except SoundError as error:
        sys.stdout.write(json.dumps({"code": error.code, "said": error.said}) + "\n")
        return
    sys.stdout.buffer.write(json.dumps({"rate": sound.rate}).encode() + b"\n")
    sys.stdout.buffer.write(sound.samples.tobytes())


def limit() -> None:
    """Let this process have no more than it needs, to its end."""
    for name, most in (
        (resource.RLIMIT_AS, MOST_BYTES),
        (resource.RLIMIT_CPU, MOST_CPU_SECONDS),
        (resource.RLIMIT_FSIZE, MOST_WRITTEN_BYTES),
        (resource.RLIMIT_NOFILE, MOST_OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # macOS knows no limit of address space
            resource.setrlimit(name, (most, most))


if __name__ == "__main__":
    main()
