"""When failed work is tried again."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

RETRY_DELAY = timedelta(minutes=1)
MAX_ATTEMPTS = 8
MAX_BACKOFF_MINUTES = 360


class RetryableError(Exception):
    """A failure that is not the program's fault, told apart by its code."""

    code = "unavailable"


def retry_at(attempts: int, now: datetime) -> datetime:
    """Return the time of the next try after so many failures: in two minutes, four, eight, at most six hours."""
    return now + timedelta(minutes=min(2**attempts, MAX_BACKOFF_MINUTES))


@contextmanager
def note_failures(note: Callable[[str], object]) -> Iterator[None]:
    """Give the code of what goes wrong in the block to `note`; all but a RetryableError is raised again."""
    try:
        yield
    except RetryableError as error:
        note(error.code)
    except Exception:
        note("internal_error")
        raise
