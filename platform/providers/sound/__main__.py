"""python -m providers.sound SECONDS: read a sound from stdin, write its samples to stdout, under limits.

The first line of what it writes is a JSON object: `rate`, and the samples follow as 16 bits each; or `code` and `said`.
"""

import sys

from jobs.confinement import answer, limit_process
from providers.sound.codecs import read
from providers.sound.sound import SoundError

# Of address space: five minutes at 48,000 samples a second take 30 MB twice, the rest is libraries.
MAX_BYTES = 1_024**3
MAX_CPU_SECONDS = 20
MAX_WRITTEN_BYTES = 64 * 1_024**2


def main() -> None:
    limit_resources()
    content = sys.stdin.buffer.read()
    try:
        sound = read(content, float(sys.argv[1]))
    except SoundError as error:
        answer({"code": error.code, "said": error.said})
        return
    answer({"rate": sound.rate}, sound.samples.tobytes())


def limit_resources() -> None:
    """Let this process have no more than it needs, to its end."""
    limit_process(MAX_BYTES, MAX_CPU_SECONDS, MAX_WRITTEN_BYTES)


if __name__ == "__main__":
    main()
