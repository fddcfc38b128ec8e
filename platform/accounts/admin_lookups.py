"""What an address of the admin may ask of a list: `?kind__exact=said` and its like, and nothing that tells words."""

from typing import Any

from django.db import models
from django.db.models import Model
from django.http import HttpRequest

PLAIN = (
    models.BooleanField,
    models.DateField,
    models.DecimalField,
    models.DurationField,
    models.FloatField,
    models.IntegerField,
    models.TimeField,
    models.UUIDField,
)
SAME = {"exact", "in", "isnull", "isempty"}
COMPARED = SAME | {"gt", "gte", "lt", "lte", "date", "year", "month", "day"}


def may_ask(model: type[Model], lookup: str, filters: set[str]) -> bool:
    """Whether the look-up asks a plain field of the model's own how it compares, or for exactly one value of a filter's.

    `filters` are the fields by which the list is filtered. Free text, JSON, bytes, lists and vectors of any other field,
    and whatever lies behind a relation but its id, cannot be asked.
    """
    name, *rest = lookup.split("__")
    field = next((one for one in model._meta.concrete_fields if name in (one.name, one.attname)), None)
    if field is None:
        return False
    if isinstance(field, models.ForeignKey):
        rest = rest[1:] if rest[:1] in (["id"], ["pk"], [field.target_field.name]) else rest
        return set(rest) <= SAME
    if isinstance(field, PLAIN) or getattr(field, "choices", None):
        return set(rest) <= COMPARED
    return name in filters and set(rest) <= SAME


class PlainLookups:
    """Lets addresses ask a model's admin for nothing but what `may_ask` says."""

    def lookup_allowed(self: Any, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        """Whether the address may ask this."""
        filters = {one[0] if isinstance(one, (tuple, list)) else one for one in self.list_filter}
        return may_ask(self.model, lookup, filters)
