"""How a companion's life is put into words and lines: its mood, its timers, what it used, its work by night."""

from collections.abc import Iterable
from datetime import datetime

from django import template
from django.utils import timezone
from django.utils.dates import WEEKDAYS
from django.utils.formats import date_format
from django.utils.translation import get_language, pgettext
from django.utils.translation import gettext as _

from companions.life import timers
from companions.life.inner_state import Feeling, get_feeling
from companions.memories.reasons import format_percent
from companions.models import InnerState, Timer
from companions.templatetags.talk import clock
from companions.tools.words import describe_done
from memory.emotion import Emotion
from memory.models import Change, Pursuit

register = template.Library()

MARKED, STRONG, WEAK = 0.15, 0.7, 0.35
STIRRED = 0.4


@register.filter
def mood(feeling: Feeling | InnerState) -> str:
    """A mood in a word or two: the emotion that shows, else how good and how stirred it is."""
    feeling = get_feeling(feeling) if isinstance(feeling, InnerState) else feeling
    if feeling.emotion == Emotion.NEUTRAL:
        return _undertone(feeling)
    name = str(Emotion(feeling.emotion).label)
    if feeling.intensity < WEAK:
        return pgettext("mood", "a little %(feeling)s") % {"feeling": name}
    return pgettext("mood", "very %(feeling)s") % {"feeling": name} if feeling.intensity > STRONG else name


def _undertone(feeling: Feeling) -> str:
    is_stirred = feeling.arousal > STIRRED
    if feeling.valence > MARKED:
        return pgettext("mood", "lively") if is_stirred else pgettext("mood", "content")
    if feeling.valence < -MARKED:
        return pgettext("mood", "tense") if is_stirred else pgettext("mood", "low")
    return pgettext("mood", "stirred") if is_stirred else pgettext("mood", "calm")


@register.filter
def mouth(feeling: Feeling | InnerState) -> str:
    """The mouth of a small face of 24 by 24, as a path: the better it feels, the more it smiles."""
    bend = 3.5 * feeling.valence
    return f"M8.2 {15.2 - bend / 2:.2f}Q12 {15.2 + bend:.2f} 15.8 {15.2 - bend / 2:.2f}"


@register.filter
def eye(feeling: Feeling | InnerState) -> str:
    """The radius of its eyes: the more it is stirred, the wider."""
    return f"{0.95 + 0.75 * feeling.arousal:.2f}"


@register.filter
def tone(feeling: Feeling | InnerState) -> str:
    """The class that gives its colour."""
    if abs(feeling.valence) <= MARKED:
        return "mood-calm"
    return "mood-good" if feeling.valence > 0 else "mood-low"


@register.filter
def in_words(timer: Timer) -> str:
    """Its schedule as a person would say it, in the reader's language and zone."""
    return timers.describe(timer, timezone.get_current_timezone(), get_language() or "en")


@register.filter
def comes_again(timer: Timer) -> bool:
    """Whether it is due more than once: then its schedule says more than its next due time."""
    return timer.schedule.startswith("cron:")


@register.filter
def upcoming(timer: Timer) -> list[datetime]:
    """Its next due times."""
    return timers.get_upcoming(timer, timezone.get_current_timezone())


@register.filter
def weekday(at: datetime) -> str:
    """Day of the week, date and time where the reader lives; the year where it is another."""
    local, this_year = timezone.localtime(at), timezone.localdate().year
    form = pgettext("this year", "j F") if local.year == this_year else pgettext("another year", "j F Y")
    named = {"weekday": WEEKDAYS[local.weekday()], "day": date_format(local, form), "time": clock(at)}
    return _("%(weekday)s, %(day)s, %(time)s") % named


@register.filter
def deeds(tools: Iterable[dict[str, object]]) -> list[str]:
    """What it did beside speaking, each once, in a few words; what failed is left out."""
    words = describe_done()
    done = [str(tool["name"]) for tool in tools if not tool["is_error"]]
    return list(dict.fromkeys(words[name] for name in done if name in words))


@register.filter
def stands(change: Change, when: str) -> str:
    """How a goal or an idea stood before ("before"), or what it became ("became")."""
    told = change.before["became"] if when == "became" else change.before
    progress = format_percent(told["progress"] / 100)
    return f"{Pursuit.Status(told['status']).label} · {progress} · {excitement_words(told['excitement'])}"


@register.filter
def excitement_words(excitement: int) -> str:
    """Return how keen the companion is on a goal or an idea, of an excitement from 1 to 10, in words."""
    if excitement >= 8:
        return _("very keen on it")
    return _("keen on it") if excitement >= 5 else _("mildly interested")
