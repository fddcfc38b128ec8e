"""How the diary puts times into words."""

from django import template
from django.utils import timezone

from companions.templatetags.talk import clock, moment
from memory.models import DiaryEntry

register = template.Library()


@register.filter
def span(entry: DiaryEntry) -> str:
    """From when until when, where the reader lives; the day once where it is the same."""
    began, ended = timezone.localtime(entry.started_at), timezone.localtime(entry.ended_at)
    if began.date() != ended.date():
        return f"{moment(began)} – {moment(ended)}"
    same_minute = clock(began) == clock(ended)
    return moment(began) if same_minute else f"{moment(began)}–{clock(ended)}"
