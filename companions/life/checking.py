"""What a companion wants to say unprompted, checked before it is said."""

from dataclasses import dataclass

import structlog
from django.utils import translation
from django.utils.translation import gettext as _

from companions.life.awake import Awake
from companions.models import Timer
from safety.outgoing import check_with_model

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Words:
    """What is to be said, and why it must not be, in a word; empty where it may."""

    text: str
    code: str = ""


def checked(awake: Awake, text: str) -> Words:
    """The words that may be said. Of what the person asked for stays the bare reminder, where its words pass."""
    code = _held(awake, text)
    plain = reminder(awake) if code else ""
    if plain and (_is_theirs(awake) or not _held(awake, plain)):
        return Words(plain)
    return Words(text, code)


def _held(awake: Awake, text: str) -> str:
    """The rule for which it is held back; the operator is told of that, without the words."""
    verdict = check_with_model(awake.payer, text)
    if not verdict.is_held:
        return ""
    ids = {"waking_id": str(awake.waking.pk), "companion_id": str(awake.companion.pk)}
    log.warning("held_back", **ids, rule=verdict.rule, score=round(verdict.score, 3))
    return verdict.rule


def _is_theirs(awake: Awake) -> bool:
    """Whether the person has written the note with their own hand: their words are not held back from them."""
    timer = awake.waking.timer
    return timer is not None and timer.by == Timer.By.USER


def reminder(awake: Awake) -> str:
    """The bare one, of which no model is asked, in the person's language; nothing where they asked for nothing.

    The note of a timer that Kith has made is written to the companion: it never goes to the person.
    """
    timer = awake.waking.timer
    if not (awake.waking.is_asked_for and awake.note) or timer is None or timer.by == Timer.By.KITH:
        return ""
    with translation.override(awake.companion.user.language or "en"):
        return _("You asked to be reminded: %(note)s") % {"note": awake.note}
