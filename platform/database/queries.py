"""What Django's ORM does not offer: ids by SQL, queries without a timeout, and deletion that is retried.

Also the errors that are raised while the database is unavailable, or when a row is gone.
"""

import errno
import shutil
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar
from uuid import UUID

from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError, IntegrityError, InterfaceError, OperationalError, connection, transaction
from django.db.models import CASCADE, SET_NULL, ManyToOneRel, Model, ProtectedError
from django.utils.translation import gettext_lazy as _
from psycopg.errors import DiskFull, ForeignKeyViolation

DATABASE_UNAVAILABLE = (OperationalError, InterfaceError)
"""The errors that are raised while the database does not answer, and to the victim of a deadlock."""
DISK_FULL = _(
    "The disk of this Kith is full, so nothing new can be saved. What was saved before is safe. Whoever runs this Kith "
    "has to free some space."
)
WAL_SEGMENT_BYTES = 16_000_000  # without room for one more, PostgreSQL ends
MAX_DELETE_ATTEMPTS = 5
T = TypeVar("T")


def is_disk_full(error: BaseException) -> bool:
    """Return whether the system could not write since a disk, or somebody's share of it, is full."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def describe_full_disk(error: BaseException) -> str:
    """Return in a sentence that the disk is full, if that is why a write failed, or "" if it may be anything else.

    Either the system or the database says so, or the database is gone since it had no room for its log. Of that, only
    the disk of Kith's own data folder tells, where the embedded database lies.
    """
    free = WAL_SEGMENT_BYTES
    with suppress(OSError):
        free = shutil.disk_usage(settings.KITH_HOME).free
    is_full = is_disk_full(error) or isinstance(error.__cause__, DiskFull) or free < WAL_SEGMENT_BYTES
    return str(DISK_FULL) if is_full else ""


def is_row_gone(error: BaseException) -> bool:
    """Return whether a row, or one that it refers to, could not be read or written as it was deleted at the same moment.

    For a row that is no longer there, `save` raises a DatabaseError of Django's own, without a cause, and
    `refresh_from_db` DoesNotExist. A related row that was never there is an AttributeError as well.
    """
    is_own = type(error) is DatabaseError and error.__cause__ is None
    is_unread = isinstance(error, ObjectDoesNotExist) and not isinstance(error, AttributeError)
    return is_own or is_unread or isinstance(error.__cause__, ForeignKeyViolation)


def forbid_insert(row: Model, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a model's `save`, such that it raises DatabaseError if a loaded row is gone.

    Django would insert the row again, without what was deleted with it.
    """
    return kwargs if row._state.adding else {"force_update": True, **kwargs}


def fetch_ids(sql: str, parameters: dict[str, Any]) -> list[UUID]:
    """Run SQL that gives rows of one id each, and return the ids."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return [id for (id,) in cursor.fetchall()]


def lift_statement_timeout() -> None:
    """Let the queries of the current transaction take as long as they need, e.g. for deletion."""
    if not connection.in_atomic_block:
        raise RuntimeError("Only within a transaction: the connection is another's afterwards.")
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")


def delete_owned(model: type[Model], owner: str, id: UUID) -> None:
    """Delete the model's rows whose foreign key `owner` is `id`, and what refers to them, without loading any of them.

    Django would load all ids and send them again with every query for rows that refer to them: of 30,000 messages, more
    than a million ids. The rows' own deletion sends no signals. Rows must not refer to rows of another owner.
    """
    rows = model._base_manager.filter(**{owner: id})
    for relation in model._meta.get_fields(include_hidden=True):
        if not isinstance(relation, ManyToOneRel) or relation.related_model is model:
            continue
        referring = relation.related_model._base_manager.filter(**{f"{relation.field.name}__in": rows})
        if relation.on_delete is CASCADE:
            referring.delete()
        elif relation.on_delete is SET_NULL:
            referring.update(**{relation.field.name: None})
    with connection.cursor() as cursor:
        # The names are those of our own models.
        cursor.execute(f'DELETE FROM "{model._meta.db_table}" WHERE "{owner}_id" = %s', [id])  # noqa: S608


def delete_whole(delete: Callable[[], T]) -> T:
    """Call `delete` in a transaction, and again if by then other rows refer to those deleted; return its result.

    Foreign keys are deferred, so a row that another transaction saved meanwhile would fail the commit. Checking them
    before the commit finds it while a retry is possible, at most MAX_DELETE_ATTEMPTS in all.
    """
    attempts = 0
    while True:
        attempts += 1
        try:
            with transaction.atomic():
                deleted = delete()
                connection.check_constraints()
                return deleted
        except ProtectedError:  # an IntegrityError, too, but one that every attempt would raise
            raise
        except IntegrityError:
            if attempts == MAX_DELETE_ATTEMPTS:
                raise
