"""Columns and filters for operators' lists: links, times and numbers, and codes and JSON in words."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from safety.descriptions import Describe, describe_code, link_to, render_data

MAX_NAME_CHARACTERS = 40


def may_open(request: HttpRequest, model: type[Model]) -> bool:
    """Return whether the operator may see the admin's pages of this model."""
    return admin.site.get_model_admin(model).has_view_permission(request)


def link(field: str, description: Any) -> Callable[[Any, Any], str]:
    """Return a method for an admin class: a column that links to the object of the foreign key `field`, by its name."""

    @admin.display(description=description)
    def shown(self: Any, thing: Any) -> str:
        key = thing._meta.get_field(field)
        name = describe_name(getattr(thing, f"{field}_called", None))
        opens = getattr(thing, f"{field}_opens")
        return link_to(key.related_model._meta.label, getattr(thing, key.attname), name, opens=opens)

    shown.key = field  # type: ignore[attr-defined]
    return shown


def describe_name(name: object) -> str:
    """Return an object's name for display: shortened, a time in the operator's zone, and "" for no name."""
    if isinstance(name, datetime):
        return f"{timezone.localtime(name):%Y-%m-%d %H:%M}"
    return Truncator(str(name)).chars(MAX_NAME_CHARACTERS) if name else ""


def moment(name: str, description: Any) -> Callable[[Any], str]:
    """Return a column for the time in field `name`, in short form and in the operator's zone."""

    @admin.display(description=description, ordering=name)
    def shown(thing: Any) -> str:
        at = getattr(thing, name)
        return f"{timezone.localtime(at):%Y-%m-%d %H:%M}" if at else "–"

    shown.__name__ = name
    return shown


def number(name: str, description: Any) -> Callable[[Any], str]:
    """Return a column for the number in the field or annotation `name`, with separated thousands and a dash for None."""

    @admin.display(description=description, ordering=name)
    def shown(thing: Any) -> str:
        value = getattr(thing, name)
        return "–" if value is None else number_format(value, force_grouping=True)

    shown.__name__ = name
    return shown


def state(colours: Mapping[Any, str]) -> Callable[[Any, Any], tuple[str, str]]:
    """Return a method for an admin class: a column for the field `state`, grey where `colours` does not name a value."""
    # Without a colour, django-unfold would show the stored value instead of its label.
    every = defaultdict(str, colours)

    @display(description=_("state"), ordering="state", label=every)  # type: ignore[untyped-decorator]
    def shown_state(self: Any, thing: Any) -> tuple[str, str]:
        return thing.state, thing.get_state_display()

    return shown_state  # type: ignore[no-any-return]


def marks(thing: Any, claims: dict[str, Any]) -> str:
    """Return the words of those fields that are true; `claims` maps field names to words."""
    return " · ".join(str(word) for name, word in claims.items() if getattr(thing, name)) or "–"


def code_column(name: str, description: Any, describe: Describe = describe_code) -> Callable[[Any], str]:
    """Return a column that shows the code in field `name` in words."""

    @display(description=description, ordering=name)  # type: ignore[untyped-decorator]
    def shown(thing: Any) -> str:
        code = getattr(thing, name)
        return describe(code) if code else "–"

    shown.__name__ = name
    return shown  # type: ignore[no-any-return]


def code_filter(describe: Describe = describe_code, title: Any = "") -> type[admin.AllValuesFieldListFilter]:
    """Return a list filter by a field of codes that shows its choices in words, by default with the field's title."""

    class CodeFilter(admin.AllValuesFieldListFilter):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.title = title or self.title

        def choices(self, changelist: Any) -> Iterator[Any]:
            every, *others = super().choices(changelist)
            yield every
            for choice in others:
                yield {**choice, "display": describe(str(choice["display"]))}

    return CodeFilter


def filled_filter(title: Any) -> type[admin.EmptyFieldListFilter]:
    """Return a list filter, with this title, by whether a field is empty."""

    class FilledFilter(admin.EmptyFieldListFilter):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.title = title

    return FilledFilter


def yes_filter(name: str, title: Any, narrow: Callable[[Any], Any]) -> type[admin.SimpleListFilter]:
    """Return a list filter, with this title and the parameter `name`, whose one choice applies `narrow` to the query."""

    class YesFilter(admin.SimpleListFilter):
        parameter_name = name

        def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
            return [("1", _("Yes"))]

        def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
            return narrow(queryset) if self.value() == "1" else queryset

    YesFilter.title = title
    return YesFilter


def data_column(name: str, description: Any, describe: Describe = str) -> Callable[[Any], SafeString]:
    """Return a column that shows the JSON in field `name` as readable lists, with strings passed through `describe`."""

    @display(description=description)  # type: ignore[untyped-decorator]
    def shown(thing: Any) -> SafeString:
        return render_data(getattr(thing, name), describe)

    shown.__name__ = name
    return shown  # type: ignore[no-any-return]
