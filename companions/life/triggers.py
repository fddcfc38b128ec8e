"""Occasions for a companion to wake by itself, found in the database without a model.

A look happens only if the person lets the companion write first and at a time when it may; it makes one waking at most.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from uuid import UUID

import regex
from django.db import transaction
from django.db.models import Exists, F, Max, OuterRef, Q
from django.utils.translation import gettext

from companions.life.eligibility import (
    DATED,
    Outreach,
    find_outreach_refusal,
    get_midnight,
    get_next_time,
    is_within,
    load_outreach,
)
from companions.models import Companion, Life, Message, Waking
from companions.models.companion import hold
from companions.models.conversation import DIGEST_MESSAGES
from database.queries import fetch_ids
from memory.models import Memory, Pursuit, Thread
from memory.models.memory import MemoryQuerySet
from memory.threads import leave_out_told
from text.dates import find_days, find_days_ahead, in_year
from text.strings import shorten, split_sentences

CLAIMED_AT_ONCE = 200
LOOK_INTERVAL = timedelta(hours=6)
DAY = timedelta(days=1)
REST_AFTER_TALK = timedelta(hours=1)  # no waking by itself until the talk has been over for so long
LEASE_TIME = timedelta(minutes=10)  # then another worker looks, if the first one died
SPREAD_SECONDS = 1200
MAX_A_DAY, MAX_A_WEEK = 1, 3
DATED_WINDOW = timedelta(days=366)  # memories older than this, unless due, are not searched for coming days
MAX_MEMORIES = 500
# One statement: the ORM has no UPDATE … RETURNING.
CLAIM = """
UPDATE companions_life SET drives_at = %(until)s WHERE companion_id IN (
    SELECT companion_id FROM companions_life
     WHERE is_awake AND reaches_out AND NOT is_muted AND (drives_at IS NULL OR drives_at <= %(now)s)
     ORDER BY drives_at NULLS FIRST LIMIT %(limit)s FOR UPDATE SKIP LOCKED)
RETURNING companion_id
"""
NOT_LEARNT = (Memory.Kind.SAID, Memory.Kind.DIARY, Memory.Kind.GIST, Memory.Kind.INSIGHT)

MAX_QUOTED_CHARACTERS = 300  # of a memory in a note
ANY_DAY = 2  # the distance in days of occasions without a day: they rank behind today's and tomorrow's
SILENCE_DAYS = (21, 7, 3)
SILENCE_WEIGHT = 6
BIRTHDAY_WEIGHT = 20
FEARED_WEIGHT = 10  # added to the importance of events that people are nervous about, e.g. an exam
MIN_EXCITEMENT = 8  # of an idea that the companion likes
UNSEEN_FOR = timedelta(days=7)
STILL_FOR = timedelta(days=14)
NO_SOLAR_BIRTHDAY = regex.compile(r"(?i)农历|農曆|阴历|陰曆|\blunar\b")  # its day changes each year
# In a syntax that both PostgreSQL and Python read.
BIRTHDAY_WORDS = r"birthday|was born|were born|生日|出生|生于|诞辰"
FEARED_WORDS = (
    r"exam|interview|surgery|operation|wedding|funeral|trip|flight|travel|journey|concert|deadline|audition"
    r"|appointment|dentist|doctor|moving|defen[cs]e|presentation|marathon|competition|first day"
    r"|考试|面试|手术|婚礼|葬礼|旅行|旅游|出差|航班|飞往|演出|音乐会|截止|复查|看医生|牙医|搬家|答辩|演讲|比赛|马拉松"
    r"|入职|开学|高考|体检"
)
_BIRTHDAY = regex.compile(BIRTHDAY_WORDS, regex.IGNORECASE)
_FEARED = regex.compile(FEARED_WORDS, regex.IGNORECASE)
Drive = Waking.Drive


# -- occasions to wake, found in rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """One occasion to wake: its key (unique for the companion), its distance in days, and its weight."""

    drive: Drive
    key: str
    about: Memory | None = None
    days: int = ANY_DAY
    weight: int
    silent_days: int = 0

    @property
    def order(self) -> tuple[int, int, str]:
        """The sort key: nearest first, then weightiest."""
        return self.days, -self.weight, self.key

    def write_note(self) -> str:
        """Return why the occasion matters as one sentence in the active language, with the memory quoted."""
        memory = shorten(" ".join(self.about.text.split()), MAX_QUOTED_CHARACTERS) if self.about else ""
        match self.drive:
            case Drive.PROMISE if self.days < 0:
                sentence = gettext("This was promised for yesterday, and it counts: “%(memory)s”")
            case Drive.PROMISE:
                sentence = gettext("This was promised for today, and it counts: “%(memory)s”")
            case Drive.EVENT if self.days < 0:
                sentence = gettext(
                    "This was yesterday, and unless they have told it, how it went is not known yet: “%(memory)s”"
                )
            case Drive.EVENT if self.days:
                sentence = gettext("This is tomorrow, and it matters: “%(memory)s”")
            case Drive.EVENT:
                sentence = gettext("This is today, and it matters: “%(memory)s”")
            case Drive.BIRTHDAY:
                sentence = gettext("Today is the birthday of which this tells: “%(memory)s”")
            case Drive.LONG_SILENCE:
                sentence = gettext(
                    "There has been silence between the two for %(days)d days, and they are missed."
                )
            case Drive.IDEA:
                sentence = gettext(
                    "This idea is a joy, and nobody has looked at it for a while: “%(memory)s”"
                )
            case Drive.GOAL:
                sentence = gettext("This goal is under way, and has stood still for two weeks: “%(memory)s”")
        return sentence % {"days": self.silent_days, "memory": memory}


def find_due_memories(memories: Iterable[Memory], today: date, zone: tzinfo) -> Iterator[Occasion]:
    """Yield promises due today or yesterday, events of today or tomorrow, and yesterday's events that have a thread."""
    for memory in memories:
        is_promise = memory.kind == Memory.Kind.PROMISE
        drive = Drive.PROMISE if is_promise else Drive.EVENT
        weight = memory.importance + (FEARED_WEIGHT if _FEARED.search(memory.text) else 0)
        for day in _get_days(memory, zone):
            days = (day - today).days
            if days in ((-1, 0) if is_promise else (0, 1)):
                key = f"{drive}:{memory.pk}:{day.isoformat()}"
                yield Occasion(drive=drive, key=key, about=memory, days=days, weight=weight)
            elif days == -1 and getattr(memory, "thread", None):
                key = f"{drive}:{memory.pk}:{day.isoformat()}:after"
                yield Occasion(drive=drive, key=key, about=memory, days=days, weight=weight)


def _get_days(memory: Memory, zone: tzinfo) -> list[date]:
    """Return the due day of the memory's thread; else the day on which it happens, if that lay ahead when it was
    learnt; else the days ahead of it that its text names.
    """
    thread = getattr(memory, "thread", None)
    if thread and thread.due_on:
        return [thread.due_on]
    happens_on = memory.happened_at.astimezone(zone).date()
    if happens_on > memory.learnt_at.astimezone(zone).date():
        return [happens_on]
    return find_days_ahead(memory.text, happens_on)


def find_birthdays(memories: Iterable[Memory], today: date, zone: tzinfo) -> Iterator[Occasion]:
    """Yield the birthdays that are today in the Gregorian calendar."""
    for memory in memories:
        said_on = memory.happened_at.astimezone(zone).date()
        days = [
            day
            for sentence in split_sentences(memory.text)
            if _BIRTHDAY.search(sentence) and not NO_SOLAR_BIRTHDAY.search(sentence)
            for day in find_days(sentence, said_on)
        ]
        if any(in_year(day.month, day.day, today.year) == today for day in days):
            key = f"{Drive.BIRTHDAY}:{memory.pk}:{today.year}"
            weight = BIRTHDAY_WEIGHT + memory.importance
            yield Occasion(drive=Drive.BIRTHDAY, key=key, about=memory, days=0, weight=weight)


def find_silence(companion: Companion, outreach: Outreach, now: datetime) -> Iterator[Occasion]:
    """Yield a silence of 3, 7 or 21 days, unless every recent unprompted message is unanswered.

    Days on which Kith was off, as timers that missed some show, are not the person's silence: it begins after them.
    """
    if outreach.said_at is None or now - outreach.said_at < SILENCE_DAYS[-1] * DAY:
        return
    if outreach.unprompted and len(outreach.unanswered) == len(outreach.unprompted):
        return
    was_off = Waking.objects.filter(companion=companion, missed_since__lt=F("created_at") - DAY)
    back_at = was_off.aggregate(at=Max("created_at"))["at"]
    silent = now - max(outreach.said_at, back_at or outreach.said_at)
    reached = next((days for days in SILENCE_DAYS if silent.days >= days), None)
    if reached:
        key = f"{Drive.LONG_SILENCE}:{outreach.said_at.isoformat()}:{reached}"
        days = (now - outreach.said_at).days
        yield Occasion(drive=Drive.LONG_SILENCE, key=key, weight=SILENCE_WEIGHT, silent_days=days)


def find_resting_goals(goals: Iterable[Pursuit], now: datetime) -> Iterator[Occasion]:
    """Yield exciting ideas that were not reviewed for a week, and goals under way without progress for two weeks.

    The key contains the time of the last review or progress, so that each rest is one occasion.
    """
    for goal in goals:
        memory = goal.memory
        if memory.kind == Memory.Kind.IDEA:
            drive, weight = Drive.IDEA, goal.excitement
            since, is_resting = goal.reviewed_at or memory.learnt_at, goal.excitement >= MIN_EXCITEMENT
        else:
            drive, weight = Drive.GOAL, memory.importance
            since, is_resting = goal.moved_at or memory.learnt_at, goal.status == Pursuit.Status.UNDER_WAY
        if is_resting and now - since >= (UNSEEN_FOR if drive == Drive.IDEA else STILL_FOR):
            key = f"{drive}:{memory.pk}:{since:%Y-%m-%dT%H:%M}"
            yield Occasion(drive=drive, key=key, about=memory, weight=weight)


# -- wakings made from occasions


def claim_companions(now: datetime, limit: int) -> list[UUID]:
    """Lease at most `limit` companions that are due for a look, and return their ids."""
    return fetch_ids(CLAIM, {"now": now, "until": now + LEASE_TIME, "limit": limit})


@transaction.atomic
def make_waking(companion_id: UUID, now: datetime) -> UUID | None:
    """Create a waking for the first occasion in order and return its id; None if there is none, or it may not wake."""
    companion = hold(companion_id)
    if companion is None:
        return None
    Life.objects.filter(companion=companion).update(drives_at=_get_next_look(companion.life, now))
    outreach = load_outreach(companion)
    drives = _find_allowed_drives(companion.life, outreach, now)
    occasion = _find_new_occasion(companion, outreach, drives, now) if drives else None
    if occasion is None:
        return None
    with companion.user.use_language():
        note = occasion.write_note()
    waking = Waking.objects.create(
        companion=companion,
        origin=Waking.Origin.DRIVE,
        due_at=now,
        drive=occasion.drive,
        drive_key=occasion.key,
        about=occasion.about,
        note=note,
        look_at=now,
        created_at=now,
    )
    return waking.pk


def _find_allowed_drives(life: Life, outreach: Outreach, now: datetime) -> set[Drive]:
    """Return the drives for which the companion may write first now.

    There are none while the companion sleeps, soon after a talk, and once its wakings by drives are used up: those of a
    day, or, but for a birthday, of a week.
    """
    local = now.astimezone(life.companion.user.zone)
    if not life.is_awake or is_within(life.sleeps_from, life.sleeps_until, local.time()):
        return set()
    if outreach.said_at and now - outreach.said_at < REST_AFTER_TALK:
        return set()
    refusal = find_outreach_refusal(life, outreach, now)
    drives = set() if refusal else set(Drive)
    if refusal == "unanswered":  # what has its day need not wait for an answer as long
        drives = {drive for drive in DATED if not find_outreach_refusal(life, outreach, now, drive)}
    if not drives:
        return set()
    mine = Waking.objects.filter(companion=life.companion_id, origin=Waking.Origin.DRIVE)
    times = list(mine.filter(created_at__gt=local - timedelta(weeks=1)).values_list("created_at", flat=True))
    if sum(at >= get_midnight(local) for at in times) >= MAX_A_DAY:
        return set()
    return drives if len(times) < MAX_A_WEEK else drives & {Drive.BIRTHDAY}  # which comes once a year


def _get_next_look(life: Life, now: datetime) -> datetime:
    """Return when to look next: in six hours, or when the quiet hours and sleep end, spread over some minutes by id."""
    spans = [(life.quiet_from, life.quiet_until), (life.sleeps_from, life.sleeps_until)]
    local = now.astimezone(life.companion.user.zone)
    is_night = any(is_within(*span, local.time()) for span in spans)
    at = local if is_night else local + LOOK_INTERVAL
    for start, end in spans * 2:  # twice, since the end of one may lie within the other
        at = get_next_time(end, at) if is_within(start, end, at.time()) else at
    return at + timedelta(seconds=life.companion_id.int % SPREAD_SECONDS)


def _find_new_occasion(
    companion: Companion, outreach: Outreach, drives: Collection[Drive], now: datetime
) -> Occasion | None:
    """Return the first occasion of these drives for which the companion has not woken yet, or None."""
    occasions = _find_occasions(companion, outreach, drives, now)
    found = sorted(occasions, key=lambda occasion: occasion.order)
    mine = Waking.objects.filter(companion=companion, drive_key__in=[occasion.key for occasion in found])
    known = set(mine.values_list("drive_key", flat=True))
    return next((occasion for occasion in found if occasion.key not in known), None)


def _find_occasions(
    companion: Companion, outreach: Outreach, drives: Collection[Drive], now: datetime
) -> Iterator[Occasion]:
    """Yield the occasions of these drives; what can give none of them is not searched.

    The drives are all, those of DATED, or only birthdays; so promises go with events, and ideas and silence with goals.
    """
    zone = companion.user.zone
    today = now.astimezone(zone).date()
    mine = _load_memories(companion)
    if Drive.EVENT in drives:
        yield from find_due_memories(_load_dated(companion, mine, now), today, zone)
    if Drive.BIRTHDAY in drives:
        # The person's own messages count too, as nothing may have been learnt from the latest yet.
        learnt = mine.exclude(kind__in=NOT_LEARNT).filter(text__iregex=BIRTHDAY_WORDS)
        said = mine.filter(kind=Memory.Kind.SAID, speaker=Memory.Speaker.USER)
        birthdays = [*learnt.newest(MAX_MEMORIES), *said.newest(MAX_MEMORIES)]
        yield from find_birthdays(birthdays, today, zone)
    if Drive.GOAL in drives:
        goals = Pursuit.objects.filter(companion=companion, memory__in=mine.values("pk"))
        goals = goals.filter(status__in=[Pursuit.Status.NEW, Pursuit.Status.UNDER_WAY])
        yield from find_resting_goals(goals.select_related("memory").order_by("pk")[:MAX_MEMORIES], now)
        yield from find_silence(companion, outreach, now)


def _load_dated(companion: Companion, mine: MemoryQuerySet, now: datetime) -> list[Memory]:
    """Return those of the companion's memories that may have a coming day and whose end is not told."""
    happens = Q(kind__in=[Memory.Kind.PROMISE, Memory.Kind.EVENT])
    feared = Q(kind=Memory.Kind.FACT, text__iregex=FEARED_WORDS)
    due = Q(thread__state=Thread.State.OPEN, thread__due_on__isnull=False)
    ended = Q(thread__state__in=[Thread.State.SETTLED, Thread.State.DROPPED])
    dated = mine.filter(due | Q(happens | feared, happened_at__gt=now - DATED_WINDOW)).exclude(ended)
    return _leave_out_told(companion, dated.select_related("thread").newest(MAX_MEMORIES))


def _leave_out_told(companion: Companion, memories: Iterable[Memory]) -> list[Memory]:
    """Return the memories except those whose thread the person has reported settled in messages not yet learnt from.

    Runs one query.
    """
    found = list(memories)
    said = Message.objects.filter(
        companion=companion, role=Message.Role.USER, is_learnt=False, is_hidden=False
    )
    told = list(said.order_by("-said_at").values_list("text", "said_at")[:DIGEST_MESSAGES])
    threads = [memory.thread for memory in found if hasattr(memory, "thread")]
    left = {
        thread.memory_id for thread in leave_out_told(threads, told, companion.names, companion.user.zone)
    }
    return [memory for memory in found if memory.pk in left or not hasattr(memory, "thread")]


def _load_memories(companion: Companion) -> MemoryQuerySet:
    """Return the companion's open memories that a model may be told of."""
    hidden = Memory.sources.through.objects.filter(memory=OuterRef("pk"), message__is_hidden=True)
    mine = Memory.objects.of(companion.pk).open().filter(is_private=False, is_stale=False)
    return mine.exclude(message__is_hidden=True).exclude(Exists(hidden)).defer("entry", "quotes")
