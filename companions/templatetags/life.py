"""Filters that show a companion's life: its mood, its timers, the tools that it used, its goals and ideas."""

from collections.abc import Iterable
from datetime import datetime

from django import template
from django.utils import timezone
from django.utils.dates import WEEKDAYS
from django.utils.formats import date_format
from django.utils.translation import get_language, pgettext
from django.utils.translation import gettext as _

from companions.life.inner_state import Feeling, get_feeling
from companions.life.timers import timers
from companions.memories.reasons import format_percent
from companions.models import InnerState, Timer
from companions.templatetags.talk import clock
from companions.tools.registry import describe_done
from memory.emotion import Emotion
from memory.models import Change, Pursuit

register = template.Library()

MARKED, STRONG, WEAK = 0.15, 0.7, 0.35
STIRRED = 0.4


@register.filter
def mood(feeling: Feeling | InnerState) -> str:
    """Return a mood in a word or two: its emotion, or without one its valence and arousal."""
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
    """Return the mouth of a small face of 24 by 24, as an SVG path: the higher the valence, the more it smiles."""
    bend = 3.5 * feeling.valence
    return f"M8.2 {15.2 - bend / 2:.2f}Q12 {15.2 + bend:.2f} 15.8 {15.2 - bend / 2:.2f}"


@register.filter
def eye(feeling: Feeling | InnerState) -> str:
    """Return the radius of the small face's eyes: the higher the arousal, the wider."""
    return f"{0.95 + 0.75 * feeling.arousal:.2f}"


@register.filter
def tone(feeling: Feeling | InnerState) -> str:
    """Return the CSS class of the small face's colour, by the valence."""
    if abs(feeling.valence) <= MARKED:
        return "mood-calm"
    return "mood-good" if feeling.valence > 0 else "mood-low"


@register.filter
def in_words(timer: Timer) -> str:
    """Return the timer's schedule as a person would say it, in the reader's language and zone."""
    return timers.describe(timer, timezone.get_current_timezone(), get_language() or "en")


@register.filter
def comes_again(timer: Timer) -> bool:
    """Return whether the timer has a cron schedule, which says more than the next due time."""
    return timer.schedule.startswith("cron:")


@register.filter
def upcoming(timer: Timer) -> list[datetime]:
    """Return the timer's next due times."""
    return timers.get_upcoming(timer, timezone.get_current_timezone())


@register.filter
def weekday(at: datetime) -> str:
    """Return day of the week, date and time in the reader's zone, with the year unless it is the present one."""
    local, this_year = timezone.localtime(at), timezone.localdate().year
    form = pgettext("this year", "j F") if local.year == this_year else pgettext("another year", "j F Y")
    named = {"weekday": WEEKDAYS[local.weekday()], "day": date_format(local, form), "time": clock(at)}
    return _("%(weekday)s, %(day)s, %(time)s") % named


@register.filter
def deeds(tools: Iterable[dict[str, object]]) -> list[str]:
    """Return what the companion did with `tools`, in a few words each, without repetitions and failed calls."""
    words = describe_done()
    done = [str(tool["name"]) for tool in tools if not tool["is_error"]]
    return list(dict.fromkeys(words[name] for name in done if name in words))


@register.filter
def stands(change: Change, when: str) -> str:
    """Return how a goal or an idea stood before a change (`when` is "before") or after it ("became")."""
    told = change.before["became"] if when == "became" else change.before
    progress = format_percent(told["progress"] / 100)
    return f"{Pursuit.Status(told['status']).label} · {progress} · {excitement_words(told['excitement'])}"


@register.filter
def excitement_words(excitement: int) -> str:
    """Return in words how keen the companion is on a goal or an idea; `excitement` is 1 to 10."""
    if excitement >= 8:
        return _("very keen on it")
    return _("keen on it") if excitement >= 5 else _("mildly interested")
