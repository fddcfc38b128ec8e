"""Several queries in one trip to Postgres: of what a short one takes, most is the way there and back."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from django.db import connection

Given = Sequence[Any] | Mapping[str, Any]
Rows = list[tuple[Any, ...]]
Made = TypeVar("Made")


class Asked(NamedTuple, Generic[Made]):
    """One statement, what is given for its places, and what is made of the rows that it returns."""

    sql: str
    given: Given
    made: Callable[[Rows], Made]


def together(*asked: Asked[Any]) -> list[Any]:
    """What was made of each. They run in this order, and each sees what was committed while one before it waited.

    One query. Outside of a transaction the statements are one of their own, which is over before anything is made of
    their rows: whoever raises there calls this in a transaction.
    """
    if not asked:
        return []
    with connection.cursor() as cursor:
        with connection.wrap_database_errors:
            statements = [cursor.mogrify(one.sql, one.given) for one in asked]
        cursor.execute("; ".join(statements))
        rows = []
        for _ in asked:
            rows.append(cursor.fetchall() if cursor.description is not None else [])
            cursor.nextset()
    return [one.made(some) for one, some in zip(asked, rows, strict=True)]


def alone(asked: Asked[Made]) -> Made:
    """What was made of that one."""
    [made] = together(asked)
    return made  # type: ignore[no-any-return]


def nothing(rows: Rows) -> None:
    """What is made where no rows are wanted."""
