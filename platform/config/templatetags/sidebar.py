"""The template filter by which the admin's header calls a table what its sidebar calls it."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.urls import resolve

register = template.Library()


@register.filter
def sidebar_title(part: Mapping[str, Any]) -> Any:
    """Return the sidebar's name of the table that a part of the header's path links to; else the part's own title."""
    # It needs the theme, whose forms load all template libraries.
    from config.admin.sidebar import list_rooms

    link = (resolve(str(part["link"])).url_name or "") if part.get("link") else ""
    if not link.endswith("_changelist"):
        return part["title"]
    tables = {label.lower(): name for room in list_rooms().values() for label, (name, _icon) in room.items()}
    return tables.get(link.removesuffix("_changelist").replace("_", ".", 1), part["title"])
