"""Leases, by which a worker has a row to itself for a time, and retries of the work with backoff."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Self

from django.db import transaction
from django.db.models import Q, QuerySet

from jobs.background import with_retry
from jobs.errors import PostponedError, RetryableError

LEASE_TIME = timedelta(minutes=20)  # longer than one model call may take; renew before each further call
RETRY_DELAY = timedelta(minutes=1)
MAX_ATTEMPTS = 8
MAX_BACKOFF_MINUTES = 360

Clock = Callable[[], datetime]


@dataclass(slots=True)
class Lease:
    """One worker's claim of a row until the time in the row's column `field`; others can take the row after that."""

    row: QuerySet[Any]
    field: str
    clock: Clock
    until: datetime
    length: timedelta = LEASE_TIME

    @classmethod
    def take(
        cls, row: QuerySet[Any], field: str, clock: Clock, length: timedelta = LEASE_TIME, **fields: Any
    ) -> Self | None:
        """Take the row and set `fields`; return the lease, or None if the row is not due, is taken, or is gone."""
        now = clock()
        free = row.filter(Q(**{field: None}) | Q(**{f"{field}__lte": now}))
        until = now + length
        return cls(row, field, clock, until, length) if free.update(**{field: until}, **fields) else None

    @property
    def held_row(self) -> QuerySet[Any]:
        """Return a queryset of the row, which is empty once the lease is lost."""
        return self.row.filter(**{self.field: self.until})

    def renew(self, **fields: Any) -> bool:
        """Extend the lease to `length` from now and set `fields`; return False, changing nothing, if it is lost."""
        until = self.clock() + self.length
        is_held = bool(self.held_row.update(**{self.field: until}, **fields))
        self.until = until if is_held else self.until
        return is_held

    @transaction.atomic
    def count_failure(self, code: str, most: int = MAX_ATTEMPTS, *, is_outage: bool = False) -> bool:
        """Count a failed attempt in the row's `attempts`, put `code` into its `error`, and release it until the next.

        Return True, with the row still held, if that was the last of `most` attempts.
        """
        before = self.held_row.values_list("attempts", flat=True).first()
        if before is None:
            return False
        attempts = count_attempt(before, is_outage=is_outage, most=most)
        self.held_row.update(attempts=attempts, error=code)
        if attempts < most:
            self.release(retry_at(attempts, self.clock()))
        return bool(attempts >= most)

    def release(self, at: datetime | None, **fields: Any) -> None:
        """Let any worker take the row from the time `at` on, and set `fields`; do nothing if the lease is lost."""
        self.held_row.update(**{self.field: at}, **fields)


def count_attempt(attempts: int, *, is_outage: bool, most: int = MAX_ATTEMPTS) -> int:
    """Return how many attempts have failed with one more. An outage is not the work's fault: it leaves two of `most`."""
    return max(attempts, min(attempts + 1, most - 2)) if is_outage else attempts + 1


def retry_at(attempts: int, now: datetime) -> datetime:
    """Return when to try again after so many failures: 2, 4, 8, … minutes from `now`, at most six hours."""
    return now + timedelta(minutes=min(2**attempts, MAX_BACKOFF_MINUTES))


@contextmanager
def note_failures(lease: Lease, note: Callable[[str], object], **put_off: Any) -> Iterator[None]:
    """Call `note` with the code of an error in the block; suppress a RetryableError, and raise any other error again.

    For a PostponedError `note` is not called: the lease is released for a minute, with the fields `put_off` set. If the
    database is unavailable, it is waited for, for a minute at most: else the row would wait for the end of the lease.
    """
    try:
        yield
    except PostponedError:
        with_retry(lease.release, lease.clock() + RETRY_DELAY, **put_off)
    except RetryableError as error:
        with_retry(note, error.code)
    except Exception:
        with_retry(note, "internal_error")
        raise
