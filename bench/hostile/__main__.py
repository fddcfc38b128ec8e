"""Send what people may send in place of a picture or a recording, and print what came of it, its time and its memory.

Each is what the tests send, and goes the way it goes in Kith. `child` is the most memory that the process had which read
it, `here` how much Kith's own process grew meanwhile. Needs Linux, whose /proc tells it.
"""

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import django

if TYPE_CHECKING:
    from bench.hostile.sending import Came

MOST_CHILD_MB, MOST_HERE_MB, MOST_SECONDS = 1024, 150, 35


def main(arguments: Sequence[str]) -> int:
    """0 where each was refused or made harmless as it should be, within the bounds."""
    from bench.command import machine, parser

    parser("hostile", __doc__).parse_args(arguments)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from bench.hostile.sending import all_sent, send

    say(f"On {machine()}.")
    say(f"{'':44}{'bytes':>12}  {'outcome':18}{'seconds':>8}{'child MB':>10}{'here MB':>9}")
    came = []
    for one in all_sent():
        came.append(send(one))
        say(line(came[-1]))
    return told(came)


def line(came: "Came") -> str:
    sizes = f"{came.seconds:>8.2f}{came.child_mb:>10.0f}{came.here_mb:>9.1f}"
    return f"{came.sent.name:44}{came.bytes:>12,}  {came.outcome:18}{sizes}{'' if is_as_wanted(came) else '  WRONG'}"


def is_as_wanted(came: "Came") -> bool:
    is_small = came.child_mb <= MOST_CHILD_MB and came.here_mb <= MOST_HERE_MB
    return is_small and came.seconds <= MOST_SECONDS and came.sent.is_wanted(came.outcome)


def told(came: Sequence["Came"]) -> int:
    wrong = [one for one in came if not is_as_wanted(one)]
    say(
        f"{len(came)} sent, {len(wrong)} wrong; at most {max(one.seconds for one in came):.1f} s, "
        f"{max(one.child_mb for one in came):.0f} MB in the reading process, "
        f"{max(one.here_mb for one in came):.0f} MB more here."
    )
    return bool(wrong)


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
