"""A row that is one worker's for a time; and when its work is tried again."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Self

from django.db.models import F, Q, QuerySet

from jobs.errors import PostponedError, RetryableError

LEASE_TIME = timedelta(minutes=20)  # longer than any one answer may take; whoever asks again renews it first
RETRY_DELAY = timedelta(minutes=1)
MAX_ATTEMPTS = 8
MAX_BACKOFF_MINUTES = 360

Clock = Callable[[], datetime]


@dataclass(slots=True)
class Lease:
    """A row that is one worker's until the time in its `field`: only whoever wrote that time may move it."""

    row: QuerySet[Any]
    field: str
    clock: Clock
    until: datetime
    length: timedelta = LEASE_TIME

    @classmethod
    def take(
        cls, row: QuerySet[Any], field: str, clock: Clock, length: timedelta = LEASE_TIME, **fields: Any
    ) -> Self | None:
        """Return the lease, with these fields set; None where the row is not due, another's, or gone."""
        now = clock()
        free = row.filter(Q(**{field: None}) | Q(**{f"{field}__lte": now}))
        until = now + length
        return cls(row, field, clock, until, length) if free.update(**{field: until}, **fields) else None

    @property
    def held_row(self) -> QuerySet[Any]:
        """The row, as long as nobody else has taken it."""
        return self.row.filter(**{self.field: self.until})

    def renew(self, **fields: Any) -> bool:
        """Return whether it still was held; then it is for another `length` from now, with these fields set."""
        until = self.clock() + self.length
        is_held = bool(self.held_row.update(**{self.field: until}, **fields))
        self.until = until if is_held else self.until
        return is_held

    def count_failure(self, code: str, most: int = MAX_ATTEMPTS) -> bool:
        """Count a try in `attempts`, with what it failed of in `error`, and let go of the row until the next is due.

        Return True, with the row still held, where that was the last of so many.
        """
        self.held_row.update(attempts=F("attempts") + 1, error=code)
        attempts = self.held_row.values_list("attempts", flat=True).first()
        if attempts is None:
            return False
        if attempts < most:
            self.release(retry_at(attempts, self.clock()))
        return bool(attempts >= most)

    def release(self, at: datetime | None, **fields: Any) -> None:
        """Let anybody go on with the row from then on. Where another has taken it, nothing changes."""
        self.held_row.update(**{self.field: at}, **fields)


def retry_at(attempts: int, now: datetime) -> datetime:
    """Return the time of the next try after so many failures: in two minutes, four, eight, at most six hours."""
    return now + timedelta(minutes=min(2**attempts, MAX_BACKOFF_MINUTES))


@contextmanager
def note_failures(lease: Lease, note: Callable[[str], object], **put_off: Any) -> Iterator[None]:
    """Give the code of what goes wrong in the block to `note`; all but a RetryableError is raised again.

    What is merely postponed is let go of for a minute, with these fields set.
    """
    try:
        yield
    except PostponedError:
        lease.release(lease.clock() + RETRY_DELAY, **put_off)
    except RetryableError as error:
        note(error.code)
    except Exception:
        note("internal_error")
        raise
