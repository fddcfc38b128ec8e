"""Several statements in one trip to Postgres: of what a short one takes, most is the way there and back."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from django.db import connection

Parameters = Sequence[Any] | Mapping[str, Any]
Rows = list[tuple[Any, ...]]
Result = TypeVar("Result")


class Statement(NamedTuple, Generic[Result]):
    """One statement with its parameters; `read` makes the result of the rows that it returns."""

    sql: str
    parameters: Parameters
    read: Callable[[Rows], Result]


def execute_batch(*statements: Statement[Any]) -> list[Any]:
    """Execute the statements in this order, in one query, and return the result of each.

    Each sees what was committed while one before it waited. Outside of a transaction they are one of their own, which is
    over before any rows are read: whoever raises while reading calls this in a transaction.
    """
    if not statements:
        return []
    with connection.cursor() as cursor:
        with connection.wrap_database_errors:
            complete = [cursor.mogrify(statement.sql, statement.parameters) for statement in statements]
        cursor.execute("; ".join(complete))
        results = []
        for _ in statements:
            results.append(cursor.fetchall() if cursor.description is not None else [])
            cursor.nextset()
    return [statement.read(rows) for statement, rows in zip(statements, results, strict=True)]


def execute(statement: Statement[Result]) -> Result:
    """Execute one statement and return its result."""
    [result] = execute_batch(statement)
    return result  # type: ignore[no-any-return]
