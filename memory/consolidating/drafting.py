"""What is found and asked by night, and how the answer is written: in one transaction, or not at all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID
from zlib import crc32

from django.conf import settings
from django.db import transaction

from accounts.models import ModelCall
from accounts.usage import Payer, charged
from memory.consolidating.answers import Night
from memory.consolidating.applying import apply
from memory.consolidating.candidates import Candidates, candidates
from memory.consolidating.prompting import night_request, system
from memory.consolidating.work import Work, parted
from memory.learning.neighbours import known_to
from memory.models import Consolidation, Memory, Pursuit
from providers.structured import ask
from providers.tokens import estimate

LATE = timedelta(hours=1)  # what is learnt bears the time at which its learning began
BETWEEN_TOKENS = 50  # roles and blocks

Lock = Callable[[UUID], bool]
Step = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer, what it is about, and how that stood when it was asked."""

    answer: Night | None
    found: Candidates
    marks: list[Any]
    call_id: int | None


def found_for(night: Consolidation) -> Candidates:
    zone, companion = night.companion.user.zone, night.companion
    earlier = Consolidation.objects.filter(companion_id=night.companion_id, state=Consolidation.State.DONE)
    last = earlier.order_by("-night_of").first()
    since = last.asked_at - LATE if last else None
    context: int = settings.CONTEXT_TOKENS
    room = context - max(settings.ANSWER_TOKENS, context // 4) - estimate(system()) - BETWEEN_TOKENS
    return candidates(night.companion_id, since, zone=zone, room=room, names=companion.names)


def drafted(night: Consolidation, found: Candidates, now: datetime) -> Draft:
    """The model's answer about what was found; no model is asked about nothing."""
    marks = _marks(found.memories, found.pursuits)
    if not found:
        return Draft(None, found, marks, None)
    request = night_request(found.memories, found.pursuits, night.companion.user.zone)
    payer = Payer(night.companion.user_id, night.companion_id)
    with charged(payer, ModelCall.Purpose.CONSOLIDATION) as charge:
        answer = ask("night", request, Night)
    return Draft(answer, found, marks, charge.calls[-1].pk if charge.calls else None)


@transaction.atomic
def write(night: Consolidation, draft: Draft, now: datetime, lock: Lock, step: Step) -> bool:
    """Whether all is done; False where something that the model saw has changed meanwhile: then nothing is."""
    if not lock(night.companion_id):
        return True
    mine = Consolidation.objects.filter(companion_id=night.companion_id, state=Consolidation.State.WAITING)
    held = mine.select_for_update().filter(pk=night.pk).first()
    if held is None:
        return True
    memories, pursuits = _as_they_are(night.companion_id, draft.found)
    if _marks(memories, pursuits) != draft.marks:
        return False
    if draft.answer:
        apply(_worked_on(held, night, draft, memories, pursuits, now), draft.answer)
    step("written")
    held.state, held.ended_at, held.call_id, held.error = Consolidation.State.DONE, now, draft.call_id, ""
    held.save(update_fields=["state", "ended_at", "call", "error"])
    return True


def _worked_on(
    held: Consolidation,
    night: Consolidation,
    draft: Draft,
    memories: Sequence[Memory],
    pursuits: Sequence[Pursuit],
    now: datetime,
) -> Work:
    return Work(
        night=held,
        memories=memories,
        pursuits=pursuits,
        pairs=draft.found.pairs,
        now=now,
        zone=night.companion.user.zone,
        names=night.companion.names,
        call_id=draft.call_id,
        parted=parted(night.companion_id),
    )


def _as_they_are(companion_id: UUID, found: Candidates) -> tuple[list[Memory], list[Pursuit]]:
    """What was seen, locked and read anew, in its order; without what is gone, closed or private."""
    wanted = {one.pk for one in found.memories} | {one.memory_id for one in found.pursuits}
    rows = known_to(companion_id).filter(pk__in=wanted).order_by("pk").select_for_update(no_key=True)
    there = {one.pk: one for one in rows}
    mine = Pursuit.objects.filter(companion_id=companion_id, memory__in=there).select_related("memory")
    pursued = mine.in_bulk([one.pk for one in found.pursuits])
    memories = [there[one.pk] for one in found.memories if one.pk in there]
    return memories, [pursued[one.pk] for one in found.pursuits if one.pk in pursued]


def _marks(memories: Sequence[Memory], pursuits: Sequence[Pursuit]) -> list[Any]:
    """What is to stay as it is while a model thinks about it."""
    stands = [
        (one.pk, one.status, one.progress, one.excitement, crc32(one.memory.text.encode()))
        for one in pursuits
    ]
    return [
        *((one.pk, one.kind, one.edited_at, one.evidence, crc32(one.text.encode())) for one in memories),
        *stands,
    ]
