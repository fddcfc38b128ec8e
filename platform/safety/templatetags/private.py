from typing import Any

from django import template

register = template.Library()


@register.filter
def plain(value: Any) -> str:
    """A value out of JSON as a person writes it: a list by commas, nothing as a dash, numbers to four digits."""
    if isinstance(value, list):
        return ", ".join(map(plain, value)) or "–"
    if isinstance(value, float):
        return f"{value:.4g}"
    return "–" if value is None or value == "" else str(value)
