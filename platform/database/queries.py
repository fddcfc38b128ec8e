"""What Django's ORM does not offer: ids by SQL, queries without a timeout, and deletion that is retried.

Also the errors that are raised while the database is unavailable, or when a row is gone.
"""

from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID

from django.db import (
    DatabaseError,
    IntegrityError,
    InterfaceError,
    OperationalError,
    connection,
    transaction,
)
from django.db.models import Model, ProtectedError
from psycopg.errors import ForeignKeyViolation

DATABASE_UNAVAILABLE = (OperationalError, InterfaceError)
"""The errors that are raised while the database does not answer, and to the victim of a deadlock."""
MAX_DELETE_ATTEMPTS = 5
T = TypeVar("T")


def is_row_gone(error: BaseException) -> bool:
    """Return whether a write failed because its row, or one that it refers to, was deleted at the same moment.

    For a row that is no longer there, `save` raises a DatabaseError of Django's own, without a cause.
    """
    is_own = type(error) is DatabaseError and error.__cause__ is None
    return is_own or isinstance(error.__cause__, ForeignKeyViolation)


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
