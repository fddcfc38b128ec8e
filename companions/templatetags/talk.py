"""How the talk is put into words and classes on a page."""

from datetime import date, datetime, timedelta
from typing import Any

import regex
from django import template
from django.utils import timezone
from django.utils.formats import date_format, time_format
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from companions.markdown import as_html
from companions.replies.problems import detail_of
from companions.tints import PRESETS, nearest

register = template.Library()
CHARACTER = regex.compile(r"\X")
WORDS_NAMED = 6
DATE = "@"  # a term that is a date (memory.dates)


@register.filter
def markdown(text: str) -> SafeString:
    return as_html(text)


@register.filter
def tint(hue: int) -> str:
    """The classes that give a companion's colour to all within."""
    return f"tinted tint-{nearest(hue)}"


@register.filter
def initial(name: str) -> str:
    """The first character as a person sees it, with all the signs that it is joined of; `·` for no name."""
    first = CHARACTER.match(name.strip())
    return first[0].upper() if first else "·"


@register.filter
def day_label(day: date | datetime, today: date) -> str:
    """Today, yesterday, or the date in the reader's language, with its year where that is another."""
    if isinstance(day, datetime):
        day = timezone.localtime(day).date()
    if day == today:
        return _("Today")
    if day == today - timedelta(days=1):
        return _("Yesterday")
    # Translators: a day of this year and one of another, in Django's date format.
    form = pgettext("this year", "j F") if day.year == today.year else pgettext("another year", "j F Y")
    return date_format(day, form)


@register.filter
def percent(share: float | None) -> str:
    """A share from 0 to 1 in whole per cent; nothing for None."""
    return "" if share is None else f"{round(max(0.0, min(1.0, share)) * 100)}\u00a0%"


@register.filter
def why(reasons: dict[str, Any]) -> str:
    """The reasons of a recall in plain words."""
    parts = []
    if reasons.get("likeness") is not None:
        parts.append(_("alike in meaning: %(share)s") % {"share": percent(reasons["likeness"])})
    matched = [str(term) for term in reasons.get("matched") or ()]
    if words := [term for term in matched if not term.startswith(DATE)]:
        parts.append(_("words in common: %(words)s") % {"words": _(", ").join(words[:WORDS_NAMED])})
    if len(words) < len(matched):
        parts.append(_("the same date"))
    return _("; ").join(parts)


@register.filter
def problem(code: str) -> str:
    """What happened to a reply that failed, and what to do."""
    return detail_of(code)


@register.filter
def when(moment: datetime, today: date) -> str:
    """The time of today, the date of any other day."""
    local = timezone.localtime(moment)
    return time_format(local, "TIME_FORMAT") if local.date() == today else day_label(local.date(), today)


@register.filter
def hue_name(hue: int | str) -> str:
    """What people call the preset of that hue."""
    names = [
        _("rose"), _("ember"), _("amber"), _("olive"), _("leaf"), _("jade"),
        _("teal"), _("sky"), _("blue"), _("violet"), _("plum"), _("berry"),
    ]  # fmt: skip
    return names[PRESETS.index(nearest(int(hue)))]
