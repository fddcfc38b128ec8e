"""Columns and filters for operators' lists that show codes and JSON in words."""

from collections.abc import Callable, Iterator
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from safety.descriptions import Describe, describe_code, render_data


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
