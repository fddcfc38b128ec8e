"""The ways to the places of a companion, for the header of its pages."""

from typing import Any

from django import template

from companions.pages import rooms

register = template.Library()


def _get_page(context: dict[str, Any]) -> str:
    """Return the name of the URL that was asked for."""
    match = context["request"].resolver_match
    return (match and match.url_name) or ""


@register.simple_tag(takes_context=True)
def places(context: dict[str, Any]) -> list[rooms.Way]:
    return rooms.list_places(_get_page(context), context["companion"].name)


@register.simple_tag(takes_context=True)
def tabs(context: dict[str, Any]) -> list[rooms.Way]:
    return rooms.list_tabs(_get_page(context), context["companion"].name)
