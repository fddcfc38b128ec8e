"""The life log: what a companion did by itself and why, as plain sentences for its person."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from companions.life.eligibility import Reason
from companions.life.timers import timers
from companions.models import Companion, InnerState, Message, Waking

REFLECTED = (InnerState.By.REFLECTION, InnerState.By.CLOSING)
SKIPPED: dict[str, Promise] = {
    Reason.LIFE_OFF: gettext_lazy("It stayed asleep: you have turned off its life between talks."),
    Reason.SLEEP_HOURS: gettext_lazy("It stayed asleep: these were its hours of sleep."),
    Reason.TOO_LATE: gettext_lazy("It stayed asleep: the time for this had long passed."),
    Reason.NOTHING_NEW: gettext_lazy("It stayed asleep: you two had not talked since."),
    Reason.TOO_MANY_A_DAY: gettext_lazy("It stayed asleep: it had already woken too often that day."),
    Reason.GONE: gettext_lazy("It stayed asleep: what it had in mind no longer exists."),
    Reason.NO_TOKENS: gettext_lazy("It stayed asleep: that day's allowance was used up."),
}
REFUSED: dict[str, Promise] = {
    "not_opted_in": gettext_lazy("It would have written to you, but you have not allowed it to write first."),
    "muted": gettext_lazy("It would have written to you, but it was muted."),
    "goodbye": gettext_lazy("It would have written to you, but you had said goodbye."),
    "quiet_hours": gettext_lazy("It would have written to you, but these were your quiet hours."),
    "enough_today": gettext_lazy("It would have written to you, but it had already written enough that day."),
    "unanswered": gettext_lazy(
        "It would have written to you, but you had not answered what it wrote before."
    ),
    "talked_since": gettext_lazy("It would have written to you, but you wrote to it in the meantime."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One waking or reflection of a companion: when, why, its outcome, its thoughts, its message, the tools it used.

    `code` is the waking's machine-readable reason, empty if it has none.
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


def load_wakings(companion: Companion) -> QuerySet[Waking]:
    """Return the companion's wakings with everything that `write_entry` needs."""
    mine = Waking.objects.filter(companion=companion).select_related("timer", "message")
    return mine.defer("prompt", "shown", "text")


def load_reflections(companion: Companion) -> QuerySet[InnerState]:
    """Return the inner states that the companion reached by reflecting on a talk."""
    return InnerState.objects.filter(companion=companion, by__in=REFLECTED)


def write_entry(companion: Companion, row: Waking | InnerState) -> Entry:
    """Return the log entry of a waking or reflection, in the person's language."""
    with companion.user.use_language():
        return _write_waking(companion, row) if isinstance(row, Waking) else _write_reflection(row)


def _write_reflection(state: InnerState) -> Entry:
    by_reflection = state.by == InnerState.By.REFLECTION
    return Entry(
        id=state.pk,
        kind="reflection",
        at=state.made_at,
        why=_("You two had been talking for a while.") if by_reflection else _("A talk had ended."),
        what=_("It took a fresh look at how it feels."),
        state=Waking.State.DONE,
        thought=state.text,
    )


def _write_waking(companion: Companion, waking: Waking) -> Entry:
    message: Message | None = getattr(waking, "message", None)
    return Entry(
        id=waking.pk,
        kind="waking",
        at=waking.due_at,
        why=_explain(companion, waking),
        what=_tell_outcome(waking),
        state=waking.state,
        outcome=waking.outcome,
        code=waking.reason,
        note=waking.note,
        is_asked_for=waking.is_asked_for,
        missed=waking.missed,
        thought=waking.thought,
        message_id=message.pk if message else None,
        tools=tuple({"name": step["name"], "is_error": "error" in step["result"]} for step in waking.steps),
    )


def _explain(companion: Companion, waking: Waking) -> str:
    if waking.origin == Waking.Origin.DRIVE:
        why = _("Something on its mind woke it: %(drive)s.") % {"drive": waking.drive_label}
    elif waking.timer is None:
        why = _("A timer that no longer exists woke it.")
    else:
        by_hand = _("A timer was triggered by hand: %(schedule)s.")
        by_time = _("A timer woke it: %(schedule)s.")
        is_forced = waking.origin == Waking.Origin.FORCED
        words = timers.describe(
            waking.timer, companion.user.zone, companion.user.language, is_past=not is_forced
        )
        why = (by_hand if is_forced else by_time) % {"schedule": words}
    if not waking.missed:
        return why
    missed = ngettext("One earlier time was missed.", "%(count)d earlier times were missed.", waking.missed)
    return _("%(why)s %(missed)s") % {"why": why, "missed": missed % {"count": waking.missed}}


def _tell_outcome(waking: Waking) -> str:
    if waking.state == Waking.State.WAITING:
        return _("It is not done yet.")
    if waking.state == Waking.State.SKIPPED:
        return str(SKIPPED.get(waking.reason) or _("It stayed asleep."))
    if waking.state == Waking.State.FAILED:
        return _("It could not make up its mind: the model did not answer.")
    if waking.outcome == Waking.Outcome.SPOKE:
        return _("It wrote to you.")
    if waking.outcome == Waking.Outcome.REMINDED:
        return _(
            "Kith reminded you in its place: it found no words, or you had not read its reminders for long."
        )
    if waking.outcome == Waking.Outcome.HELD:
        by_check = _("It would have written to you, but its words did not pass the check.")
        return str(REFUSED.get(waking.reason) or by_check)
    return _("It chose to stay silent.")
