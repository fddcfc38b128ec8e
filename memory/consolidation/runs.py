"""A consolidation run on one companion: claimed, asked, written in one transaction. Killed anywhere, it is done again."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID
from zlib import crc32

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import F

from accounts.models import ModelCall
from accounts.usage import Payer, charged, waits_until
from jobs.lease import MAX_ATTEMPTS, RETRY_DELAY, Lease, note_failures, retry_at
from memory.consolidation.candidates import Answer, Candidates, find_candidates, render_request, system_prompt
from memory.consolidation.changes import Draft, apply_answer, load_parted
from memory.learning.neighbours import known_to
from memory.models import Consolidation, Memory, Pursuit
from providers.chat.structured import ask
from providers.selection import Capability, get_provider
from providers.tokens import estimate

log = structlog.get_logger(__name__)

MAX_DRAFTS = 3  # in one go: whoever corrects and deletes meanwhile need not be outrun
BATCH = 200
LATE = timedelta(hours=1)  # what is learnt bears the time at which its learning began
BETWEEN_TOKENS = 50  # roles and blocks

Lock = Callable[[UUID], bool]


def find_due(now: datetime, most: int = BATCH) -> list[tuple[UUID, UUID]]:
    """Return the runs that anybody may work on now, each as the ids of its companion and its own."""
    waiting = Consolidation.objects.filter(state=Consolidation.State.WAITING, next_at__lte=now)
    return list(waiting.order_by("next_at").values_list("companion_id", "pk")[:most])


def consolidate(companion_id: UUID, run_id: UUID, now: datetime, lock: Lock) -> None:
    """Do the run's work if it is due: one model call at most, none where there is nothing to ask about.

    What goes wrong is written down, and tried again later, eight times. `lock` locks a companion and tells whether it is
    there; no transaction is open while the model thinks.
    """
    mine = Consolidation.objects.filter(
        companion_id=companion_id, state=Consolidation.State.WAITING, pk=run_id
    )
    lease = Lease.take(mine, "next_at", lambda: now)
    if lease is None:
        return
    with note_failures(lease, partial(_put_off, companion_id, lease)):
        if later := _draft_and_write(companion_id, run_id, now, lock):
            lease.release(later)


def _draft_and_write(companion_id: UUID, run_id: UUID, now: datetime, lock: Lock) -> datetime | None:
    """Return when it is to be gone on with; None where it is done, or gone."""
    for _try in range(MAX_DRAFTS):
        mine = Consolidation.objects.filter(companion_id=companion_id).select_related("companion__user")
        run = mine.filter(pk=run_id, state=Consolidation.State.WAITING).first()
        if run is None:
            return None
        found = load_candidates(run)
        if found and (tomorrow := waits_until(run.companion.user, now)):
            return tomorrow
        marks = _mark(found.memories, found.goals)
        answer, call_id = _ask(run, found) if found else (None, None)
        if _write(run, found, marks, answer, call_id, now, lock):
            return None
    return now + RETRY_DELAY


def load_candidates(run: Consolidation) -> Candidates:
    """Return what the run is to look at: what has changed since the last one first."""
    earlier = Consolidation.objects.filter(companion_id=run.companion_id, state=Consolidation.State.DONE)
    last = earlier.order_by("-night_of").first()
    since = last.asked_at - LATE if last else None
    context = get_provider(Capability.BACKGROUND).context_tokens
    room = context - max(settings.ANSWER_TOKENS, context // 4) - estimate(system_prompt()) - BETWEEN_TOKENS
    companion = run.companion
    return find_candidates(companion.pk, since, zone=companion.user.zone, room=room, names=companion.names)


def _ask(run: Consolidation, found: Candidates) -> tuple[Answer, int | None]:
    """Return the model's answer about what was found, and the call's id."""
    request = render_request(found.memories, found.goals, run.companion.user.zone)
    with charged(Payer(run.companion.user_id, run.companion_id), ModelCall.Purpose.CONSOLIDATION) as charge:
        answer = ask("night", request, Answer)
    return answer, charge.calls[-1].pk if charge.calls else None


@transaction.atomic
def _write(
    run: Consolidation,
    found: Candidates,
    marks: list[Any],
    answer: Answer | None,
    call_id: int | None,
    now: datetime,
    lock: Lock,
) -> bool:
    """Return whether all is done; False where something that the model saw has changed meanwhile: then nothing is."""
    if not lock(run.companion_id):
        return True
    mine = Consolidation.objects.filter(companion_id=run.companion_id, state=Consolidation.State.WAITING)
    held = mine.select_for_update().filter(pk=run.pk).first()
    if held is None:
        return True
    memories, goals = _reload(run.companion_id, found)
    if _mark(memories, goals) != marks:
        return False
    if answer:
        draft = Draft(
            run=held,
            memories=memories,
            goals=goals,
            pairs=found.pairs,
            now=now,
            zone=run.companion.user.zone,
            names=run.companion.names,
            call_id=call_id,
            parted=load_parted(run.companion_id),
        )
        apply_answer(draft, answer)
    held.state, held.ended_at, held.call_id, held.error = Consolidation.State.DONE, now, call_id, ""
    held.save(update_fields=["state", "ended_at", "call", "error"])
    return True


def _reload(companion_id: UUID, found: Candidates) -> tuple[list[Memory], list[Pursuit]]:
    """Return what was seen, locked and read anew, in its order; without what is gone, closed or private."""
    wanted = {memory.pk for memory in found.memories} | {goal.memory_id for goal in found.goals}
    rows = known_to(companion_id).filter(pk__in=wanted).order_by("pk").select_for_update(no_key=True)
    there = {memory.pk: memory for memory in rows}
    mine = Pursuit.objects.filter(companion_id=companion_id, memory__in=there).select_related("memory")
    pursued = mine.in_bulk([goal.pk for goal in found.goals])
    memories = [there[memory.pk] for memory in found.memories if memory.pk in there]
    return memories, [pursued[goal.pk] for goal in found.goals if goal.pk in pursued]


def _mark(memories: Sequence[Memory], goals: Sequence[Pursuit]) -> list[Any]:
    """Return what is to stay as it is while a model thinks about it."""
    return [
        *(
            (memory.pk, memory.kind, memory.edited_at, memory.evidence, crc32(memory.text.encode()))
            for memory in memories
        ),
        *(
            (goal.pk, goal.status, goal.progress, goal.excitement, crc32(goal.memory.text.encode()))
            for goal in goals
        ),
    ]


def _put_off(companion_id: UUID, lease: Lease, code: str) -> None:
    """Try again later, and later each time; after the last time the operator hears of it."""
    lease.held_row.update(attempts=F("attempts") + 1, error=code)
    run = lease.held_row.first()
    if run is None:
        return
    if run.attempts < MAX_ATTEMPTS:
        lease.release(retry_at(run.attempts, lease.clock()))
        return
    lease.held_row.update(state=Consolidation.State.FAILED, ended_at=lease.clock())
    log.error("consolidation_failed", run_id=str(run.pk), companion_id=str(companion_id), code=code)
