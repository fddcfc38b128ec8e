"""Writing the rows that every turn waits for: in one trip, by statements that are put together once for each model.

Of the time in which Django's own `create` and `bulk_create` write a row or ten, most goes into composing the statement.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import AutoField, Model

NOTHING: Mapping[type[Model], str] = {}


class Form(NamedTuple):
    """How rows of one model are written: the statement's beginning, what stands for a row, and the fields of it."""

    begins: str
    row: str
    fields: Sequence[Any]
    makes_key: bool


def insert(*rows: Model, conflicts: Mapping[type[Model], str] = NOTHING) -> None:
    """Insert new rows in the order given, which may be of several models; then they have their keys. One query.

    No signal is sent. `conflicts` are clauses, ON CONFLICT and so on, for the statements of some models.
    """
    written = [(model, list(some)) for model, some in groupby(rows, type)]
    statements, values = [], []
    for model, some in written:
        form = _form(model)
        ending = f"{conflicts.get(model, '')}{' RETURNING id' if form.makes_key else ''}"
        statements.append(f"{form.begins} {', '.join([form.row] * len(some))} {ending}")
        values += [_value(field, row) for row in some for field in form.fields]
    with connection.cursor() as cursor:
        cursor.execute("; ".join(statements), values)
        for model, some in written:
            _is_kept(some, cursor.fetchall() if _form(model).makes_key else None)
            cursor.nextset()


@cache
def _form(model: type[Model]) -> Form:
    fields = [one for one in model._meta.local_concrete_fields if not isinstance(one, AutoField)]
    quoted = connection.ops.quote_name
    names = ", ".join(quoted(str(one.column)) for one in fields)
    row = ", ".join(f"%s::{one.db_type(connection)}" for one in fields)
    begins = f"INSERT INTO {quoted(model._meta.db_table)} ({names}) VALUES"
    return Form(begins, f"({row})", fields, len(fields) < len(model._meta.local_concrete_fields))


def _value(field: Any, row: Model) -> Any:
    return field.get_db_prep_save(field.pre_save(row, add=True), connection)


def _is_kept(rows: Sequence[Model], keys: Sequence[tuple[Any, ...]] | None) -> None:
    """Let the rows know that they are in the database, and where."""
    for n, row in enumerate(rows):
        if keys is not None:
            row.pk = keys[n][0]
        row._state.adding, row._state.db = False, connection.alias
