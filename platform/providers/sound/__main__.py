"""python -m providers.sound SECONDS: decode a sound from stdin and write its samples to stdout, with limited resources.

The first line of the output is a JSON object: with `rate`, and 16-bit samples follow; or with `code` and `said`.
"""

import sys

from jobs.confinement import answer, limit_process
from providers.sound.codecs import read
from providers.sound.sound import SoundError

# Of address space: five minutes at 48,000 samples per second take twice 30 MB, the libraries take the rest.
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
    """Limit this process, until it ends, to the resources that it needs."""
    limit_process(MAX_BYTES, MAX_CPU_SECONDS, MAX_WRITTEN_BYTES)


if __name__ == "__main__":
    main()
