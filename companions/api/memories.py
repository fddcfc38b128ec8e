from collections.abc import Iterable
from time import perf_counter
from uuid import UUID

from django.db.models import prefetch_related_objects
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from ninja import Query, Router, Status

from accounts.authentication import SignedInRequest
from accounts.idempotency import once
from accounts.usage import Payer, admit_work
from companions import access, deletion
from companions.api.schemas import (
    DeletedOut,
    DeleteIn,
    IdempotencyKey,
    ListedIn,
    MemoriesOut,
    MemoryIn,
    MemoryOut,
    MemoryPatch,
    NewsIn,
    NewsOut,
    RecallIn,
    ResultsOut,
    WithMessage,
)
from companions.errors import CompanionsError
from companions.memories import editing
from companions.memories.editing import set_private
from companions.memories.reasons import in_words
from companions.pagination import PageQuery, paginate
from memory.embedding import embed_cue
from memory.models import Memory, Recall
from memory.recall.novelty import Known, find_novel
from memory.recall.recall import Found, recall, record
from memory.store import correct, keep_fact

router = Router(tags=["memories"])
Out = dict[str, object]


@router.get(
    "/{uuid:companion_id}/memories", response=MemoriesOut, operation_id="list_memories", summary="Memories"
)
def list_memories(
    request: SignedInRequest, companion_id: UUID, query: PageQuery, which: Query[ListedIn]
) -> Out:
    filters = which.filters(*[which.kind] if which.kind else [])
    memories = filters.apply(Memory.objects.of(access.get_companion(request.user, companion_id).pk)).defer(
        "entry"
    )
    memories = memories.select_related("message").prefetch_related("sources")
    items, next_cursor = paginate(memories, "happened_at", query)
    return {"items": [memory_out(memory) for memory in items], "next": next_cursor}


@router.post(
    "/{uuid:companion_id}/memories",
    response={201: MemoryOut},
    operation_id="add_memory",
    summary="Add a fact",
)
def add_memory(
    request: SignedInRequest,
    companion_id: UUID,
    body: MemoryIn,
    key: IdempotencyKey = None,
) -> Status[Out]:
    companion, now = access.get_companion(request.user, companion_id), timezone.now()

    def make() -> UUID:
        admit_work(companion.user, "memories", now)
        return keep_fact(companion.pk, body.text, body.happened_at or now, now, zone=companion.user.zone).pk

    made_id, _ = once(request.user, f"add_memory {companion_id}", key, request.body, make)
    return Status(201, memory_out(access.get_memory(request.user, companion_id, made_id)))


@router.post(
    "/{uuid:companion_id}/memories/news",
    response=NewsOut,
    operation_id="find_news",
    summary="Which of these observations it does not know yet",
)
def memories_news(request: SignedInRequest, companion_id: UUID, body: NewsIn) -> Out:
    companion = access.get_companion(request.user, companion_id)
    admit_work(companion.user, "news", timezone.now())
    news = find_novel(
        companion.pk,
        body.observations,
        now=timezone.now(),
        zone=companion.user.zone,
        threshold=body.threshold,
        payer=Payer(companion.user_id, companion.pk),
    )
    prefetch_related_objects([known_fact.memory for known_fact in news.known], "sources")
    return {"new": news.new, "known": known_out(news.known), "by_meaning": news.by_meaning}


@router.get(
    "/{uuid:companion_id}/memories/{uuid:memory_id}",
    response=MemoryOut,
    operation_id="get_memory",
    summary="One memory",
)
def get_memory(request: SignedInRequest, companion_id: UUID, memory_id: UUID) -> Out:
    return memory_out(access.get_memory(request.user, companion_id, memory_id))


@router.patch(
    "/{uuid:companion_id}/memories/{uuid:memory_id}",
    response=MemoryOut,
    operation_id="change_memory",
    summary="Correct it, pin it, keep it from models, or say how important it is",
)
def change_memory(request: SignedInRequest, companion_id: UUID, memory_id: UUID, body: MemoryPatch) -> Out:
    memory = access.get_memory(request.user, companion_id, memory_id)
    if body.text is not None or body.happened_at is not None:
        correct(memory, body.text or memory.text, timezone.now(), body.happened_at)
    if body.is_private is not None:
        set_private(memory, body.is_private, timezone.now())
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
    request: SignedInRequest, companion_id: UUID, memory_id: UUID, with_message: WithMessage = False
) -> Status[None]:
    deletion.forget(
        access.get_memory(request.user, companion_id, memory_id), timezone.now(), with_message=with_message
    )
    return Status(204, None)


@router.post(
    "/{uuid:companion_id}/memories/{uuid:memory_id}/restore",
    response={204: None},
    operation_id="restore_memory",
    summary="Undo that it was forgotten or revised; 409 where that was changed since",
)
def restore_memory(request: SignedInRequest, companion_id: UUID, memory_id: UUID) -> Status[None]:
    companion = access.get_companion(request.user, companion_id)
    editing.undo_retraction_of(
        companion, access.get_memory(request.user, companion_id, memory_id).pk, timezone.now()
    )
    return Status(204, None)


@router.post(
    "/{uuid:companion_id}/recall", response=ResultsOut, operation_id="recall", summary="Search its memory"
)
def recall_memories(request: SignedInRequest, companion_id: UUID, body: RecallIn) -> Out:
    companion, now, began = access.get_companion(request.user, companion_id), timezone.now(), perf_counter()
    admit_work(companion.user, "recalls", now)
    found = recall(
        companion.pk,
        body.cue,
        body.limit,
        now=now,
        zone=companion.user.zone,
        vector=embed_cue(body.cue, Payer(companion.user_id, companion.pk), companion.names),
        names=companion.names,
        filters=body.filters(*body.kinds),
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
    prefetch_related_objects([result.memory for result in found], "message", "sources")
    with translation.override(companion.user.language or "en"):
        return {"results": results_out(found)}


@router.post(
    "/{uuid:companion_id}/memories/delete",
    response=DeletedOut,
    operation_id="delete_memories",
    summary="Delete many memories everywhere, or all",
)
def delete_memories(request: SignedInRequest, companion_id: UUID, body: DeleteIn) -> dict[str, int]:
    companion, now = access.get_companion(request.user, companion_id), timezone.now()
    if not body.all:
        return {
            "deleted": deletion.forget_many(companion.pk, body.ids, now, with_messages=body.with_messages)
        }
    if body.confirm.strip() != companion.name.strip():
        raise CompanionsError("not_confirmed", _("This is not its name."))
    return {"deleted": deletion.forget_every(companion.pk, body.kinds, now, with_messages=body.with_messages)}


def memory_out(memory: Memory) -> Out:
    fields = (
        *("id", "kind", "text", "speaker", "happened_at", "learnt_at", "edited_at", "closed_at"),
        *("replaced_by_id", "is_pinned", "is_private", "importance", "evidence", "confidence", "quotes"),
        *("joy", "aversion", "times_recalled", "recalled_at"),
    )
    return {**{name: getattr(memory, name) for name in fields}, "sources": sources_of(memory)}


def known_out(known: Iterable[Known]) -> list[Out]:
    return [
        {
            "observation": known_fact.observation,
            "likeness": known_fact.likeness,
            "memory": memory_out(known_fact.memory),
        }
        for known_fact in known
    ]


def results_out(found: Iterable[Found]) -> list[Out]:
    return [
        {
            "id": result.memory.pk,
            "kind": result.memory.kind,
            "text": result.memory.text,
            "happened_at": result.memory.happened_at,
            "score": result.score,
            "reasons": result.reasons,
            "why": in_words(result.reasons, result.memory.text),
            "sources": sources_of(result.memory),
        }
        for result in found
    ]


def sources_of(memory: Memory) -> list[Out]:
    messages = [memory.message] if memory.message else memory.sources.all()
    return [{"message_id": message.pk, "client_id": message.client_id} for message in messages]
