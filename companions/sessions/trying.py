"""Whose work it is for now, when it is tried again, and the places at which tests cut it off."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Self

from django.db.models import Q, QuerySet

from providers.errors import ProviderError

LEASE = timedelta(minutes=20)  # longer than any one answer may take; whoever asks again renews it first
SOON = timedelta(minutes=1)
MOST_ATTEMPTS = 8
MOST_MINUTES = 360

Clock = Callable[[], datetime]
Step = Callable[[str], None]
"""Told which point the work has come to."""


def nothing(_point: str) -> None:
    """What is done at each point, but in tests."""


def again_at(attempts: int, now: datetime) -> datetime:
    """When it is tried again after so many failures: after two minutes, four, eight, at most six hours."""
    return now + timedelta(minutes=min(2**attempts, MOST_MINUTES))


@contextmanager
def counted(note: Callable[[str], object]) -> Iterator[None]:
    """What goes wrong in the block is given to `note` by its code; but for a provider's fault it then goes on up."""
    try:
        yield
    except ProviderError as error:
        note(error.code)
    except Exception:
        note("internal_error")
        raise


@dataclass(slots=True)
class Lease:
    """A row that is one worker's until the time in its `field`: only whoever wrote that time may move it.

    Taken or renewed it is so for as long as it is `lasting`.
    """

    row: QuerySet[Any]
    field: str
    clock: Clock
    until: datetime
    lasting: timedelta = LEASE

    @classmethod
    def take(
        cls, row: QuerySet[Any], field: str, clock: Clock, lasting: timedelta = LEASE, **fields: Any
    ) -> Self | None:
        """The lease, with these fields set; None where the row is not due, another's, or gone."""
        now = clock()
        free = row.filter(Q(**{field: None}) | Q(**{f"{field}__lte": now}))
        until = now + lasting
        return cls(row, field, clock, until, lasting) if free.update(**{field: until}, **fields) else None

    @property
    def mine(self) -> QuerySet[Any]:
        """The row, as long as nobody else has taken it."""
        return self.row.filter(**{self.field: self.until})

    def renew(self, **fields: Any) -> bool:
        """Whether it is still one's own; then it is so for as long again, with these fields set."""
        until = self.clock() + self.lasting
        is_mine = bool(self.mine.update(**{self.field: until}, **fields))
        self.until = until if is_mine else self.until
        return is_mine

    def give_back(self, at: datetime | None, **fields: Any) -> None:
        """Let anybody go on with it from then on. Where another has taken it, nothing changes."""
        self.mine.update(**{self.field: at}, **fields)
