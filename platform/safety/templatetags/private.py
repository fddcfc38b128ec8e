from typing import Any

from django import template
from django.contrib import admin
from django.db.models import Model
from django.template import Context
from django.utils.text import capfirst

from safety.descriptions import describe_code, link_to

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


@register.simple_tag(takes_context=True)
def link_page(context: Context, thing: Model, text: str) -> str:
    """Return a link to the object's page in the admin, or only the text if the operator may not open it."""
    opens = admin.site.get_model_admin(type(thing)).has_view_permission(context["request"])
    return link_to(thing._meta.label, thing.pk, text, opens=opens)


@register.filter
def entitled(part: Any) -> Any:
    """Return the title of an object: on its own page with its words, elsewhere without; capitalise anything else."""
    if not isinstance(part, Model):
        return capfirst(part)
    call = getattr(admin.site._registry.get(type(part)), "call", str)
    return getattr(part, "page_title", "") or call(part)
