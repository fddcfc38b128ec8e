"""Consolidation runs: each is claimed, a model is asked, and the answer is applied in one transaction.

A run that is killed at any point is done again.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from hashlib import sha256
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from pydantic import BaseModel, Field

from accounts.limits.usage import charged, waits_until
from accounts.models import ModelCall
from jobs.background import enqueue
from jobs.lease import RETRY_DELAY, Clock, Lease, note_failures
from memory.consolidation.candidates import Candidates, find_candidates
from memory.consolidation.changes import Draft, apply_answer, load_parted
from memory.consolidation.insights import select_insights
from memory.consolidation.request import Answer, render_request, render_system_prompt
from memory.learning.neighbours import select_known
from memory.learning.requests import Drafted
from memory.learning.talk import Talk
from memory.learning.verification import verify
from memory.models import Consolidation, Memory, Pursuit
from providers.chat.structured import ask
from providers.errors import OUTAGES
from providers.selection import Capability, get_provider, preferring
from providers.tokens import estimate

log = structlog.get_logger(__name__)

MAX_DRAFTS = 3  # tries in one go; if memories keep changing meanwhile, the run is tried again later
BATCH = 200
LATE = timedelta(hours=1)  # memories are saved later than `learnt_at`, the time at which learning began
BETWEEN_TOKENS = 50  # for roles and blocks


def find_due(now: datetime, most: int = BATCH) -> list[tuple[UUID, UUID]]:
    """Return the runs that are due and not leased, each as (companion id, run id)."""
    waiting = Consolidation.objects.filter(state=Consolidation.State.WAITING, next_at__lte=now)
    return list(waiting.order_by("next_at").values_list("companion_id", "pk")[:most])


def retry(companion_id: UUID, run_id: UUID, now: datetime) -> bool:
    """Begin a failed run anew and return True; False if it has not failed, or if a later one has been requested."""
    failed = Consolidation.objects.retryable().filter(companion=companion_id, pk=run_id)
    waiting = {"state": Consolidation.State.WAITING, "error": "", "attempts": 0, "next_at": now}
    if not failed.update(**waiting, ended_at=None):
        return False
    enqueue("companions.tasks.work_a_night", str(companion_id), str(run_id))
    return True


def consolidate(companion_id: UUID, run_id: UUID, clock: Clock) -> None:
    """Work on the run if it is due: with one model call, with none if there is nothing to ask about, or with a second
    one if insights were drawn that may be kept. What was answered before an interruption is not asked again.

    Failures are recorded, and the run is tried at most eight times. No transaction is open while the model works.
    """
    now = clock()
    mine = Consolidation.objects.filter(
        companion_id=companion_id, state=Consolidation.State.WAITING, pk=run_id
    )
    lease = Lease.take(mine, "next_at", clock)
    if lease is None:
        return
    with note_failures(lease, partial(_put_off, companion_id, lease)):
        if later := _draft_and_write(lease, now):
            lease.release(later)


def _draft_and_write(lease: Lease, now: datetime) -> datetime | None:
    """Return when to continue the run, or None if it is done, gone, or taken by another worker."""
    for _try in range(MAX_DRAFTS):
        run = lease.held_row.select_related("companion__user", "companion__mind").first()
        if run is None:
            return None
        with preferring(run.companion.preference):
            found = load_candidates(run)
            if found and (tomorrow := waits_until(run.companion.user, lease.clock())):
                return tomorrow
            answered = _ask(run, found, lease) if found else None
        if found and answered is None:
            continue
        if _write(run, found, answered, now):
            return None
    return lease.clock() + RETRY_DELAY


def load_candidates(run: Consolidation) -> Candidates:
    """Return what the run is to look at, what has changed since the last finished run first."""
    earlier = Consolidation.objects.filter(companion_id=run.companion_id, state=Consolidation.State.DONE)
    last = earlier.order_by("-night_of").first()
    since = last.asked_at - LATE if last else None
    context = get_provider(Capability.BACKGROUND).context_tokens
    companion = run.companion
    rules = render_system_prompt(companion.names, run.night_of)
    room = context - max(settings.ANSWER_TOKENS, context // 4) - estimate(rules) - BETWEEN_TOKENS
    return find_candidates(companion.pk, since, zone=companion.user.zone, room=room, names=companion.names)


class Answered(BaseModel):
    """A model's answer, as it is saved in the run's draft: `seen` is the fingerprint of what it was shown, `words` are
    a second reading's words on the insights, by their keys.
    """

    seen: str
    answer: Answer
    call_id: int | None
    words: dict[str, str] = Field(default_factory=dict)


def _ask(run: Consolidation, found: Candidates, lease: Lease) -> Answered | None:
    """Return the model's answer about the candidates, with a second reading of its insights. Each answer is saved with
    the run, and not asked for again. Return None if another worker has the run by now, or the candidates have changed.
    """
    payer, seen = run.companion.payer, _mark(found.memories, found.goals)
    answered = Answered.model_validate(run.draft) if run.draft.get("seen") == seen else None
    if answered is None:
        if not lease.renew():
            return None
        names, zone = run.companion.names, run.companion.user.zone
        request = render_request(found.memories, found.goals, zone, names=names, night_of=run.night_of)
        with charged(payer, ModelCall.Purpose.CONSOLIDATION) as calls:
            answer = ask("night", request, Answer)
        call_id = calls[-1].pk if calls else None
        answered = Answered(seen=seen, answer=answer, call_id=call_id)
        if not _keep(run, found, answered, lease):
            return None
    drafted = _list_insights(run, found, answered.answer)
    if unread := [sentence for sentence in drafted if sentence.key not in answered.words]:
        with charged(payer, ModelCall.Purpose.CONSOLIDATION):
            answered.words |= verify(unread, Talk([]), run.companion.names)
        if not _keep(run, found, answered, lease):
            return None
    return answered


@transaction.atomic
def _keep(run: Consolidation, found: Candidates, answered: Answered, lease: Lease) -> bool:
    """Save the answer with the run and return True, if the run is still held and what the model saw has not changed; so
    nothing deleted comes back.
    """
    stands = run.companion.lock() and _mark(*_reload(run.companion_id, found)) == answered.seen
    return stands and lease.renew(draft=answered.model_dump(mode="json"))


def _list_insights(run: Consolidation, found: Candidates, answer: Answer) -> list[Drafted]:
    """Return the insights that may be kept, in the form that a second reading is asked about."""
    by_number = dict(enumerate(found.memories, start=1))
    zone, names = run.companion.user.zone, run.companion.names
    drawn = select_insights(run.companion_id, answer.insights, by_number.get, found.memories, zone, names)
    return [insight.drafted for insight in drawn]


@transaction.atomic
def _write(run: Consolidation, found: Candidates, answered: Answered | None, now: datetime) -> bool:
    """Apply the answer, mark the run as done and return True, also if the run or its companion is gone. Return False,
    with nothing applied, if something that the model saw has changed meanwhile.
    """
    if not run.companion.lock():
        return True
    mine = Consolidation.objects.filter(companion_id=run.companion_id, state=Consolidation.State.WAITING)
    held = mine.select_for_update().filter(pk=run.pk).first()
    if held is None:
        return True
    memories, goals = _reload(run.companion_id, found)
    if _mark(memories, goals) != _mark(found.memories, found.goals):
        held.draft = {}
        held.save(update_fields=["draft"])
        return False
    if answered:
        draft = Draft(
            run=held,
            memories=memories,
            goals=goals,
            pairs=found.pairs,
            now=now,
            zone=run.companion.user.zone,
            names=run.companion.names,
            call_id=answered.call_id,
            parted=load_parted(run.companion_id),
            words=answered.words,
        )
        apply_answer(draft, answered.answer)
        held.call_id = answered.call_id
    held.state, held.ended_at, held.error, held.draft = Consolidation.State.DONE, now, "", {}
    held.save(update_fields=["state", "ended_at", "call", "error", "draft"])
    return True


def _reload(companion_id: UUID, found: Candidates) -> tuple[list[Memory], list[Pursuit]]:
    """Reload the memories, which are locked, and the goals, in their order, without what is gone, closed or private."""
    wanted = {memory.pk for memory in found.memories} | {goal.memory_id for goal in found.goals}
    rows = select_known(companion_id).filter(pk__in=wanted).order_by("pk").select_for_update(no_key=True)
    there = {memory.pk: memory for memory in rows}
    mine = Pursuit.objects.filter(companion_id=companion_id, memory__in=there).select_related("memory")
    pursued = mine.in_bulk([goal.pk for goal in found.goals])
    memories = [there[memory.pk] for memory in found.memories if memory.pk in there]
    return memories, [pursued[goal.pk] for goal in found.goals if goal.pk in pursued]


def _mark(memories: Sequence[Memory], goals: Sequence[Pursuit]) -> str:
    """Return a fingerprint of all that must not change while a model works on it."""
    rows = [
        *((memory.pk, memory.kind, memory.edited_at, memory.evidence, memory.text) for memory in memories),
        *((goal.pk, goal.status, goal.progress, goal.excitement, goal.memory.text) for goal in goals),
    ]
    return sha256(repr(rows).encode()).hexdigest()


def _put_off(companion_id: UUID, lease: Lease, code: str) -> None:
    """Record a failed try and postpone the run, longer each time; after the last try mark it as failed and log that."""
    run = lease.held_row.first() if lease.count_failure(code, is_outage=code in OUTAGES) else None
    if run is None:
        return
    lease.held_row.update(state=Consolidation.State.FAILED, ended_at=lease.clock(), draft={})
    log.error("consolidation_failed", run_id=str(run.pk), companion_id=str(companion_id), code=code)
