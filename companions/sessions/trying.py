"""Whose work it is for now, when it is tried again, and the places at which tests cut it off."""

from collections.abc import Callable
from datetime import datetime, timedelta

LEASE = timedelta(minutes=20)  # longer than any answer may take: nobody else begins the same work meanwhile
SOON = timedelta(minutes=1)
MOST_ATTEMPTS = 8
MOST_MINUTES = 360

Step = Callable[[str], None]
"""Told which point the work has come to."""


def nothing(_point: str) -> None:
    """What is done at each point, but in tests."""


def again_at(attempts: int, now: datetime) -> datetime:
    """When it is tried again after so many failures: after two minutes, four, eight, at most six hours."""
    return now + timedelta(minutes=min(2**attempts, MOST_MINUTES))
