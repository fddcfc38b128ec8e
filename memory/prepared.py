"""Queries that every turn waits for, each put together once in a process.

Of the time in which Django fetches ten rows, most goes into composing the statement.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import connection
from django.db.models import Lookup, Model, QuerySet, UUIDField
from django.db.models.query import get_related_populators

from memory.together import Asked, alone

# They stand in a queryset for what is known only when it is asked: an id, some ids, a moment.
ONE, SOME, THEN = UUID(int=1), UUID(int=2), datetime(1, 1, 2, tzinfo=UTC)

StandIns = Mapping[Any, Any]
Row = TypeVar("Row", bound=Model)


@UUIDField.register_lookup
class AnyOf(Lookup):
    """`id__any_of=[...]`, one parameter for them all: the statement is the same for any number."""

    lookup_name = "any_of"
    prepare_rhs = False

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        left, parameters = self.process_lhs(compiler, connection)
        return f"{left} = ANY(%s)", (*parameters, self.rhs)


class Prepared(Generic[Row]):
    """Whole rows, with those that the queryset has related rows selected of; made at the first use.

    What takes the place of a stand-in is given each time.
    """

    def __init__(self, make: Callable[[], QuerySet[Row]]) -> None:
        self._make = make

    def __call__(self, given: StandIns) -> list[Row]:
        """The rows, in the queryset's order; one query."""
        return alone(self.asked(given))

    def asked(self, given: StandIns) -> Asked[list[Row]]:
        """The same, to be asked together with others."""
        sql, parameters, read = self._composed
        return Asked(sql, filled(parameters, given), lambda rows: [read(row) for row in rows])

    @cached_property
    def _composed(self) -> tuple[str, tuple[Any, ...], Callable[[tuple[Any, ...]], Row]]:
        compiler: Any = self._make().query.get_compiler(connection.alias)
        sql, parameters = compiler.as_sql()
        return sql, parameters, _reader(compiler)


def filled(parameters: tuple[Any, ...], given: StandIns) -> list[Any]:
    """The parameters of a statement, with what was given in the places of those that stood for it."""
    return [given.get(one, one) for one in parameters]


def _reader(compiler: Any) -> Callable[[tuple[Any, ...]], Any]:
    """What makes an instance of a row, as ModelIterable does; in any thread, for the compiler asks nothing more."""
    klass, alias = compiler.klass_info, connection.alias
    model, places = klass["model"], klass["select_fields"]
    names = [compiler.select[place][0].target.attname for place in places]
    converters = compiler.get_converters(one[0] for one in compiler.select)
    related = get_related_populators(klass, compiler.select, alias)  # type: ignore[call-arg]  # Django 6 has one more

    def read(row: tuple[Any, ...]) -> Any:
        [values] = compiler.apply_converters([row], converters) if converters else [row]
        made = model.from_db(alias, names, [values[place] for place in places])
        for populator in related:
            populator.populate(values, made)
        return made

    return read
