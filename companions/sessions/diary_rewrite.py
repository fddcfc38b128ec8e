"""Rewriting of diary entries of which something was deleted, from what is left of the session."""

from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import cast
from uuid import UUID

import structlog
from django.db import transaction

from accounts.limits.usage import waits_until
from companions.deletion import forget_many
from companions.models import Companion, Session
from companions.models.companion import hold
from companions.sessions.drafts import DiaryDraft, Drafts, Material, find_entry_before, fingerprint_diary
from companions.sessions.parts import draft_diary, draft_verification, keep_verified
from companions.sessions.transcript import find_names, select_messages, select_visible
from jobs.lease import MAX_ATTEMPTS, Clock, Lease, count_attempt, note_failures, retry_at
from memory.learning.diary import Written, drop_forgotten, rewrite
from memory.models import DiaryEntry
from providers.errors import OUTAGES

log = structlog.get_logger(__name__)

BATCH = 200
MAX_DRAFTS = 3


def find_due(now: datetime) -> list[UUID]:
    """Return the ids of stale entries whose rewriting is due and not leased by a worker."""
    stale = DiaryEntry.objects.filter(is_stale=True, next_at__lte=now).order_by("next_at")
    return list(stale.values_list("pk", flat=True)[:BATCH])


def run(entry_id: UUID, clock: Clock) -> None:
    """Rewrite the entry, if it is due. A failure is counted, and the rewriting is retried later."""
    now = clock()
    row = DiaryEntry.objects.filter(pk=entry_id, is_stale=True, next_at__isnull=False)
    lease = Lease.take(row, "next_at", clock)
    if lease is None:
        return
    with note_failures(lease, partial(_note_failure, lease)):
        for _draft in range(MAX_DRAFTS):
            if _write(entry_id, lease, now):
                return
        lease.release(retry_at(1, lease.clock()))


def _write(entry_id: UUID, lease: Lease, now: datetime) -> bool:
    """Rewrite the entry once, or delete it if nothing is worth telling; return False if the session changed meanwhile.

    Return True as well if the entry or the lease is gone, or there are no tokens left today.
    """
    entry = DiaryEntry.objects.select_related("companion__user").filter(pk=entry_id, is_stale=True).first()
    if entry is None:
        return True
    material = _gather(entry.companion, entry.session_id)
    if not material.is_worth_telling:
        return _delete(entry, material, now)
    if not lease.renew():
        return True
    if tomorrow := waits_until(entry.companion.user, lease.clock()):
        lease.release(tomorrow)
        return True
    return _keep(entry, _draft(material, now), now)


def _draft(material: Material, now: datetime) -> DiaryDraft:
    """Return a new draft of the diary with the sentences that pass verification."""
    drafts = Drafts(diary=draft_diary(material))
    while drafts.verification is None or not drafts.verification.is_whole:
        drafts = replace(drafts, verification=draft_verification(material, drafts, now))
    return keep_verified(cast(DiaryDraft, drafts.diary), drafts.words)


def _gather(companion: Companion, session_id: UUID) -> Material:
    """Return what is left of the session, without self-concept and profile: an old session does not change them."""
    session = Session.objects.get(companion=companion, pk=session_id)
    messages = list(select_visible(select_messages(session)))
    return Material(
        companion,
        session,
        messages,
        names=find_names(companion),
        before=find_entry_before(companion, session),
    )


@transaction.atomic
def _keep(entry: DiaryEntry, draft: DiaryDraft, now: datetime) -> bool:
    """Save the draft, without what was forgotten, to the entry, after those of its sentences that come from other
    messages than the draft's. Delete the entry if nothing is left.

    Return False, with nothing saved, if something that the model saw has changed; True if the entry is gone.
    """
    companion = hold(entry.companion_id)
    there = DiaryEntry.objects.filter(companion=companion, pk=entry.pk, is_stale=True).first()
    if companion is None or there is None:
        return True
    if not draft.holds(_gather(companion, there.session_id)):
        return False
    shown = set(draft.lines)
    earlier = [
        sentence
        for sentence in there.sentences
        if sentence["sources"] and not shown & {*map(str, sentence["sources"])}
    ]
    written = Written(
        title=draft.title,
        diary=draft.diary,
        emotion=draft.emotion,
        intensity=draft.intensity,
        self_concept=[],
        user_profile=[],
        call_id=draft.call_id,
    )
    written = drop_forgotten(companion.pk, written)
    if not (earlier or written.diary):
        return _drop(there, now)
    rewrite(
        there,
        now,
        title=written.title,
        sentences=[*earlier, *written.diary],
        emotion=draft.emotion,
        intensity=draft.intensity,
        call_id=draft.call_id,
        is_stale=False,
        next_at=None,
        attempts=0,
    )
    Session.objects.filter(pk=there.session_id).update(title=written.title)
    return True


@transaction.atomic
def _delete(entry: DiaryEntry, seen: Material, now: datetime) -> bool:
    """Delete the entry and its memory; return False, and delete nothing, if the session has changed meanwhile."""
    companion = hold(entry.companion_id)
    if companion and fingerprint_diary(_gather(companion, entry.session_id)) != fingerprint_diary(seen):
        return False
    return _drop(entry, now)


def _drop(entry: DiaryEntry, now: datetime) -> bool:
    """Delete the entry and its memory; return True. Call it with the companion locked."""
    forget_many(entry.companion_id, [entry.memory_id] if entry.memory_id else [], now)
    DiaryEntry.objects.filter(companion_id=entry.companion_id, pk=entry.pk).delete()
    return True


def _note_failure(lease: Lease, code: str) -> None:
    """Count the failure and schedule a retry; after the last attempt, log an error and leave the entry as it is."""
    entry = lease.held_row.first()
    if entry is None:
        return
    attempts = count_attempt(entry.attempts, is_outage=code in OUTAGES)
    is_last = attempts >= MAX_ATTEMPTS
    lease.release(None if is_last else retry_at(attempts, lease.clock()), attempts=attempts)
    if is_last:
        log.error(
            "diary_not_written_anew", entry_id=str(entry.pk), companion_id=str(entry.companion_id), code=code
        )
