"""What may move a companion to wake by itself, and one occasion for it."""

from dataclasses import dataclass

from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from companions.models import Waking
from memory.models import Memory
from memory.text import shortened

QUOTED = 300  # characters of a memory in a note
ANY_DAY = 2  # how far off what has no day is: after what is today or tomorrow


class Drive(models.TextChoices):
    """Why a companion wakes of its own accord."""

    PROMISE = "promise", _("a promise")
    EVENT = "event", _("something that is near")
    BIRTHDAY = "birthday", _("a birthday")
    LONG_SILENCE = "long_silence", _("a long silence")
    IDEA = "idea", _("an idea that it likes")
    GOAL = "goal", _("a goal that stands still")


def named(drive: str) -> str:
    """What the person is told that it is."""
    return str(Drive(drive).label) if drive in Drive.values else drive


def may_be_told(waking: Waking) -> Memory | None:
    """The memory that a waking is about, where it still holds and models may be told of it."""
    about = waking.about
    if about is None or about.is_private or about.is_stale or about.closed_at:
        return None
    return None if about.message and about.message.is_hidden else about


def is_gone(waking: Waking) -> bool:
    """Whether it woke for a memory that is deleted, closed, or kept from models by now."""
    is_about = waking.drive in Drive.values and waking.drive != Drive.LONG_SILENCE
    return is_about and may_be_told(waking) is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """One occasion to wake: its key, which no other of the companion has, how many days off and how weighty it is.

    `silent` are the days of a silence.
    """

    drive: Drive
    key: str
    about: Memory | None = None
    days: int = ANY_DAY
    weight: int
    silent: int = 0

    @property
    def order(self) -> tuple[int, int, str]:
        """The nearest first, of those the weightiest."""
        return self.days, -self.weight, self.key

    def note(self) -> str:
        """Why it matters, in one sentence of the language that is switched on, the memory quoted."""
        quoted = {"memory": shortened(" ".join(self.about.text.split()), QUOTED)} if self.about else {}
        return _sentence(self) % {"days": self.silent, **quoted}


def _sentence(one: Occasion) -> str:
    if one.drive == Drive.PROMISE:
        late = gettext("This was promised for yesterday, and it counts: “%(memory)s”")
        return late if one.days < 0 else gettext("This was promised for today, and it counts: “%(memory)s”")
    if one.drive == Drive.EVENT:
        soon = gettext("This is tomorrow, and it matters: “%(memory)s”")
        return soon if one.days else gettext("This is today, and it matters: “%(memory)s”")
    if one.drive == Drive.BIRTHDAY:
        return gettext("Today is the birthday of which this tells: “%(memory)s”")
    if one.drive == Drive.LONG_SILENCE:
        return gettext("There has been silence between the two for %(days)d days, and they are missed.")
    if one.drive == Drive.IDEA:
        return gettext("This idea is a joy, and nobody has looked at it for a while: “%(memory)s”")
    return gettext("This goal is under way, and has stood still for two weeks: “%(memory)s”")
