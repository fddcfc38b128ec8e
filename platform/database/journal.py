"""What the journal of a companion's mind is told: that a change holds on every branch, or what it is made after; and
the manager of those rows that sleep where their branch is not chosen.

The journal is kept by triggers of the database; `companions.branches` says what for. Both are told by settings of the
transaction.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar
from uuid import UUID

from django.db import connection, models, transaction

Row = TypeVar("Row", bound=models.Model)
MODE, AT = "kith.journal", "kith.at"
# The former value is read before the new one is set: the subquery is a fence.
SET = """
WITH former AS MATERIALIZED (SELECT coalesce(current_setting(%(name)s, true), '') AS value)
SELECT value, set_config(%(name)s, %(value)s, true) FROM former
"""
EVERYWHERE, ERASING, REPLAYING = "everywhere", "erasing", "replaying"


@contextmanager
def everywhere() -> Iterator[None]:
    """Have what is changed hold on every branch, in one transaction: nothing of these rows is undone any more."""
    with _setting(MODE, EVERYWHERE):
        yield


@contextmanager
def erasing() -> Iterator[None]:
    """Take words away so that no branch brings them back, in one transaction; what stays follows the branch as before."""
    with _setting(MODE, ERASING):
        yield


@contextmanager
def replaying() -> Iterator[None]:
    """Change what is there without a word in the journal, in one transaction."""
    with _setting(MODE, REPLAYING):
        yield


@contextmanager
def made_after(mark: UUID | None) -> Iterator[None]:
    """Have changes count as made after this message, for None where the talk is; in one transaction."""
    with _setting(AT, str(mark or "")):
        yield


@contextmanager
def _setting(name: str, value: str) -> Iterator[None]:
    """Set it for one transaction; where that fails, what is rolled back takes the setting with it."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(SET, {"name": name, "value": value})
            former, _now = cursor.fetchone()
        yield
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config(%s, %s, true)", [name, former])


class AwakeManager(models.Manager[Row]):
    """Leaves out what is asleep: rows of a conversation's branches that are not chosen."""

    def get_queryset(self) -> models.QuerySet[Row]:
        return super().get_queryset().filter(is_asleep=False)
