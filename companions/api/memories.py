from collections.abc import Iterable
from time import perf_counter
from uuid import UUID

from django.db.models import prefetch_related_objects
from django.http import HttpRequest
from django.utils import timezone, translation
from ninja import Query, Router, Status

from accounts.gate import admit_work
from accounts.idempotency import once
from accounts.usage import Payer
from companions import deletion, retractions
from companions.api.cursor import PageQuery, page
from companions.api.finding import my_companion, my_memory, person
from companions.api.parameters import IdempotencyKey, WithMessage
from companions.private import keep_private
from companions.reasons import in_words
from companions.schemas import (
    ListedIn,
    MemoriesOut,
    MemoryIn,
    MemoryOut,
    MemoryPatch,
    NewsIn,
    NewsOut,
    RecallIn,
    ResultsOut,
)
from memory.embedding import embed_cue
from memory.keeping import correct, keep_fact
from memory.models import Memory, Recall
from memory.news import Known, find_news
from memory.recall import Found, recall, record

router = Router(tags=["memories"])
Out = dict[str, object]


@router.get(
    "/{uuid:companion_id}/memories", response=MemoriesOut, operation_id="list_memories", summary="Memories"
)
def list_memories(request: HttpRequest, companion_id: UUID, asked: PageQuery, which: Query[ListedIn]) -> Out:
    among = which.among(*[which.kind] if which.kind else [])
    memories = among.of(Memory.objects.of(my_companion(request, companion_id).pk)).defer("entry")
    memories = memories.select_related("message").prefetch_related("sources")
    items, following = page(memories, "happened_at", asked)
    return {"items": [memory_out(one) for one in items], "next": following}


@router.post(
    "/{uuid:companion_id}/memories",
    response={201: MemoryOut},
    operation_id="add_memory",
    summary="Add a fact",
)
def add_memory(
    request: HttpRequest,
    companion_id: UUID,
    body: MemoryIn,
    key: IdempotencyKey = None,
) -> Status[Out]:
    companion, now = my_companion(request, companion_id), timezone.now()

    def make() -> UUID:
        admit_work(companion.user, "memories", now)
        return keep_fact(companion.pk, body.text, body.happened_at or now, now, zone=companion.user.zone).pk

    made_id, _ = once(person(request), f"add_memory {companion_id}", key, request.body, make)
    return Status(201, memory_out(my_memory(request, companion_id, made_id)))


@router.post(
    "/{uuid:companion_id}/memories/news",
    response=NewsOut,
    operation_id="find_news",
    summary="Which of these observations it does not know yet",
)
def memories_news(request: HttpRequest, companion_id: UUID, body: NewsIn) -> Out:
    companion = my_companion(request, companion_id)
    admit_work(companion.user, "news", timezone.now())
    news = find_news(
        companion.pk,
        body.observations,
        now=timezone.now(),
        zone=companion.user.zone,
        threshold=body.threshold,
        payer=Payer(companion.user_id, companion.pk),
    )
    prefetch_related_objects([one.memory for one in news.known], "sources")
    return {"new": news.new, "known": known_out(news.known), "by_meaning": news.by_meaning}


@router.get(
    "/{uuid:companion_id}/memories/{uuid:memory_id}",
    response=MemoryOut,
    operation_id="get_memory",
    summary="One memory",
)
def get_memory(request: HttpRequest, companion_id: UUID, memory_id: UUID) -> Out:
    return memory_out(my_memory(request, companion_id, memory_id))


@router.patch(
    "/{uuid:companion_id}/memories/{uuid:memory_id}",
    response=MemoryOut,
    operation_id="change_memory",
    summary="Correct it, pin it, keep it from models, or say how important it is",
)
def change_memory(request: HttpRequest, companion_id: UUID, memory_id: UUID, body: MemoryPatch) -> Out:
    memory = my_memory(request, companion_id, memory_id)
    if body.text is not None or body.happened_at is not None:
        correct(memory, body.text or memory.text, timezone.now(), body.happened_at)
    if body.is_private is not None:
        keep_private(memory, body.is_private, timezone.now())
    marks = body.dict(include={"is_pinned", "importance"}, exclude_none=True)
    for name, value in marks.items():
        setattr(memory, name, value)
    memory.save(update_fields=list(marks))
    return memory_out(memory)


@router.delete(
    "/{uuid:companion_id}/memories/{uuid:memory_id}",
    response={204: None},
    operation_id="delete_memory",
    summary="Delete it everywhere; the message it came from is hidden from later prompts, or deleted too",
)
def delete_memory(
    request: HttpRequest, companion_id: UUID, memory_id: UUID, with_message: WithMessage = False
) -> Status[None]:
    deletion.forget(my_memory(request, companion_id, memory_id), timezone.now(), with_message=with_message)
    return Status(204, None)


@router.post(
    "/{uuid:companion_id}/memories/{uuid:memory_id}/restore",
    response={204: None},
    operation_id="restore_memory",
    summary="Undo that it was forgotten or revised; 409 where that was changed since",
)
def restore_memory(request: HttpRequest, companion_id: UUID, memory_id: UUID) -> Status[None]:
    companion = my_companion(request, companion_id)
    retractions.undo(companion, my_memory(request, companion_id, memory_id).pk, timezone.now())
    return Status(204, None)


@router.post(
    "/{uuid:companion_id}/recall", response=ResultsOut, operation_id="recall", summary="Search its memory"
)
def recall_memories(request: HttpRequest, companion_id: UUID, body: RecallIn) -> Out:
    companion, now, began = my_companion(request, companion_id), timezone.now(), perf_counter()
    admit_work(companion.user, "recalls", now)
    found = recall(
        companion.pk,
        body.cue,
        body.limit,
        now=now,
        zone=companion.user.zone,
        vector=embed_cue(body.cue, Payer(companion.user_id, companion.pk), companion.names),
        names=companion.names,
        among=body.among(*body.kinds),
        offset=body.offset,
        policy=companion.policy,
    )
    record(
        companion.pk,
        Recall.By.API,
        body.cue,
        found,
        now,
        round((perf_counter() - began) * 1000),
        policy=companion.recall_policy,
        offset=body.offset,
    )
    prefetch_related_objects([one.memory for one in found], "message", "sources")
    with translation.override(companion.user.language or "en"):
        return {"results": results_out(found)}


def memory_out(memory: Memory) -> Out:
    fields = (
        *("id", "kind", "text", "speaker", "happened_at", "learnt_at", "edited_at", "closed_at"),
        *("replaced_by_id", "is_pinned", "is_private", "importance", "evidence", "confidence", "quotes"),
        *("joy", "aversion", "times_recalled", "recalled_at"),
    )
    return {**{name: getattr(memory, name) for name in fields}, "sources": sources_of(memory)}


def known_out(known: Iterable[Known]) -> list[Out]:
    return [
        {"observation": one.observation, "likeness": one.likeness, "memory": memory_out(one.memory)}
        for one in known
    ]


def results_out(found: Iterable[Found]) -> list[Out]:
    return [
        {
            "id": one.memory.pk,
            "kind": one.memory.kind,
            "text": one.memory.text,
            "happened_at": one.memory.happened_at,
            "score": one.score,
            "reasons": one.reasons,
            "why": in_words(one.reasons, one.memory.text),
            "sources": sources_of(one.memory),
        }
        for one in found
    ]


def sources_of(memory: Memory) -> list[Out]:
    messages = [memory.message] if memory.message else memory.sources.all()
    return [{"message_id": one.pk, "client_id": one.client_id} for one in messages]
