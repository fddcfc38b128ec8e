"""Writing a diary entry anew, of which something was deleted: from what is left of its session, as at its end."""

from datetime import datetime
from functools import partial
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import F

from accounts.usage import waits_until
from companions.access import hold
from companions.deletion import forget_many
from companions.models import Companion, Session
from companions.sessions.drafts import Draft, Material, draft, mark
from companions.sessions.transcript import said, told
from jobs.lease import MAX_ATTEMPTS, Clock, Lease, Step, note_failures, nothing, retry_at
from memory.learning.diary import rewrite
from memory.learning.neighbours import known_to
from memory.models import DiaryEntry

log = structlog.get_logger(__name__)

BATCH = 200
MOST_DRAFTS = 3


def due(now: datetime, most: int = BATCH) -> list[UUID]:
    """The entries that anybody may write anew now."""
    stale = DiaryEntry.objects.filter(is_stale=True, next_at__lte=now).order_by("next_at")
    return list(stale.values_list("pk", flat=True)[:most])


def run(entry_id: UUID, now: datetime, step: Step = nothing, clock: Clock | None = None) -> None:
    """Write the entry anew, if it is due. What goes wrong is note_failures, and it is tried again later.

    `now` is the time of what is written; leases and waits count from what the clock says then, else from `now`.
    """
    row = DiaryEntry.objects.filter(pk=entry_id, is_stale=True)
    lease = Lease.take(row.filter(next_at__isnull=False), "next_at", clock or (lambda: now))
    if lease is None:
        return
    step("claimed")
    with note_failures(partial(_note_failure, entry_id, lease)):
        for _try in range(MOST_DRAFTS):
            if _is_written(entry_id, lease, now, step):
                return
        lease.release(retry_at(1, lease.clock()))


def _is_written(entry_id: UUID, lease: Lease, now: datetime, step: Step) -> bool:
    """Whether nothing is left to write now, also as others are at it or tokens are out; False where the talk changed."""
    entry = DiaryEntry.objects.select_related("companion__user").filter(pk=entry_id, is_stale=True).first()
    if entry is None:
        return True
    material = _gather(entry.companion, entry.session_id)
    if not material.is_worth_telling:
        return _let_go(entry, material, now)
    step("gathered")
    if not lease.renew():
        return True
    if tomorrow := waits_until(entry.companion.user, lease.clock()):
        lease.release(tomorrow)
        return True
    made = draft(material, now)
    step("asked")
    return _keep(entry, material, made, now)


def _gather(companion: Companion, session_id: UUID) -> Material:
    """What is left of the session; what is thought of oneself and of the user is no matter of an old one."""
    session = Session.objects.get(companion=companion, pk=session_id)
    return Material(companion, session, list(told(said(session))), None, None)


@transaction.atomic
def _keep(entry: DiaryEntry, seen: Material, made: Draft, now: datetime) -> bool:
    """Whether everything that the model saw is still there; then the entry says what it made of it."""
    companion = hold(entry.companion_id)
    mine = DiaryEntry.objects.filter(companion_id=entry.companion_id)
    there = mine.filter(pk=entry.pk, is_stale=True).first()
    if companion is None or there is None:
        return True
    known = known_to(companion.pk).filter(pk__in=[one.split()[0] for one in made.known])
    if _gather(companion, there.session_id).seen != seen.seen or {*made.known} != {
        mark(one) for one in known
    }:
        return False
    told_of = set(made.lines)
    earlier = [one for one in there.sentences if one["sources"] and not told_of & {*map(str, one["sources"])}]
    rewrite(
        there,
        now,
        title=made.title,
        sentences=[*earlier, *made.diary],
        emotion=made.emotion,
        intensity=made.intensity,
        call_id=made.call_id,
        is_stale=False,
        next_at=None,
        attempts=0,
    )
    Session.objects.filter(pk=there.session_id).update(title=made.title)
    return True


@transaction.atomic
def _let_go(entry: DiaryEntry, seen: Material, now: datetime) -> bool:
    """Whether nothing is left that may be told; the entry is gone then, with the memory that mirrors it."""
    companion = hold(entry.companion_id)
    if companion and _gather(companion, entry.session_id).seen != seen.seen:
        return False
    forget_many(entry.companion_id, [entry.memory_id] if entry.memory_id else [], now)
    DiaryEntry.objects.filter(companion_id=entry.companion_id, pk=entry.pk).delete()
    return True


def _note_failure(entry_id: UUID, lease: Lease, code: str) -> None:
    """Count the try; after the last one the operator is told, and what is left of the entry stands."""
    mine = DiaryEntry.objects.filter(pk=entry_id, is_stale=True, next_at=lease.until)
    mine.update(attempts=F("attempts") + 1)
    entry = mine.first()
    if entry is None:
        return
    is_last = entry.attempts >= MAX_ATTEMPTS
    lease.release(None if is_last else retry_at(entry.attempts, lease.clock()))
    if is_last:
        log.error(
            "diary_not_written_anew", entry_id=str(entry_id), companion_id=str(entry.companion_id), code=code
        )
