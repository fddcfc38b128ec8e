"""How a night's work is put into words."""

from django import template
from django.utils.translation import gettext as _

from companions.memories.reasons import as_percent
from memory.models import Change, Pursuit

register = template.Library()


@register.filter
def is_open(change: Change) -> bool:
    """Whether it is a contradiction that can be settled: both memories are there and hold."""
    both = [change.memory, *change.others.all()]
    is_there = change.kind == Change.Kind.CONTRADICTION and not change.settled and len(both) == 2
    return is_there and all(memory.closed_at is None for memory in both)


@register.filter
def stands(change: Change, when: str) -> str:
    """How a goal or an idea stood before ("before"), or what it became ("became")."""
    told = change.before["became"] if when == "became" else change.before
    return _("%(status)s, %(progress)s, excitement %(excitement)d of 10") % {
        "status": Pursuit.Status(told["status"]).label,
        "progress": as_percent(told["progress"] / 100),
        "excitement": told["excitement"],
    }
