"""What moves a companion by itself: looked for in rows, without a model; at most one waking comes of a look.

Only where its person lets it write first, and at a time when it might: else nothing is looked for.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import translation

from companions.life import occasions
from companions.life.eligibility import (
    Outreach,
    find_outreach_refusal,
    get_midnight,
    get_next_time,
    is_within,
    load_outreach,
)
from companions.life.occasions import Occasion
from companions.locks import hold
from companions.models import Companion, Life, Waking
from memory.models import Memory, Pursuit
from memory.models.memory import MemoryQuerySet

CLAIMED_AT_ONCE = 200
LOOK_INTERVAL = timedelta(hours=6)
LEASE_TIME = timedelta(minutes=10)  # then another looks in the place of whoever has died
SPREAD_SECONDS = 1200
MAX_A_DAY, MAX_A_WEEK = 1, 3
DATED_WINDOW = timedelta(days=366)  # nobody speaks of a day that is further off
MAX_MEMORIES = 500
# One statement: the ORM cannot give back what an update has changed.
CLAIM = """
UPDATE companions_life SET drives_at = %(until)s WHERE companion_id IN (
    SELECT companion_id FROM companions_life
     WHERE is_awake AND reaches_out AND NOT is_muted AND (drives_at IS NULL OR drives_at <= %(now)s)
     ORDER BY drives_at NULLS FIRST LIMIT %(limit)s FOR UPDATE SKIP LOCKED)
RETURNING companion_id
"""
NOT_LEARNT = (Memory.Kind.SAID, Memory.Kind.DIARY, Memory.Kind.GIST, Memory.Kind.INSIGHT)


def claim_companions(now: datetime, limit: int) -> list[UUID]:
    """Return companions for which to look, the longest due first: for some minutes nobody else claims them."""
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, {"now": now, "until": now + LEASE_TIME, "limit": limit})
        return [id for (id,) in cursor.fetchall()]


@transaction.atomic
def make_waking(companion_id: UUID, now: datetime) -> UUID | None:
    """Return the waking of the nearest and weightiest occasion; None where there is none, or no leave to write."""
    companion = hold(companion_id)
    if companion is None:
        return None
    Life.objects.filter(companion=companion).update(drives_at=_get_next_look(companion.life, now))
    outreach = load_outreach(companion)
    if not _may_wake(companion.life, outreach, now):
        return None
    occasion = _find_new_occasion(companion, outreach, now)
    if occasion is None:
        return None
    with translation.override(companion.user.language or "en"):
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


def _may_wake(life: Life, outreach: Outreach, now: datetime) -> bool:
    """Return whether it might write now, and has not woken for a drive too often."""
    local = now.astimezone(life.companion.user.zone)
    if not life.is_awake or is_within(life.sleeps_from, life.sleeps_until, local.time()):
        return False
    if find_outreach_refusal(life, outreach, now):
        return False
    mine = Waking.objects.filter(companion=life.companion_id, origin=Waking.Origin.DRIVE)
    times = list(mine.filter(created_at__gt=local - timedelta(weeks=1)).values_list("created_at", flat=True))
    return len(times) < MAX_A_WEEK and sum(at >= get_midnight(local) for at in times) < MAX_A_DAY


def _get_next_look(life: Life, now: datetime) -> datetime:
    """Return when to look next: in six hours, or as soon as it may write again, each companion some minutes apart."""
    spans = [(life.quiet_from, life.quiet_until), (life.sleeps_from, life.sleeps_until)]
    local = now.astimezone(life.companion.user.zone)
    is_night = any(is_within(*span, local.time()) for span in spans)
    at = local if is_night else local + LOOK_INTERVAL
    for start, end in spans * 2:
        at = get_next_time(end, at) if is_within(start, end, at.time()) else at
    return at + timedelta(seconds=life.companion_id.int % SPREAD_SECONDS)


def _find_new_occasion(companion: Companion, outreach: Outreach, now: datetime) -> Occasion | None:
    """Return the first occasion for which it has not woken yet."""
    found = sorted(_find_occasions(companion, outreach, now), key=lambda occasion: occasion.order)
    mine = Waking.objects.filter(companion=companion, drive_key__in=[occasion.key for occasion in found])
    known = set(mine.values_list("drive_key", flat=True)) if found else set()
    return next((occasion for occasion in found if occasion.key not in known), None)


def _find_occasions(companion: Companion, outreach: Outreach, now: datetime) -> Iterator[Occasion]:
    zone = companion.user.zone
    today = now.astimezone(zone).date()
    mine = _load_memories(companion)
    happens = Q(kind__in=[Memory.Kind.PROMISE, Memory.Kind.EVENT])
    feared = Q(kind=Memory.Kind.FACT, text__iregex=occasions.FEARED_WORDS)
    dated = mine.filter(happens | feared, happened_at__gt=now - DATED_WINDOW)
    yield from occasions.find_due_memories(dated.newest(MAX_MEMORIES), today, zone)
    # What the person said lately counts too: of that Kith may have learnt nothing yet.
    learnt = mine.exclude(kind__in=NOT_LEARNT).filter(text__iregex=occasions.BIRTHDAY_WORDS)
    said = mine.filter(kind=Memory.Kind.SAID, speaker=Memory.Speaker.USER)
    birthdays = [*learnt.newest(MAX_MEMORIES), *said.newest(MAX_MEMORIES)]
    yield from occasions.find_birthdays(birthdays, today, zone)
    goals = Pursuit.objects.filter(companion=companion, memory__in=mine.values("pk"))
    goals = goals.filter(status__in=[Pursuit.Status.NEW, Pursuit.Status.UNDER_WAY])
    yield from occasions.find_resting_goals(goals.select_related("memory").order_by("pk")[:MAX_MEMORIES], now)
    yield from occasions.find_silence(outreach, now)


def _load_memories(companion: Companion) -> MemoryQuerySet:
    """Return what holds, and may be told to a model."""
    hidden = Memory.sources.through.objects.filter(memory=OuterRef("pk"), message__is_hidden=True)
    mine = Memory.objects.of(companion.pk).open().filter(is_private=False, is_stale=False)
    return mine.exclude(message__is_hidden=True).exclude(Exists(hidden)).defer("entry", "quotes")
