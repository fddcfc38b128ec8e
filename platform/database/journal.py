"""Context managers that tell the journal of a companion's mind how to record changes, and the manager of awake rows.

The journal, which `companions.branches` explains, is written by database triggers. These read what the context
managers here set: settings of the transaction.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar
from uuid import UUID

from django.db import connection, models, transaction

Row = TypeVar("Row", bound=models.Model)
MODE, AT = "kith.journal", "kith.at"
# MATERIALIZED has the former value read before the new one is set.
SET = """
WITH former AS MATERIALIZED (SELECT coalesce(current_setting(%(name)s, true), '') AS value)
SELECT value, set_config(%(name)s, %(value)s, true) FROM former
"""
EVERYWHERE, ERASING, REPLAYING = "everywhere", "erasing", "replaying"


@contextmanager
def everywhere() -> Iterator[None]:
    """Make the block's changes hold on every branch, in one transaction.

    All earlier entries of the changed rows are deleted from the journal, so that none is undone. Later changes outside
    of such a block are journaled again.
    """
    with _setting(MODE, EVERYWHERE):
        yield


@contextmanager
def erasing() -> Iterator[None]:
    """Keep what the block deletes or overwrites from coming back on any branch, in one transaction.

    The other columns of the changed rows follow the branches as before.
    """
    with _setting(MODE, ERASING):
        yield


@contextmanager
def replaying() -> Iterator[None]:
    """Keep the block's changes out of the journal, in one transaction."""
    with _setting(MODE, REPLAYING):
        yield


@contextmanager
def made_after(mark: UUID | None) -> Iterator[None]:
    """Journal the block's changes with this mark, e.g. as made after the message with this id, in one transaction.

    None stands for where the talk is now: the reply or waking under way, otherwise the end of the chosen branch.
    """
    with _setting(AT, str(mark or "")):
        yield


@contextmanager
def _setting(name: str, value: str) -> Iterator[None]:
    """Change a setting within the block, in one transaction. If the block fails, the rollback restores the setting."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(SET, {"name": name, "value": value})
            former, _now = cursor.fetchone()
        yield
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config(%s, %s, true)", [name, former])


class AwakeManager(models.Manager[Row]):
    """Leaves out rows that are asleep, i.e. that belong only to branches that are not chosen."""

    def get_queryset(self) -> models.QuerySet[Row]:
        return super().get_queryset().filter(is_asleep=False)
