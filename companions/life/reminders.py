"""Kith's own reminder, in the second person: what comes where the companion finds no words for what it was asked for."""

import re

from django.utils import translation
from django.utils.translation import gettext as _

from companions.life.waking_context import WakingContext
from companions.models import Message, Timer
from memory.recall.traits import tells_something, terms
from text.strings import shorten, split_sentences

MAX_ASKING = 3  # messages in which a reminder may have been asked for
MAX_QUOTED_CHARACTERS = 300
WRITTEN_TO_COMPANION = (Timer.By.KITH, Timer.By.OPERATOR)  # the notes of these timers
PERSONS = ("the user", "user", "them", "her", "him", "用户", "她", "他")  # as companions note whom to remind


def write_reminder(context: WakingContext) -> str:
    """Return Kith's own reminder, of which no model is asked, in the person's language; nothing where none was asked for.

    The note of a timer that Kith or an operator has made is written to the companion: it never goes to the person.
    """
    waking, timer = context.waking, context.waking.timer
    if timer is None or not (timer.is_asked_for and waking.is_asked_for and context.note):
        return ""
    if timer.by in WRITTEN_TO_COMPANION:
        return ""
    note = context.note
    if timer.by == Timer.By.COMPANION:
        note = _find_own_words(context, timer) or _strip_order(note, context.companion.user.name)
    with translation.override(context.companion.user.language or "en"):
        return _("You wanted to be reminded: %(note)s") % {"note": note}


def _find_own_words(context: WakingContext, timer: Timer) -> str:
    """Return the person's own sentence that tells most of what the companion noted, quoted; nothing for none.

    It stands in the message in answer to which the timer was set, or in one of the two before it.
    """
    if timer.message is None:
        return ""
    said = Message.objects.filter(session=timer.message.session_id, role=Message.Role.USER, is_hidden=False)
    said = said.filter(said_at__lte=timer.message.said_at).order_by("-said_at", "-id")
    names = {term for name in context.companion.names.values() for term in terms(name)}
    noted = {term for term in terms(context.note) if tells_something(term)} - names
    sentences = [sentence for message in said[:MAX_ASKING] for sentence in split_sentences(message.text)]
    best = max(sentences, key=lambda sentence: len(noted & {*terms(sentence)}), default="")
    return f"“{shorten(best, MAX_QUOTED_CHARACTERS)}”" if noted & {*terms(best)} else ""


def _strip_order(note: str, person: str) -> str:
    """Return what a companion noted for itself without the order in it: of "Remind Ana to drink", "to drink"."""
    names = "|".join(re.escape(name) for name in (*PERSONS, person) if name)
    return re.sub(rf"(?i)^\s*(?:remind|提醒)\s*(?:{names})(?![a-z])\s*[,:，：]?\s*", "", note) or note
