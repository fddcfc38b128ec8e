"""The one way in which `up` speaks to the terminal."""

import sys


def say(text: str) -> None:
    """Writes a line at once, also where the output goes to a file or a pipe."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
