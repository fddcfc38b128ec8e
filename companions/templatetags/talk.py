"""Filters that render messages, memories, times and replies' problems on a page."""

from datetime import date, datetime, timedelta
from operator import attrgetter
from typing import Any
from uuid import UUID

from django import template
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from companions.conversations.markdown import as_html, as_linked_html, as_plain, read_plainly
from companions.events import describe_failure
from companions.lore.explanation import explain
from companions.memories.forget_items import show_items
from companions.memories.forget_proposals import load_items
from companions.memories.reasons import (
    Named,
    describe_bearing,
    describe_reasons,
    format_percent,
    list_factors,
    list_parts,
)
from companions.minds.change import ModelState, describe_state
from companions.models import Companion, ForgetProposal, Message, Reply
from companions.sessions.ending import describe_error
from memory.emotion import depth
from memory.models import DiaryEntry, Memory, Recall, Recalled
from memory.recall.recall import Found
from providers.errors import LimitReached, ModelMissing, ProviderBusy, ProviderRefused, ProviderUnavailable
from text.strings import one_line, shorten

register = template.Library()
register.filter("markdown", as_html)
register.filter("linked", as_linked_html)
register.filter("explained", explain)
register.filter("problem", describe_failure)
register.filter("background_problem", describe_error)

HUE_STEP, FIRST_HUE = 30, 10
PRESET_HUES = tuple(range(FIRST_HUE, 360, HUE_STEP))  # static/css/tokens.css holds their colours
BRIEF_CHARACTERS = 160
# The error codes of a failed reply after which another model may answer.
UNANSWERED = {
    error.code for error in (ModelMissing, ProviderUnavailable, ProviderBusy, LimitReached, ProviderRefused)
}


def find_nearest_preset(hue: int) -> int:
    """Return the preset hue nearest to a hue on the colour circle, both in degrees."""
    return PRESET_HUES[round((hue - FIRST_HUE) / HUE_STEP) % len(PRESET_HUES)]


@register.filter
def plain_words(said: Message | str) -> str:
    """Return the text of a message or of a memory without Markdown's signs."""
    return read_plainly(said) if isinstance(said, Message) else as_plain(said)


@register.filter
def in_brief(message: Message) -> str:
    """Return the beginning of a message, in one line and without Markdown's signs."""
    return shorten(one_line(plain_words(message)[: 2 * BRIEF_CHARACTERS]), BRIEF_CHARACTERS)


@register.filter
def tint(hue: int) -> str:
    """Return the CSS classes that give a companion's colour to an element and all within."""
    return f"tinted tint-{find_nearest_preset(hue)}"


def _read_day(day: date | datetime) -> date:
    """Return the day, or that of a time in the reader's zone."""
    return timezone.localtime(day).date() if isinstance(day, datetime) else day


@register.filter
def day_label(day: date | datetime) -> str:
    """Return "Today", "Yesterday" or the date, in the reader's language and zone, with the year unless it is this one."""
    day, today = _read_day(day), timezone.localdate()
    if day == today:
        return _("Today")
    if day == today - timedelta(days=1):
        return _("Yesterday")
    # Translators: a day of this year and one of another, in Django's date format.
    form = pgettext("this year", "j F") if day.year == today.year else pgettext("another year", "j F Y")
    return date_format(day, form)


@register.filter
def day_within(day: date | datetime) -> str:
    """Return the day as `day_label` does, but for use within a sentence: "today", "yesterday" or the date."""
    day, today = _read_day(day), timezone.localdate()
    if day == today:
        return pgettext("within a sentence", "today")
    if day == today - timedelta(days=1):
        return pgettext("within a sentence", "yesterday")
    return day_label(day)


@register.filter
def percent(share: float | None) -> str:
    """Return a share from 0 to 1 in whole per cent; "" for None."""
    return "" if share is None else format_percent(share)


@register.filter
def sureness(confidence: float) -> str:
    """Return in words how sure a companion is of what it learnt; `confidence` is 0 to 1."""
    if confidence >= 0.8:
        return _("sure of it")
    return _("fairly sure") if confidence >= 0.5 else _("not sure")


@register.filter
def because(found: Recalled) -> str:
    """Return what in the message brought a memory to mind; "" for a memory that the companion looked up with a tool."""
    is_of_turn = found.recall.by == Recall.By.TURN
    return describe_bearing(found.reasons or {}, found.memory.text) if is_of_turn else ""


@register.filter
def said_in(memory: Memory) -> UUID | None:
    """Return the id of the message that a memory repeats, else of the newest of its sources, or None."""
    if memory.message_id:
        return memory.message_id
    newest = max(memory.sources.all(), key=attrgetter("said_at", "pk"), default=None)
    return newest.pk if newest else None


@register.filter
def why(found: Found | Recalled) -> str:
    """Return in plain words why a memory was recalled; "" if no reasons were kept."""
    return describe_reasons(found.reasons or {}, found.memory.text)


@register.filter
def parts(found: Found | Recalled) -> list[Named]:
    """Return the named terms whose sum is the score of a recalled memory."""
    return list_parts(found.reasons or {})


@register.filter
def factors(found: Found | Recalled) -> list[Named]:
    """Return the named factors by which the score of a recalled memory is multiplied."""
    return list_factors(found.reasons or {})


@register.filter
def depth_name(memory: Memory) -> str:
    """Return the name of a memory's depth, by how often it came to mind."""
    return str(depth(memory.times_recalled).label)


@register.filter
def shown_proposal(proposal: ForgetProposal) -> dict[str, Any]:
    """Return the context of a proposal to forget: the things to choose from, and what would be deleted with them."""
    return {"pk": proposal.pk, **show_items(load_items(proposal))}


@register.filter
def is_unanswered(reply: Reply) -> bool:
    """Return whether the reply failed because of its model, so that another model could answer instead.

    A reply that already has text is not, unless its model is missing: the failed model can go on from it.
    """
    has_text = bool(reply.text) and reply.code != ModelMissing.code
    return reply.state == Reply.State.FAILED and reply.code in UNANSWERED and not has_text


@register.filter
def model_state(companion: Companion) -> ModelState:
    """Return the state of the companion's model: whether it is available, and which others could answer instead."""
    return describe_state(companion, timezone.now())


@register.filter
def when(at: datetime) -> str:
    """Return the time if it is one of today, or the date of any other day, in the reader's zone."""
    return clock(at) if timezone.localdate(at) == timezone.localdate() else day_label(at)


@register.filter
def clock(at: datetime) -> str:
    """Return hours and minutes in the reader's zone."""
    return date_format(timezone.localtime(at), "H:i")


@register.filter
def whole_day(day: date | datetime) -> str:
    """Return a day with its year, in the reader's language and zone."""
    return date_format(_read_day(day), pgettext("another year", "j F Y"))


@register.filter
def moment(at: datetime) -> str:
    """Return date and time in the reader's language and zone."""
    return date_format(timezone.localtime(at), pgettext("date and time", "j F Y, H:i"))


@register.filter
def span(entry: DiaryEntry) -> str:
    """Return the time span of a diary entry in the reader's zone, with the day only once if both ends have the same."""
    began, ended = timezone.localtime(entry.started_at), timezone.localtime(entry.ended_at)
    if began.date() != ended.date():
        return f"{moment(began)} – {moment(ended)}"
    same_minute = clock(began) == clock(ended)
    return moment(began) if same_minute else f"{moment(began)}–{clock(ended)}"


@register.filter
def hue_name(hue: int | str) -> str:
    """Return the name of the preset colour nearest to a hue."""
    names = [
        _("rose"), _("ember"), _("amber"), _("olive"), _("leaf"), _("jade"),
        _("teal"), _("sky"), _("blue"), _("violet"), _("plum"), _("berry"),
    ]  # fmt: skip
    return names[PRESET_HUES.index(find_nearest_preset(int(hue)))]


@register.filter
def grouped(number: int) -> str:
    """Return a number with commas between its thousands."""
    return f"{number:,}"
