"""Read many rows in Postgres's binary form: to spell them out as text and parse them is most of the time."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection
from django.db.models import QuerySet
from psycopg import Cursor
from psycopg.pq import Format


def fetch_binary(sql: str, parameters: Sequence[Any] | Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Return the rows of a query. Django's own cursors ask for text alone."""
    connection.ensure_connection()
    binary = Cursor(connection.connection)
    binary.format = Format.BINARY
    make = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
    with make(binary) as cursor:  # type: ignore[arg-type]  # which is said to wrap only what is wrapped already
        cursor.execute(sql, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def fetch_binary_from(queryset: QuerySet[Any, Any], sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """Return the rows of a query over a queryset: {rows} in it, before each %s of the parameters."""
    inner, given = queryset.order_by().query.sql_with_params()
    return fetch_binary(sql.format(rows=f"({inner}) found"), [*given, *parameters])
