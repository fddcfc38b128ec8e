"""Whether a companion may write first now: what its person has allowed, and how they have answered."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta

from companions.life.goodbye import Goodbye, goodbye
from companions.life.hours import next_time, within
from companions.models import Companion, Life, Message, Waking

# How long it waits after so many messages in a row that nobody answered; then it waits for the person.
BACK_OFF = (timedelta(days=1), timedelta(days=3), timedelta(days=7))


@dataclass(frozen=True, slots=True)
class Past:
    """What the person said last, and the unprompted messages of the last days, the newest first."""

    said_last: str
    said_at: datetime | None
    unprompted: list[datetime]

    @property
    def unanswered(self) -> list[datetime]:
        return [at for at in self.unprompted if self.said_at is None or at > self.said_at]


def refusal(companion: Companion, waking: Waking, now: datetime) -> str | None:
    """Why the companion may not speak in this waking; None where it may. What was asked for always may.

    The codes: not_opted_in, muted, goodbye, quiet_hours, enough_today, unanswered. Three queries.
    """
    return None if waking.is_asked_for else unprompted_refusal(companion.life, past(companion), now)


def past(companion: Companion) -> Past:
    """How the two have spoken lately; two queries."""
    mine = Message.objects.filter(companion=companion)
    last = mine.filter(role=Message.Role.USER).order_by("-said_at", "-id").first()
    first = mine.filter(waking__isnull=False, waking__is_asked_for=False).order_by("-said_at")
    newest = list(first.values_list("said_at", flat=True)[: len(BACK_OFF) + Life.MOST_A_DAY])
    return Past(last.text if last else "", last.said_at if last else None, newest)


def unprompted_refusal(life: Life, before: Past, now: datetime) -> str | None:
    """The same for a word that nobody asked for. Pure."""
    local = now.astimezone(life.companion.user.zone)
    if not life.reaches_out:
        return "not_opted_in"
    if life.is_muted:
        return "muted"
    if _is_goodbye(life, before, local):
        return "goodbye"
    if within(life.quiet_from, life.quiet_until, local.time()):
        return "quiet_hours"
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    if sum(at >= midnight for at in before.unprompted) >= life.most_a_day:
        return "enough_today"
    return "unanswered" if _backs_off(before.unanswered, now) else None


def _is_goodbye(life: Life, before: Past, local: datetime) -> bool:
    """A lasting goodbye holds until the person writes again, any other until their next morning."""
    said = goodbye(before.said_last) if before.said_at else None
    if said is None or before.said_at is None:
        return False
    morning = life.quiet_until if life.quiet_from != life.quiet_until else time(8)
    return said is Goodbye.LASTING or local < next_time(morning, before.said_at.astimezone(local.tzinfo))


def _backs_off(unanswered: list[datetime], now: datetime) -> bool:
    if not unanswered:
        return False
    return len(unanswered) > len(BACK_OFF) or now < unanswered[0] + BACK_OFF[len(unanswered) - 1]
