from typing import Any

from django import template
from django.contrib import admin
from django.db.models import Model
from django.utils.text import capfirst

from safety.descriptions import describe_code

register = template.Library()


@register.filter
def plain(value: Any) -> str:
    """A value out of JSON as a person writes it: a list by commas, nothing as a dash, numbers to four digits."""
    if isinstance(value, list):
        return ", ".join(map(plain, value)) or "–"
    if isinstance(value, float):
        return f"{value:.4g}"
    return "–" if value is None or value == "" else str(value)


@register.filter
def in_words(code: str | None) -> str:
    """A code out of JSON in words; nothing as a dash."""
    return describe_code(code) if code else "–"


@register.filter
def entitled(part: Any) -> Any:
    """What a thing's own page is called, and without words on others; whatever else stands in a title, with a capital."""
    if not isinstance(part, Model):
        return capfirst(part)
    call = getattr(admin.site._registry.get(type(part)), "call", str)
    return getattr(part, "page_title", "") or call(part)
