"""A row's content goes with it, however the row goes: once the transaction is committed, and not before."""

from typing import Any

import structlog
from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.signals import post_delete
from django.dispatch import receiver

from files.errors import FilesError
from files.models import StoredFile
from files.storages.private import private

log = structlog.get_logger(__name__)


class Leaving:
    """Contents that go together: a deleted companion may have thousands, and one call can remove many."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def __call__(self) -> None:
        try:
            private().remove(self.keys)
        except FilesError as error:
            log.error("contents stay until they are swept", count=len(self.keys), code=error.code)


@receiver(post_delete, sender=StoredFile)
def leave(instance: StoredFile, using: str, **_more: Any) -> None:
    """Its content goes on commit, with those that were deleted right before it."""
    connection = transaction.get_connection(using)
    leaving = _last(connection) or Leaving()
    leaving.keys.append(instance.key)
    if len(leaving.keys) == 1:
        transaction.on_commit(leaving, using=using, robust=True)


def _last(connection: BaseDatabaseWrapper) -> Leaving | None:
    """What was registered last, where that was in this very savepoint: one rolled back forgets what it registered."""
    if not connection.run_on_commit:
        return None
    savepoints, registered = connection.run_on_commit[-1][:2]
    is_same = savepoints == set(connection.savepoint_ids)
    return registered if is_same and isinstance(registered, Leaving) else None
