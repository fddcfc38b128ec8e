"""What Django's ORM does not offer: queries without a timeout, and deletion that is retried.

Also the errors that are raised while the database is unavailable.
"""

from collections.abc import Callable
from typing import TypeVar

from django.db import IntegrityError, InterfaceError, OperationalError, connection, transaction
from django.db.models import ProtectedError

DATABASE_UNAVAILABLE = (OperationalError, InterfaceError)
"""The errors that are raised while the database does not answer, and to the victim of a deadlock."""
MAX_DELETE_ATTEMPTS = 5
T = TypeVar("T")


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
