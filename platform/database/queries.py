"""Queries that Django's own cursors do not make: in Postgres's binary form, or for as long as they need."""

from typing import Any

from django.db import connection
from django.db.models import QuerySet
from psycopg import Cursor
from psycopg.pq import Format


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
