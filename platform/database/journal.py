"""What the journal of a companion's mind is told: that a change holds on every branch, or what it is made after.

The journal is kept by triggers of the database; `companions.branches` says what for. Both are told by settings of the
transaction.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.db import connection, transaction

MODE, AT = "kith.journal", "kith.at"
EVERYWHERE, ERASING, REPLAYING = "everywhere", "erasing", "replaying"


@contextmanager
def everywhere() -> Iterator[None]:
    """Have what is changed hold on every branch, in one transaction: nothing of these rows is undone any more."""
    with _in_mode(EVERYWHERE):
        yield


@contextmanager
def erasing() -> Iterator[None]:
    """Take words away so that no branch brings them back, in one transaction; what stays follows the branch as before."""
    with _in_mode(ERASING):
        yield


@contextmanager
def replaying() -> Iterator[None]:
    """Change what is there without a word in the journal, in one transaction."""
    with _in_mode(REPLAYING):
        yield


def write_at(mark: UUID) -> None:
    """Have changes count as made after this message until the transaction ends, or for as long as it is made, reply."""
    _set(AT, str(mark))


@contextmanager
def _in_mode(mode: str) -> Iterator[None]:
    """Write in that mode; where it fails, the transaction that is rolled back takes the mode with it."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT coalesce(current_setting(%s, true), '')", [MODE])
            [before] = cursor.fetchone()
        _set(MODE, mode)
        yield
        _set(MODE, before)


def _set(name: str, value: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config(%s, %s, true)", [name, value])
