"""Writing the rows that every turn waits for: in one trip, by statements that are put together once for each model.

Of the time in which Django's own `create` and `bulk_create` write a row or ten, most goes into composing the statement.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import Any, NamedTuple

from django.db import connection, connections
from django.db.models import AutoField, Model

from memory.together import Asked, together

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
    together(*inserting(*rows, conflicts=conflicts))


def inserting(*rows: Model, conflicts: Mapping[type[Model], str] = NOTHING) -> list[Asked[None]]:
    """The same, to be asked together with others."""
    written = groupby(rows, type)
    return [_inserting(model, list(some), conflicts.get(model, "")) for model, some in written]


def _inserting(model: type[Model], rows: Sequence[Model], conflict: str) -> Asked[None]:
    form = _form(model)
    sql = f"{form.begins} {', '.join([form.row] * len(rows))} {conflict}{' RETURNING id' if form.makes_key else ''}"
    database = connections[connection.alias]  # the proxy looks for it anew at each attribute
    values = [
        field.get_db_prep_save(field.pre_save(row, add=True), database)
        for row in rows
        for field in form.fields
    ]
    return Asked(sql, values, lambda keys: _is_kept(rows, keys if form.makes_key else None))


@cache
def _form(model: type[Model]) -> Form:
    fields = [one for one in model._meta.local_concrete_fields if not isinstance(one, AutoField)]
    quoted = connection.ops.quote_name
    names = ", ".join(quoted(str(one.column)) for one in fields)
    row = ", ".join(f"%s::{one.db_type(connection)}" for one in fields)
    begins = f"INSERT INTO {quoted(model._meta.db_table)} ({names}) VALUES"
    return Form(begins, f"({row})", fields, len(fields) < len(model._meta.local_concrete_fields))


def _is_kept(rows: Sequence[Model], keys: Sequence[tuple[Any, ...]] | None) -> None:
    """Let the rows know that they are in the database, and where."""
    for n, row in enumerate(rows):
        if keys is not None:
            row.pk = keys[n][0]
        row._state.adding, row._state.db = False, connection.alias
