from typing import Any

from django import template
from django.contrib import admin
from django.db.models import Model
from django.utils.text import capfirst

from safety.descriptions import describe_code

register = template.Library()


@register.filter
def plain(value: Any) -> str:
    """Return a JSON value as text: lists joined by commas, empty values as a dash, floats with four digits."""
    if isinstance(value, list):
        return ", ".join(map(plain, value)) or "–"
    if isinstance(value, float):
        return f"{value:.4g}"
    return "–" if value is None or value == "" else str(value)


@register.filter
def in_words(code: str | None) -> str:
    """Return a code in words, or a dash if it is empty."""
    return describe_code(code) if code else "–"


@register.filter
def entitled(part: Any) -> Any:
    """Return the title of an object: on its own page with its words, elsewhere without; capitalise anything else."""
    if not isinstance(part, Model):
        return capfirst(part)
    call = getattr(admin.site._registry.get(type(part)), "call", str)
    return getattr(part, "page_title", "") or call(part)
