"""Kith's own reminder, written without a model, for when the companion has no words for what it was asked for."""

from datetime import datetime

import regex
from django.utils.translation import gettext as _

from companions.life.wakings.context import LATE_AFTER, WakingContext
from companions.models import Message, Timer, Waking
from companions.tools.own_words import find_sentence
from memory.language import pattern_of, words_of
from text.strings import shorten

MAX_ASKING = 3  # the latest messages that are searched for the request
MAX_QUOTED_CHARACTERS = 300
MAX_UNREAD = 7  # messages of one timer in a row; after them no model is asked
WRITTEN_TO_COMPANION = (Timer.By.KITH, Timer.By.OPERATOR)  # the notes of these timers
ENDS = ".!。！ "


def asks_for_reminder(text: str) -> bool:
    """Return whether the person asks in this text to be reminded of something."""
    return bool(pattern_of("asks_for_reminder").search(text))


def goes_unread(waking: Waking) -> bool:
    """Return whether the person has read none of the timer's last MAX_UNREAD messages, nor written since.

    Such a reminder goes on, since somebody may live by its mails or notifications, but no model is asked for its words.
    """
    if waking.timer is None or waking.origin == Waking.Origin.FORCED:  # they ask for its words by hand
        return False
    said = Message.objects.filter(companion=waking.companion_id, waking__timer=waking.timer)
    times = list(said.order_by("-said_at").values_list("said_at", flat=True)[:MAX_UNREAD])
    if len(times) < MAX_UNREAD:
        return False
    here = Message.objects.filter(
        companion=waking.companion_id, role=Message.Role.USER, said_at__gte=times[-1]
    )
    return waking.companion.conversation.read_until < times[-1] and not here.exists()


def write_reminder(context: WakingContext, now: datetime) -> str:
    """Return Kith's own reminder in the person's language, made without a model; empty if none was asked for.

    A late one says when it was due. The person may have set theirs without a note. For a timer by Kith or an operator
    there is none: its note is addressed to the companion and never shown to the person.
    """
    waking, timer = context.waking, context.waking.timer
    if timer is None or not (timer.is_asked_for and waking.is_asked_for):
        return ""
    if timer.by in WRITTEN_TO_COMPANION or not (context.note or timer.by == Timer.By.USER):
        return ""
    own_words = _find_own_words(context, timer) if timer.by == Timer.By.COMPANION else ""
    person = context.companion.user
    note = own_words or strip_order(context.note, person.name)
    with person.use_language():
        if now - waking.due_at <= LATE_AFTER:
            told = _("You wanted to be reminded: %(note)s") if note else _("You wanted to be reminded now.")
            return told % {"note": note}
        due, today = waking.due_at.astimezone(person.zone), now.astimezone(person.zone).date()
        when = f"{due:%H:%M}" if due.date() == today else f"{due:%Y-%m-%d, %H:%M}"
        late = _("This reminder is late: it was due at %(when)s.")
        if note:
            late = _("This reminder is late: it was due at %(when)s. You wanted to be reminded: %(note)s")
        return late % {"when": when, "note": note}


def _find_own_words(context: WakingContext, timer: Timer) -> str:
    """Return, in quotes, the person's sentence that shares most words with the note; empty if none shares any.

    Searches the message in answer to which the timer was set and the person's two before it.
    """
    if timer.message is None:
        return ""
    said = Message.objects.filter(session=timer.message.session_id, role=Message.Role.USER, is_hidden=False)
    said = said.filter(said_at__lte=timer.message.said_at).order_by("-said_at", "-id")
    found = find_sentence([message.text for message in said[:MAX_ASKING]], context.note, context.companion)
    order = strip_order(found, context.companion.user.name)
    return f"“{shorten(order, MAX_QUOTED_CHARACTERS)}”" if found else ""


def strip_order(text: str, person: str) -> str:
    """Return what a reminder is for: of "Remind me in two minutes to drink" or "Remind Ana to drink", "drink"."""
    whom = "|".join(regex.escape(name) for name in (*words_of("reminded"), person) if name)
    order = "|".join(words_of("reminder_orders")).replace("{whom}", whom)
    return regex.sub(rf"(?i)^\s*(?:{order})", "", text).rstrip(ENDS) or text
