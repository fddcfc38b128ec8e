"""How times, memories and what was said are put into words and classes on a page."""

from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from django import template
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from companions.conversations.markdown import as_html, as_linked_html, as_plain, read_plainly
from companions.events import describe_failure
from companions.lore.explanation import Explanation, explain
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
from memory.emotion import depth
from memory.models import DiaryEntry, Memory, Recall, Recalled
from memory.recall.recall import Found
from providers.errors import LimitReached, ModelMissing, ProviderBusy, ProviderRefused, ProviderUnavailable
from text.strings import one_line, shorten

register = template.Library()

HUE_STEP, FIRST_HUE = 30, 10
PRESET_HUES = tuple(range(FIRST_HUE, 360, HUE_STEP))  # static/css/tokens.css holds their colours
BRIEF_CHARACTERS = 160
# The failures at which another model may answer.
UNANSWERED = {
    error.code for error in (ModelMissing, ProviderUnavailable, ProviderBusy, LimitReached, ProviderRefused)
}


def find_nearest_preset(hue: int) -> int:
    """Return the preset next to a hue in degrees, round the circle."""
    return PRESET_HUES[round((hue - FIRST_HUE) / HUE_STEP) % len(PRESET_HUES)]


@register.filter
def markdown(text: str) -> SafeString:
    return as_html(text)


@register.filter
def linked(text: str) -> SafeString:
    return as_linked_html(text)


@register.filter
def plain_words(said: Message | str) -> str:
    """A message, or a memory's text, without Markdown's signs."""
    return read_plainly(said) if isinstance(said, Message) else as_plain(said)


@register.filter
def in_brief(message: Message) -> str:
    """The beginning of what was said, in one line and without Markdown's signs."""
    return shorten(one_line(plain_words(message)[: 2 * BRIEF_CHARACTERS]), BRIEF_CHARACTERS)


@register.filter
def tint(hue: int) -> str:
    """The classes that give a companion's colour to all within."""
    return f"tinted tint-{find_nearest_preset(hue)}"


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
    return "" if share is None else format_percent(share)


@register.filter
def sureness(confidence: float) -> str:
    """Return how sure a companion is of what it learnt, a share from 0 to 1, in words."""
    if confidence >= 0.8:
        return _("sure of it")
    return _("fairly sure") if confidence >= 0.5 else _("not sure")


@register.filter
def because(found: Recalled) -> str:
    """What of the message brought it to mind; nothing of what the companion looked up by itself."""
    is_of_turn = found.recall.by == Recall.By.TURN
    return describe_bearing(found.reasons or {}, found.memory.text) if is_of_turn else ""


@register.filter
def explained(lore: dict[str, Any]) -> Explanation:
    """Return in words which lore came into a reply's prompt, or was called and left out, and why."""
    return explain(lore)


@register.filter
def said_in(memory: Memory) -> UUID | None:
    """The message that it repeats, or the newest that it was learnt from; None where there is none."""
    if memory.message_id:
        return memory.message_id
    sources = list(memory.sources.all())
    return sources[-1].pk if sources else None


@register.filter
def why(found: Found | Recalled) -> str:
    """The reasons of a recall in plain words; nothing where there are none."""
    return describe_reasons(found.reasons or {}, found.memory.text)


@register.filter
def parts(found: Found | Recalled) -> list[Named]:
    """What the fit of a recalled memory is the sum of, by name."""
    return list_parts(found.reasons or {})


@register.filter
def factors(found: Found | Recalled) -> list[Named]:
    """What its fit is multiplied by, by name."""
    return list_factors(found.reasons or {})


@register.filter
def depth_name(memory: Memory) -> str:
    """How deep the memory sits, by how often it came to mind."""
    return str(depth(memory.times_recalled).label)


@register.filter
def shown_proposal(proposal: ForgetProposal) -> dict[str, Any]:
    """A proposal to forget with what can be chosen of what would go by it, and what goes along with that."""
    return {"pk": proposal.pk, **show_items(load_items(proposal))}


@register.filter
def problem(code: str) -> str:
    """What happened to a reply that failed, and what to do."""
    return describe_failure(code)


@register.filter
def is_unanswered(reply: Reply) -> bool:
    """Whether another model could answer in place of the one that failed."""
    has_text = bool(reply.text) and reply.code != ModelMissing.code  # there is something to go on from
    return reply.state == Reply.State.FAILED and reply.code in UNANSWERED and not has_text


@register.filter
def model_state(companion: Companion) -> ModelState:
    """How things stand with the companion's model: whether it is there, and which other the operator has chosen."""
    return describe_state(companion, timezone.now())


@register.filter
def when(moment: datetime, today: date) -> str:
    """The time of today, the date of any other day."""
    local = timezone.localtime(moment)
    return clock(moment) if local.date() == today else day_label(local.date(), today)


@register.filter
def clock(moment: datetime) -> str:
    """Hours and minutes where the reader lives."""
    return date_format(timezone.localtime(moment), "H:i")


@register.filter
def whole_day(day: date | datetime) -> str:
    """A day with its year, in the reader's language and where they live."""
    if isinstance(day, datetime):
        day = timezone.localtime(day).date()
    return date_format(day, pgettext("another year", "j F Y"))


@register.filter
def moment(at: datetime) -> str:
    """Date and time where the reader lives."""
    return date_format(timezone.localtime(at), pgettext("date and time", "j F Y, H:i"))


@register.filter
def span(entry: DiaryEntry) -> str:
    """From when until when, where the reader lives; the day once where it is the same."""
    began, ended = timezone.localtime(entry.started_at), timezone.localtime(entry.ended_at)
    if began.date() != ended.date():
        return f"{moment(began)} – {moment(ended)}"
    same_minute = clock(began) == clock(ended)
    return moment(began) if same_minute else f"{moment(began)}–{clock(ended)}"


@register.filter
def hue_name(hue: int | str) -> str:
    """What people call the preset of that hue."""
    names = [
        _("rose"), _("ember"), _("amber"), _("olive"), _("leaf"), _("jade"),
        _("teal"), _("sky"), _("blue"), _("violet"), _("plum"), _("berry"),
    ]  # fmt: skip
    return names[PRESET_HUES.index(find_nearest_preset(int(hue)))]


@register.filter
def grouped(number: int) -> str:
    """A number with its thousands apart."""
    return f"{number:,}"
