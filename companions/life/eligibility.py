"""Whether a waking may be, and whether a companion may write first now: what its person has allowed and answered."""

import re
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from enum import Enum, StrEnum

from django.conf import settings
from django.db.models import Max

from accounts.usage import waits_until
from companions.minds.choice import get_current_provider
from companions.models import Companion, Life, Message, Timer, Waking

TOO_LATE_AFTER = timedelta(hours=6)  # an evening's is none any more in the morning
# Then the longest silence has been thought of, and nothing else costs anything.
LONG_GONE_AFTER = timedelta(days=21)
# How long it waits after so many messages in a row that nobody answered; then it waits for the person.
BACK_OFF = (timedelta(days=1), timedelta(days=3), timedelta(days=7))
USUAL_MORNING = time(8)
MAX_GOODBYE_CHARACTERS = 60  # of a message that may be a goodbye as a whole


class Reason(StrEnum):
    """Why a companion did not wake."""

    LIFE_OFF = "life_off"
    ASLEEP = "asleep"
    TOO_LATE = "too_late"
    NOTHING_NEW = "nothing_new"
    TOO_MANY_A_DAY = "too_many_a_day"
    NO_TOKENS = "no_tokens"
    GONE = "gone"
    SHUT_OUT = "shut_out"


def find_skip_reason(waking: Waking, companion: Companion, now: datetime) -> Reason | None:
    """Return why this waking must not be now; None where it may.

    What was asked for is never too late, nor put off by sleep.
    """
    if not companion.user.is_active:
        return Reason.SHUT_OUT
    if not waking.is_asked_for and (reason := _find_unasked_skip_reason(waking, companion, now)):
        return reason
    if _count_wakings_today(waking, companion, now) >= settings.LIFE_WAKINGS_PER_DAY:
        return Reason.TOO_MANY_A_DAY
    if not get_current_provider(companion).is_own and waits_until(
        companion.user, now, is_asked_for=waking.is_asked_for
    ):
        return Reason.NO_TOKENS
    return None


def _find_unasked_skip_reason(waking: Waking, companion: Companion, now: datetime) -> Reason | None:
    life = Life.objects.filter(companion=companion).first() or Life(companion=companion)
    if not life.is_awake:
        return Reason.LIFE_OFF
    if waking.origin == Waking.Origin.FORCED:
        return None
    if now - waking.due_at > TOO_LATE_AFTER:
        return Reason.TOO_LATE
    local = now.astimezone(companion.user.zone)
    if waking.origin == Waking.Origin.DRIVE and is_within(life.sleeps_from, life.sleeps_until, local.time()):
        return Reason.ASLEEP
    if waking.has_lost_subject:
        return Reason.GONE
    return Reason.NOTHING_NEW if _has_nothing_new(waking) or _is_long_gone(waking, now) else None


def _is_long_gone(waking: Waking, now: datetime) -> bool:
    """Return whether the companion has set it itself, and the person has not written for weeks."""
    if waking.timer is None or waking.timer.by != Timer.By.COMPANION:
        return False
    said = Message.objects.filter(companion=waking.companion_id, role=Message.Role.USER)
    last = said.aggregate(at=Max("said_at"))["at"]
    return last is not None and now - last > LONG_GONE_AFTER


def _has_nothing_new(waking: Waking) -> bool:
    """Return whether a predefined timer finds that the person has said nothing since its waking before."""
    if waking.timer is None or not waking.timer.name:
        return False
    before = Waking.objects.filter(timer=waking.timer, state=Waking.State.DONE).order_by("-due_at").first()
    said = Message.objects.filter(companion=waking.companion_id, role=Message.Role.USER)
    return not (said.filter(said_at__gt=before.due_at) if before else said).exists()


def _count_wakings_today(waking: Waking, companion: Companion, now: datetime) -> int:
    """Count the wakings of the person's day; for what was asked for, only what was asked for counts."""
    midnight = get_midnight(now.astimezone(companion.user.zone))
    begun = Waking.objects.filter(companion=companion, started_at__gte=midnight)
    counted = begun.filter(is_asked_for=True) if waking.is_asked_for else begun
    return counted.exclude(pk=waking.pk).count()


# -- writing first


@dataclass(frozen=True, slots=True)
class Outreach:
    """What the person said last, and the unprompted messages of the last days, the newest first."""

    said_last: str
    said_at: datetime | None
    unprompted: list[datetime]

    @property
    def unanswered(self) -> list[datetime]:
        return [at for at in self.unprompted if self.said_at is None or at > self.said_at]


def find_refusal(companion: Companion, waking: Waking, now: datetime) -> str | None:
    """Return why the companion may not speak in this waking; None where it may. What was asked for always may.

    The codes: not_opted_in, muted, goodbye, quiet_hours, enough_today, unanswered, and talked_since, where the person has
    written while it thought: what it would say may have been answered. Three queries.
    """
    if waking.is_asked_for:
        return None
    outreach = load_outreach(companion)
    if waking.started_at and outreach.said_at and outreach.said_at > waking.started_at:
        return "talked_since"
    return find_outreach_refusal(companion.life, outreach, now)


def load_outreach(companion: Companion) -> Outreach:
    """Return how the two have spoken lately; two queries."""
    mine = Message.objects.filter(companion=companion)
    last = mine.filter(role=Message.Role.USER).order_by("-said_at", "-id").first()
    # What was sent has been sent, on whichever branch.
    sent = Message.everywhere.filter(companion=companion, waking__isnull=False, waking__is_asked_for=False)
    unprompted = sent.order_by("-said_at")
    newest = list(unprompted.values_list("said_at", flat=True)[: len(BACK_OFF) + Life.MOST_A_DAY])
    return Outreach(last.text if last else "", last.said_at if last else None, newest)


def find_outreach_refusal(life: Life, outreach: Outreach, now: datetime) -> str | None:
    """Return the code of why nothing unprompted may be said now; None where it may."""
    local = now.astimezone(life.companion.user.zone)
    if not life.reaches_out:
        return "not_opted_in"
    if life.is_muted:
        return "muted"
    if _holds_goodbye(life, outreach, local):
        return "goodbye"
    if is_within(life.quiet_from, life.quiet_until, local.time()):
        return "quiet_hours"
    if sum(at >= get_midnight(local) for at in outreach.unprompted) >= life.most_a_day:
        return "enough_today"
    unanswered = outreach.unanswered
    is_spent = len(unanswered) > len(BACK_OFF)
    if is_spent or (unanswered and now < unanswered[0] + BACK_OFF[len(unanswered) - 1]):
        return "unanswered"
    return None


def _holds_goodbye(life: Life, outreach: Outreach, local: datetime) -> bool:
    """Return whether a goodbye holds: a lasting one until the person writes again, any other until their next morning."""
    goodbye = find_goodbye(outreach.said_last)
    if goodbye is None or outreach.said_at is None:
        return False
    morning = life.quiet_until if life.quiet_from != life.quiet_until else USUAL_MORNING
    said_at = outreach.said_at.astimezone(local.tzinfo)
    return goodbye is Goodbye.LASTING or local < get_next_time(morning, said_at)


class Goodbye(Enum):
    """A goodbye for today, or one until the person writes again."""

    TODAY = "today"
    LASTING = "lasting"


# What asks to be left alone, wherever it stands in the message.
LASTING = re.compile(
    r"(?i)\b(?:stop|quit|no more|never|don'?t|do not|please stop)\s+(?:ever\s+)?"
    r"(?:writ\w*|messag\w*|text\w*|contact\w*|bother\w*|ping\w*|remind\w*|call\w*)\s+(?:to\s+)?(?:me|us)\b"
    r"|\b(?:stop|no more)\s+(?:with\s+)?(?:your\s+|the\s+|these\s+)?(?:messages|notifications|reminders|texts)\b"
    r"|\bleave me (?:alone|be|in peace)\b|\b(?:goodbye|farewell)\s+(?:for ?ever|for good)\b"
    r"|\bi(?:'m| am) (?:leaving|done|going) (?:for good|for ?ever)\b|\bi(?:'m| am) done with (?:this|you)\b"
    r"|(?:别|不要|不用|请勿|请不要|别再|不要再)(?:再)?(?:给我|跟我|来|主动)?(?:发(?:消息|信息|短信)|联系我|打扰我|找我|烦我|提醒我)"
    r"|让我(?:一个人)?(?:静静|安静)|别(?:来)?烦我|永别|再也不(?:来|用|聊|见)|后会无期"
)
# What ends a talk for now, where the message is short or ends with it.
TODAY = re.compile(
    r"(?i)\b(?:good\s?bye|bye(?:\s?-?\s?bye)?|good\s?night|nighty?|farewell|see (?:you|ya)|ttyl"
    r"|talk (?:to you )?(?:later|soon|tomorrow)|(?:off|going|heading|gotta go) to (?:bed|sleep)"
    r"|gotta (?:go|run)|have to go|take care|sleep well)\b"
    r"|再见|拜拜|晚安|回头聊|下次聊|明天(?:聊|见)|先(?:走|下|睡|去睡|这样)了?|睡了|我去睡|回见|告辞"
)


def find_goodbye(text: str) -> Goodbye | None:
    """Return which goodbye the message is; None where it is none.

    What is quoted in a long message counts only at its end.
    """
    if LASTING.search(text):
        return Goodbye.LASTING
    found = list(TODAY.finditer(text))
    end = len(text.rstrip())
    if found and (
        len(text) <= MAX_GOODBYE_CHARACTERS or found[-1].end() >= end - MAX_GOODBYE_CHARACTERS // 2
    ):
        return None if text.rstrip().endswith(("?", "？")) else Goodbye.TODAY
    return None


# -- spans of a person's day


def is_within(start: time, end: time, at: time) -> bool:
    """Return whether that time of day lies in the span, its end left out; over midnight where it ends before it starts.

    A span whose two ends are the same is none.
    """
    return start <= at < end if start <= end else at >= start or at < end


def get_midnight(local: datetime) -> datetime:
    """Return when that day began."""
    return local.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)


def get_next_time(wanted: time, after: datetime) -> datetime:
    """Return the first moment later than `after` at which clocks there show that time, or the first after a gap."""
    for days in (0, 1, 2):
        day = after.date() + timedelta(days=days)
        moment = datetime.combine(day, wanted, after.tzinfo)
        there = datetime.fromtimestamp(moment.timestamp(), after.tzinfo)
        if there > after:
            return there
    raise AssertionError("a day has passed")
