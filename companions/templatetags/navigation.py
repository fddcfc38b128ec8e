"""The links to a companion's pages, for the header."""

from typing import Any

from django import template

from companions.pages import navigation

register = template.Library()


def _get_page(context: dict[str, Any]) -> str:
    """Return the URL name of the requested page, or ""."""
    match = context["request"].resolver_match
    return (match and match.url_name) or ""


@register.simple_tag(takes_context=True)
def places(context: dict[str, Any]) -> list[navigation.Way]:
    return navigation.list_places(_get_page(context), context["companion"].name)


@register.simple_tag(takes_context=True)
def tabs(context: dict[str, Any]) -> list[navigation.Way]:
    return navigation.list_tabs(_get_page(context), context["companion"].name)
