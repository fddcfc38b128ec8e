"""Whether a waking may happen, and whether a companion may write first now, by its person's settings and answers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from enum import Enum, StrEnum

from django.conf import settings
from django.db.models import Max

from accounts.limits.usage import waits_until
from companions.life.timers.schedules import resolve_local_time
from companions.minds.choice import get_current_provider
from companions.models import Companion, Life, Message, Timer, Waking

TOO_LATE_AFTER = timedelta(hours=6)  # e.g. the evening's waking makes no sense in the morning
TIMELY_FOR = timedelta(hours=1)  # what comes later was not asked for at this hour
# Who has written so lately is up; it is longer than a look and the next are apart, or some words would escape both.
UP_WINDOW, NIGHT_LOOK = timedelta(minutes=20), timedelta(minutes=15)
# The longest silence that is an occasion to wake; after it, the companion's own timers cost no more tokens.
LONG_GONE_AFTER = timedelta(days=21)
# How long the companion waits after one, two, three unanswered messages; after more it waits for the person.
BACK_OFF = (timedelta(days=1), timedelta(days=3), timedelta(days=7))
# What has its day cannot wait so long: a birthday waits for some hours, the others for the next day at most. Each counts
# as one of these messages. After all of them only a birthday is left, if nothing unprompted was said for a week.
DATED = (Waking.Drive.PROMISE, Waking.Drive.EVENT, Waking.Drive.BIRTHDAY)
BIRTHDAY_PAUSE, BIRTHDAY_INTERVAL = timedelta(hours=3), timedelta(days=7)
USUAL_MORNING = time(8)
MAX_GOODBYE_CHARACTERS = 60  # a message up to this length with a goodbye in it counts as one


class Reason(StrEnum):
    """Why a waking was skipped."""

    LIFE_OFF = "life_off"
    SLEEP_HOURS = "asleep"
    TOO_LATE = "too_late"
    NOTHING_NEW = "nothing_new"
    TOO_MANY_A_DAY = "too_many_a_day"
    NO_TOKENS = "no_tokens"
    GONE = "gone"
    SHUT_OUT = "shut_out"


def find_skip_reason(waking: Waking, companion: Companion, now: datetime) -> Reason | None:
    """Return why this waking must be skipped, or None if it may happen.

    A waking that the person asked for is skipped only if their account is inactive or a limit of the day is reached.
    """
    if not companion.user.is_active:
        return Reason.SHUT_OUT
    if not waking.is_asked_for and (reason := _find_unasked_skip_reason(waking, companion, now)):
        return reason
    if _count_wakings_of_day(waking, companion) >= settings.LIFE_WAKINGS_PER_DAY:
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
        return Reason.SLEEP_HOURS
    if waking.has_lost_subject:
        return Reason.GONE
    return Reason.NOTHING_NEW if _has_nothing_new(waking) or _is_long_gone(waking, now) else None


def find_next_look(waking: Waking, companion: Companion, now: datetime) -> datetime | None:
    """Return None if the person's waking may happen now, else when to look at it again.

    What they asked for at one hour they have not asked for at any hour of the night: if it is late by more than
    TIMELY_FOR, since Kith was off, it waits for the end of the quiet hours, or until they write, i.e. are up.
    """
    morning = find_end_of_quiet_hours(companion.life, now) if now - waking.due_at > TIMELY_FOR else None
    said = Message.objects.owned_by(companion.user).filter(role=Message.Role.USER)
    if morning is None or said.filter(said_at__gt=now - UP_WINDOW).exists():
        return None
    return min(morning, now + NIGHT_LOOK)


def find_end_of_quiet_hours(life: Life, now: datetime) -> datetime | None:
    """Return when the current quiet hours end, or None outside them."""
    local = now.astimezone(life.companion.user.zone)
    is_quiet = is_within(life.quiet_from, life.quiet_until, local.time())
    return get_next_time(life.quiet_until, local) if is_quiet else None


def _is_long_gone(waking: Waking, now: datetime) -> bool:
    """Return whether the companion itself set the waking's timer, and the person last wrote over three weeks ago."""
    if waking.timer is None or waking.timer.by != Timer.By.COMPANION:
        return False
    said = Message.objects.filter(companion=waking.companion_id, role=Message.Role.USER)
    last = said.aggregate(at=Max("said_at"))["at"]
    return last is not None and now - last > LONG_GONE_AFTER


def _has_nothing_new(waking: Waking) -> bool:
    """Return whether the waking is a predefined timer's, and the person has said nothing since that was last due.

    Only wakings that took place count as the last one; without any, all that the person ever said is new.
    """
    if waking.timer is None or not waking.timer.name:
        return False
    before = Waking.objects.filter(timer=waking.timer, state=Waking.State.DONE).order_by("-due_at").first()
    said = Message.objects.filter(companion=waking.companion_id, role=Message.Role.USER)
    return not (said.filter(said_at__gt=before.due_at) if before else said).exists()


def _count_wakings_of_day(waking: Waking, companion: Companion) -> int:
    """Count the other wakings that were begun and due on this one's day in the person's time zone.

    If the waking was asked for, only those that were asked for count. After a downtime, those of each day count apart.
    """
    local = waking.due_at.astimezone(companion.user.zone)
    day = (get_midnight(local), get_midnight(local + timedelta(days=1)))
    begun = Waking.objects.filter(companion=companion, started_at__isnull=False)
    begun = begun.filter(due_at__gte=day[0], due_at__lt=day[1])
    counted = begun.filter(is_asked_for=True) if waking.is_asked_for else begun
    return counted.exclude(pk=waking.pk).count()


# -- writing first


@dataclass(frozen=True, slots=True)
class Outreach:
    """What the person said last, and when the latest unprompted messages were sent, newest first."""

    said_last: str
    said_at: datetime | None
    unprompted: list[datetime]

    @property
    def unanswered(self) -> list[datetime]:
        return [at for at in self.unprompted if self.said_at is None or at > self.said_at]


def find_refusal(companion: Companion, waking: Waking, now: datetime) -> str | None:
    """Return the code of why the companion may not speak in this waking, or None if it may. Runs at most three queries.

    Codes: not_opted_in, muted, goodbye, quiet_hours, enough_today, unanswered, and talked_since if the person has
    written while the companion thought. A waking that was asked for may always speak.
    """
    if waking.is_asked_for:
        return None
    outreach = load_outreach(companion)
    if waking.started_at and outreach.said_at and outreach.said_at > waking.started_at:
        return "talked_since"
    return find_outreach_refusal(companion.life, outreach, now, waking.drive)


def load_outreach(companion: Companion) -> Outreach:
    """Return the person's last message and the times of the latest unprompted ones. Runs two queries."""
    mine = Message.objects.filter(companion=companion)
    last = mine.filter(role=Message.Role.USER).order_by("-said_at", "-id").first()
    # Messages on branches that are not chosen were sent, too.
    sent = Message.everywhere.filter(companion=companion, waking__isnull=False, waking__is_asked_for=False)
    unprompted = sent.order_by("-said_at")
    newest = list(unprompted.values_list("said_at", flat=True)[: len(BACK_OFF) + Life.MOST_A_DAY])
    return Outreach(last.text if last else "", last.said_at if last else None, newest)


def find_outreach_refusal(life: Life, outreach: Outreach, now: datetime, drive: str = "") -> str | None:
    """Return the code of why nothing unprompted may be said now, or None if it may (see `find_refusal`).

    `drive` is that of the waking, if it has one.
    """
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
    return "unanswered" if _waits_for_answer(outreach.unanswered, local, drive) else None


def _waits_for_answer(unanswered: Sequence[datetime], local: datetime, drive: str) -> bool:
    """Return whether the companion must wait before it writes again, after these unanswered messages, newest first."""
    if not unanswered:
        return False
    is_spent = len(unanswered) > len(BACK_OFF)
    if drive == Waking.Drive.BIRTHDAY:
        return local < unanswered[0] + (BIRTHDAY_INTERVAL if is_spent else BIRTHDAY_PAUSE)
    if is_spent:
        return True
    if drive in DATED:
        return unanswered[0] >= get_midnight(local)
    return local < unanswered[0] + BACK_OFF[len(unanswered) - 1]


def _holds_goodbye(life: Life, outreach: Outreach, local: datetime) -> bool:
    """Return whether the person's last message is a goodbye that still holds.

    A lasting goodbye holds until the person writes again, any other one until their next morning.
    """
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


# Requests to be left alone, anywhere in the message.
LASTING = re.compile(
    r"(?i)\b(?:stop|quit|no more|never|don'?t|do not|please stop)\s+(?:ever\s+)?"
    r"(?:writ\w*|messag\w*|text\w*|contact\w*|bother\w*|ping\w*|remind\w*|call\w*)\s+(?:to\s+)?(?:me|us)\b"
    r"|\b(?:stop|no more)\s+(?:with\s+)?(?:your\s+|the\s+|these\s+)?(?:messages|notifications|reminders|texts)\b"
    r"|\bleave me (?:alone|be|in peace)\b|\b(?:goodbye|farewell)\s+(?:for ?ever|for good)\b"
    r"|\bi(?:'m| am) (?:leaving|done|going) (?:for good|for ?ever)\b|\bi(?:'m| am) done with (?:this|you)\b"
    r"|(?:别|不要|不用|请勿|请不要|别再|不要再)(?:再)?(?:给我|跟我|来|主动)?(?:发(?:消息|信息|短信)|联系我|打扰我|找我|烦我|提醒我)"
    r"|让我(?:一个人)?(?:静静|安静)|别(?:来)?烦我|永别|再也不(?:来|用|聊|见)|后会无期"
)
# Goodbyes for today, which count if the message is short or ends with one.
TODAY = re.compile(
    r"(?i)\b(?:good\s?bye|bye(?:\s?-?\s?bye)?|good\s?night|nighty?|farewell|see (?:you|ya)|ttyl"
    r"|talk (?:to you )?(?:later|soon|tomorrow)|(?:off|going|heading|gotta go) to (?:bed|sleep)"
    r"|gotta (?:go|run)|have to go|take care|sleep well)\b"
    r"|再见|拜拜|晚安|回头聊|下次聊|明天(?:聊|见)|先(?:走|下|睡|去睡|这样)了?|睡了|我去睡|回见|告辞"
)


def find_goodbye(text: str) -> Goodbye | None:
    """Return which kind of goodbye the message is, or None if it is none.

    In a long message a goodbye for today counts only at the end, as it may be quoted elsewhere; in a message that ends
    with a question mark it does not count at all.
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
    """Return whether the time of day lies between `start` (inclusive) and `end` (exclusive).

    A span that ends before it starts goes over midnight; one that ends when it starts is empty.
    """
    return start <= at < end if start <= end else at >= start or at < end


def get_midnight(local: datetime) -> datetime:
    """Return the midnight at which the day of `local` began."""
    return local.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)


def get_next_time(wanted: time, after: datetime) -> datetime:
    """Return the first moment later than `after` at which clocks in its time zone show the `wanted` time.

    Daylight saving counts as for schedules (see `resolve_local_time`).
    """
    zone = after.tzinfo
    assert zone is not None  # noqa: S101 (callers pass local times)
    for days in (0, 1, 2):
        moment = resolve_local_time(datetime.combine(after.date() + timedelta(days=days), wanted), zone)
        if moment > after:
            return moment.astimezone(zone)
    raise AssertionError("a day has passed")
