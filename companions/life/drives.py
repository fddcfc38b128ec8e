"""What moves a companion by itself: looked for in rows, without a model; at most one waking comes of a look.

Only where its person lets it write first, and at a time when it might: else nothing is looked for.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import translation

from companions.life import occasions
from companions.life.consent import Past, past, unprompted_refusal
from companions.life.drive import Occasion
from companions.life.hours import next_time, within
from companions.locking import hold
from companions.models import Companion, Life, Waking
from memory.models import Memory, Pursuit
from memory.models.memory import MemoryQuerySet

CLAIMED_AT_ONCE = 200
EVERY = timedelta(hours=6)
LEASE = timedelta(minutes=10)  # then another looks in the place of whoever has died
SPREAD_SECONDS = 1200
MOST_A_DAY, MOST_A_WEEK = 1, 3
AHEAD = timedelta(days=366)  # nobody speaks of a day that is further off
MOST_MEMORIES = 500
NOT_LEARNT = (Memory.Kind.SAID, Memory.Kind.DIARY, Memory.Kind.GIST, Memory.Kind.INSIGHT)
CLAIM = """
UPDATE companions_life SET drives_at = %(until)s WHERE companion_id IN (
    SELECT companion_id FROM companions_life
     WHERE is_awake AND reaches_out AND NOT is_muted AND (drives_at IS NULL OR drives_at <= %(now)s)
     ORDER BY drives_at NULLS FIRST LIMIT %(most)s FOR UPDATE SKIP LOCKED)
RETURNING companion_id
"""


def claim(now: datetime, most: int) -> list[UUID]:
    """At most so many companions for which to look, the longest due first: for some minutes nobody else claims them."""
    named: dict[str, Any] = {"now": now, "until": now + LEASE, "most": most}
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, named)
        return [id for (id,) in cursor.fetchall()]


@transaction.atomic
def seek(companion_id: UUID, now: datetime) -> UUID | None:
    """The waking that comes of it, of the nearest and weightiest occasion; None where there is none, or no leave."""
    companion = hold(companion_id)
    if companion is None:
        return None
    life = companion.life
    Life.objects.filter(companion=companion).update(drives_at=_next_look(life, now))
    before = past(companion)
    if not _may_wake(life, before, now):
        return None
    found = _first_new(companion, sorted(_occasions(companion, before, now), key=lambda one: one.order))
    return _waking(companion, found, now) if found else None


def _may_wake(life: Life, before: Past, now: datetime) -> bool:
    """Whether it might write now, and has not woken for a drive too often."""
    local = now.astimezone(life.companion.user.zone)
    if not life.is_awake or within(life.sleeps_from, life.sleeps_until, local.time()):
        return False
    return unprompted_refusal(life, before, now) is None and not _is_spent(life, local)


def _is_spent(life: Life, local: datetime) -> bool:
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    mine = Waking.objects.filter(companion=life.companion_id, origin=Waking.Origin.DRIVE)
    times = list(mine.filter(created_at__gt=local - timedelta(weeks=1)).values_list("created_at", flat=True))
    return len(times) >= MOST_A_WEEK or sum(at >= midnight for at in times) >= MOST_A_DAY


def _next_look(life: Life, now: datetime) -> datetime:
    """In six hours, or as soon as it may write again; each companion some minutes apart from the others."""
    spans = [(life.quiet_from, life.quiet_until), (life.sleeps_from, life.sleeps_until)]
    local = now.astimezone(life.companion.user.zone)
    is_night = any(within(*span, local.time()) for span in spans)
    at = local if is_night else local + EVERY
    for start, end in spans * 2:
        at = next_time(end, at) if within(start, end, at.time()) else at
    return at + timedelta(seconds=life.companion_id.int % SPREAD_SECONDS)


def _occasions(companion: Companion, before: Past, now: datetime) -> list[Occasion]:
    zone = companion.user.zone
    today = now.astimezone(zone).date()
    return [
        *occasions.of_memories(_dated(companion, now), today, zone),
        *occasions.of_birthdays(_birthdays(companion), today, zone),
        *occasions.of_pursuits(_pursuits(companion), now),
        *occasions.of_silence(before, now),
    ]


def _told(companion: Companion) -> MemoryQuerySet:
    """What holds, and may be told to a model."""
    hidden = Memory.sources.through.objects.filter(memory=OuterRef("pk"), message__is_hidden=True)
    mine = Memory.objects.of(companion.pk).open().filter(is_private=False, is_stale=False)
    return mine.exclude(message__is_hidden=True).exclude(Exists(hidden)).defer("entry", "quotes")


def _dated(companion: Companion, now: datetime) -> MemoryQuerySet:
    """Promises and what happens, and of facts those that tell of something to tremble for."""
    happens = Q(kind__in=[Memory.Kind.PROMISE, Memory.Kind.EVENT])
    facts = Q(kind=Memory.Kind.FACT, text__iregex=occasions.TREMBLED_FOR)
    told = _told(companion).filter(happens | facts, happened_at__gt=now - AHEAD)
    return told.newest(MOST_MEMORIES)


def _birthdays(companion: Companion) -> list[Memory]:
    """What was learnt of birthdays, and what the person said lately: of that Kith may have learnt nothing yet."""
    said = _told(companion).filter(kind=Memory.Kind.SAID, speaker=Memory.Speaker.USER).newest(MOST_MEMORIES)
    learnt = _told(companion).exclude(kind__in=NOT_LEARNT).filter(text__iregex=occasions.BIRTHDAYS)
    return [*learnt.newest(MOST_MEMORIES), *said]


def _pursuits(companion: Companion) -> Sequence[Pursuit]:
    mine = Pursuit.objects.filter(companion=companion, memory__in=_told(companion).values("pk"))
    open_ones = mine.filter(status__in=[Pursuit.Status.NEW, Pursuit.Status.UNDER_WAY])
    return list(open_ones.select_related("memory").order_by("pk")[:MOST_MEMORIES])


def _first_new(companion: Companion, found: Sequence[Occasion]) -> Occasion | None:
    """The first for which it has not woken yet."""
    if not found:
        return None
    mine = Waking.objects.filter(companion=companion, drive_key__in=[one.key for one in found])
    known = set(mine.values_list("drive_key", flat=True))
    return next((one for one in found if one.key not in known), None)


def _waking(companion: Companion, occasion: Occasion, now: datetime) -> UUID:
    with translation.override(companion.user.language or "en"):
        note = occasion.note()
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
