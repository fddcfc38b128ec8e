"""Reading many rows at once, as Postgres keeps them: to spell them out and read them again is most of the time."""

from typing import Any

from django.db import connection
from django.db.models import QuerySet
from psycopg import Cursor
from psycopg.pq import Format

from memory.together import Given


def read(sql: str, given: Given) -> list[tuple[Any, ...]]:
    """The rows of a query. Django's own cursors ask for text alone."""
    connection.ensure_connection()
    binary = Cursor(connection.connection)
    binary.format = Format.BINARY
    make = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
    with make(binary) as cursor:  # type: ignore[arg-type]  # which is said to wrap only what is wrapped already
        cursor.execute(sql, given)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def read_from(queryset: QuerySet[Any, Any], sql: str, *given: Any) -> list[tuple[Any, ...]]:
    """The same of a query over a queryset's rows: they stand as {rows} in it, before each %s of what is given."""
    inner, parameters = queryset.order_by().query.sql_with_params()
    return read(sql.format(rows=f"({inner}) found"), [*parameters, *given])
