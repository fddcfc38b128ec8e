"""Queries that Django does not make: in Postgres's binary form, for as long as they need, until nothing refers.

And what is raised where none can be made.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from django.db import IntegrityError, InterfaceError, OperationalError, connection, transaction
from django.db.models import ProtectedError, QuerySet
from psycopg import Cursor
from psycopg.pq import Format

DATABASE_UNAVAILABLE = (OperationalError, InterfaceError)
"""What is raised while the database does not answer, and where it chose one of two that wait for each other."""
MAX_DELETE_ATTEMPTS = 5
T = TypeVar("T")


def fetch_binary_from(queryset: QuerySet[Any, Any], sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """Return the rows of a query over a queryset: {rows} in it, before each %s of the parameters.

    Django's own cursors ask for text alone: to spell many vectors out and parse them is most of the time.
    """
    inner, given = queryset.order_by().query.sql_with_params()
    connection.ensure_connection()
    binary = Cursor(connection.connection)
    binary.format = Format.BINARY
    make = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
    with make(binary) as cursor:  # type: ignore[arg-type]  # which is said to wrap only what is wrapped already
        cursor.execute(sql.format(rows=f"({inner}) found"), [*given, *parameters])
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def lift_statement_timeout() -> None:
    """Let the queries of the transaction under way take as long as they need, as deletion must."""
    if not connection.in_atomic_block:
        raise RuntimeError("Only within a transaction: the connection is another's afterwards.")
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")


def delete_whole(delete: Callable[[], T]) -> T:
    """Return what `delete` returns, which runs in a transaction; run it again where its rows are referred to by then.

    Foreign keys are checked at the commit, and what another saved after the rows were collected would refer to what is
    gone. Checked before, it is found while that can be mended.
    """
    attempts = 0
    while True:
        attempts += 1
        try:
            with transaction.atomic():
                deleted = delete()
                connection.check_constraints()
                return deleted
        except ProtectedError:  # an IntegrityError as well, and the same at each attempt
            raise
        except IntegrityError:
            if attempts == MAX_DELETE_ATTEMPTS:
                raise
