"""The life log: what a companion did by itself, and why, in plain sentences for its person."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companions.life import timers
from companions.life.drive import named
from companions.models import Companion, InnerState, Message, Waking

REFLECTED = (InnerState.By.REFLECTION, InnerState.By.CLOSING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing that a companion did: when, why, what came of it, what it thought, what it said, which tools it used.

    `code` is the reason in a word, where there is one.
    """

    id: UUID
    kind: str
    at: datetime
    why: str
    what: str
    state: str
    outcome: str = ""
    code: str = ""
    note: str = ""
    is_asked_for: bool = False
    missed: int = 0
    thought: str = ""
    message_id: UUID | None = None
    tools: tuple[dict[str, Any], ...] = ()


def wakings(companion: Companion) -> QuerySet[Waking]:
    """Its wakings with what their entries need."""
    mine = Waking.objects.filter(companion=companion).select_related("timer", "message")
    return mine.defer("prompt", "shown", "text")


def reflections(companion: Companion) -> QuerySet[InnerState]:
    """What it came to feel by thinking about a talk."""
    return InnerState.objects.filter(companion=companion, by__in=REFLECTED)


def entry(companion: Companion, one: Waking | InnerState) -> Entry:
    """The entry, in the person's language."""
    with translation.override(companion.user.language or "en"):
        return _of_waking(companion, one) if isinstance(one, Waking) else _of_reflection(one)


def _of_waking(companion: Companion, one: Waking) -> Entry:
    message: Message | None = getattr(one, "message", None)
    return Entry(
        id=one.pk,
        kind="waking",
        at=one.due_at,
        why=_why(companion, one),
        what=_what(one),
        state=one.state,
        outcome=one.outcome,
        code=one.reason,
        note=one.note,
        is_asked_for=one.is_asked_for,
        missed=one.missed,
        thought=one.thought,
        message_id=message.pk if message else None,
        tools=tuple({"name": step["name"], "is_error": "error" in step["result"]} for step in one.steps),
    )


def _of_reflection(one: InnerState) -> Entry:
    by_reflection = one.by == InnerState.By.REFLECTION
    return Entry(
        id=one.pk,
        kind="reflection",
        at=one.made_at,
        why=_("You two had talked for a while.") if by_reflection else _("A talk had come to its end."),
        what=_("It saw anew how it feels."),
        state=Waking.State.DONE,
        thought=one.text,
    )


def _why(companion: Companion, one: Waking) -> str:
    told = _woken_by(companion, one)
    if not one.missed:
        return told
    missed = ngettext(
        "One time before it was missed.", "%(count)d times before it were missed.", one.missed
    ) % {"count": one.missed}
    return f"{told} {missed}"


def _woken_by(companion: Companion, one: Waking) -> str:
    if one.origin == Waking.Origin.DRIVE:
        return _("Something of its own made it wake: %(drive)s.") % {"drive": named(one.drive)}
    if one.timer is None:
        return _("A timer made it wake, which is gone now.")
    words = timers.in_words(one.timer, companion.user.zone, companion.user.language)
    if one.origin == Waking.Origin.FORCED:
        return _("A timer was fired by hand: %(schedule)s.") % {"schedule": words}
    return _("A timer made it wake: %(schedule)s.") % {"schedule": words}


def _what(one: Waking) -> str:
    if one.state == Waking.State.WAITING:
        return _("It is not done yet.")
    if one.state == Waking.State.SKIPPED:
        return _skipped(one.reason)
    if one.state == Waking.State.FAILED:
        return _("It could not make up its mind: the model did not answer.")
    if one.outcome == Waking.Outcome.SPOKE:
        return _("It wrote to you.")
    return _held(one.reason) if one.outcome == Waking.Outcome.HELD else _("It chose to stay silent.")


def _skipped(code: str) -> str:
    sentences = {
        "life_off": _("It slept on: you have turned its life between talks off."),
        "asleep": _("It slept on: these are its hours of sleep."),
        "too_late": _("It slept on: that was too long ago."),
        "nothing_new": _("It slept on: you two had not talked since."),
        "too_many_a_day": _("It slept on: it had woken too often that day."),
        "gone": _("It slept on: what it had thought of is gone."),
        "no_tokens": _("It slept on: the tokens of that day were used up."),
    }
    return sentences.get(code) or _("It slept on.")


def _held(code: str) -> str:
    sentences = {
        "not_opted_in": _("It would have written to you, but you have not allowed it to write first."),
        "muted": _("It would have written to you, but it is muted."),
        "goodbye": _("It would have written to you, but you had said goodbye."),
        "quiet_hours": _("It would have written to you, but these were your quiet hours."),
        "enough_today": _("It would have written to you, but it had written enough that day."),
        "unanswered": _("It would have written to you, but you had not answered before."),
    }
    return sentences.get(code) or _(
        "It would have written to you, but its words were held back by the check."
    )
