from datetime import datetime
from time import perf_counter
from typing import Annotated, Self
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import prefetch_related_objects
from django.utils import timezone
from django.utils.translation import gettext as _
from ninja import Field, Query, Router, Schema, Status
from ninja.params import functions as P
from pydantic import StringConstraints, ValidationInfo, field_validator, model_validator

from accounts.authentication import SignedInRequest
from accounts.idempotency import create_once
from accounts.limits.usage import admit_work
from companions import access, deletion
from companions.api.schemas import (
    FilledText,
    FoundOut,
    IdempotencyKey,
    ListOut,
    Out,
    Timestamp,
    explain_recalled,
    list_rows,
)
from companions.conversations.editing import correct_memory
from companions.deletion import MAX_AT_ONCE
from companions.errors import CompanionsError
from companions.memories.editing import add_fact, mark, set_private, undo_retraction_of
from companions.models import Message
from companions.pagination import PageQuery
from memory.embedding import embed_cue
from memory.models import Memory, Recall
from memory.recall.candidates import MemoryFilter
from memory.recall.novelty import ALIKE, MAX_OBSERVATIONS, Novelty, find_novel
from memory.recall.ranking import MAX_FOUND
from memory.recall.recall import recall, record

router = Router(tags=["memories"])
MEMORIES = "/{uuid:companion_id}/memories"
MEMORY = MEMORIES + "/{uuid:memory_id}"


WithMessage = Annotated[
    bool, P.Query(description="Whether to delete the message that the memory came from, too.")
]


def get_sources(memory: Memory) -> list[Message]:
    """Return the messages that the memory comes from."""
    return [memory.message] if memory.message else list(memory.sources.all())


class SourceOut(Schema):
    message_id: UUID = Field(alias="pk")
    client_id: str | None


class MemoryIn(Schema):
    text: FilledText = Field(max_length=8_000)
    happened_at: Timestamp | None = None


class MemoryPatch(Schema):
    text: FilledText | None = Field(None, max_length=8_000)
    is_pinned: bool | None = None
    is_private: bool | None = Field(
        None, description="Whether the memory, and what was derived from it alone, is withheld from models."
    )
    importance: int | None = Field(None, ge=1, le=10, description="From 1 to 10; 5 is the default.")
    happened_at: Timestamp | None = None


class QuoteOut(Schema):
    message: UUID
    text: str


class MemoryOut(Schema):
    id: UUID
    kind: Memory.Kind
    text: str
    speaker: str
    happened_at: datetime
    learnt_at: datetime
    edited_at: datetime | None
    closed_at: datetime | None
    replaced_by_id: UUID | None
    is_pinned: bool
    is_private: bool
    importance: int
    evidence: int
    confidence: float
    quotes: list[QuoteOut]
    joy: float
    aversion: float
    times_recalled: int
    recalled_at: datetime | None
    sources: list[SourceOut]

    @staticmethod
    def resolve_sources(memory: Memory) -> list[Message]:
        return get_sources(memory)


class MemoriesOut(ListOut[MemoryOut]):
    pass


class MemoryFilterIn(Schema):
    since: Timestamp | None = Field(None, description="Only what happened at or after this time.")
    until: Timestamp | None = Field(None, description="Only what happened before this time.")
    speaker: Memory.Speaker | None = Field(None, description="Only what this speaker said.")
    message_ids: list[UUID] = Field(
        [], max_length=100, description="Only what comes from one of these messages."
    )
    as_of: Timestamp | None = Field(
        None, description="Only what had happened by this time and was still true then."
    )

    @field_validator("until")
    @classmethod
    def _is_not_before_since(cls, until: datetime | None, sent: ValidationInfo) -> datetime | None:
        since = sent.data.get("since")
        if since and until and since > until:
            raise ValueError("lies before since")
        return until

    def filters(self, *kinds: Memory.Kind) -> MemoryFilter:
        return MemoryFilter(
            with_private=True,
            kinds=kinds,
            speaker=self.speaker or "",
            since=self.since,
            until=self.until,
            sources=self.message_ids,
            as_of=self.as_of,
        )


class ListedIn(MemoryFilterIn):
    kind: Memory.Kind | None = None


class RecallIn(MemoryFilterIn):
    cue: FilledText = Field(max_length=32_000)
    kinds: list[Memory.Kind] = Field(
        [], max_length=20, description="Only memories of these kinds; if empty, all kinds."
    )
    limit: int = Field(10, ge=1, le=MAX_FOUND)
    offset: int = Field(0, ge=0, le=MAX_FOUND, description="Number of best results to skip.")


class DeleteIn(Schema):
    ids: list[UUID] = Field(
        [], max_length=MAX_AT_ONCE, description="The memories to delete; unknown ids are ignored."
    )
    all: bool = Field(False, description="Whether to delete all memories, instead of those in `ids`.")
    kinds: list[Memory.Kind] = Field(
        [], max_length=20, description="With `all`: delete only memories of these kinds."
    )
    confirm: str = Field(
        "", description="With `all`: the companion's name, as protection against deletion by mistake."
    )
    with_messages: bool = Field(
        False,
        description="Whether to delete the messages that the memories come from as well. If false, those "
        "are hidden from prompts.",
    )

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if self.all == bool(self.ids):
            raise ValueError("name ids, or all")
        if self.kinds and not self.all:
            raise ValueError("kinds go with all")
        return self


class DeletedOut(Schema):
    deleted: int


class NewsIn(Schema):
    observations: list[Annotated[FilledText, StringConstraints(max_length=8_000)]] = Field(
        max_length=MAX_OBSERVATIONS
    )
    threshold: float = Field(
        ALIKE,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="The cosine similarity from which an observation counts as known.",
    )

    @field_validator("observations")
    @classmethod
    def _are_not_too_long_together(cls, observations: list[str]) -> list[str]:
        most = settings.NEWS_CHARACTERS
        if sum(map(len, observations)) > most:
            raise ValueError(
                f"All observations together can hold {most:,} characters. Ask in several requests."
            )
        return observations


class KnownOut(Schema):
    observation: str
    likeness: float
    memory: MemoryOut


class NewsOut(Schema):
    new: list[str]
    known: list[KnownOut]
    by_meaning: bool = Field(
        description="Whether meanings were compared; if false, only identical texts were recognised."
    )


class ResultOut(FoundOut):
    sources: list[SourceOut]


class ResultsOut(Schema):
    results: list[ResultOut]


@router.get(
    MEMORIES, response=MemoriesOut, operation_id="list_memories", summary="List the memories, newest first"
)
def list_memories(
    request: SignedInRequest, companion_id: UUID, query: PageQuery, which: Query[ListedIn]
) -> Out:
    companion = access.get_companion(request.user, companion_id)
    filters = which.filters(*[which.kind] if which.kind else [])
    memories = filters.apply(Memory.objects.of(companion.pk)).defer("entry")
    return list_rows(memories.select_related("message").prefetch_related("sources"), "happened_at", query)


@router.post(
    MEMORIES, response={201: MemoryOut}, operation_id="add_memory", summary="Add a fact to the memory"
)
def add_memory(
    request: SignedInRequest,
    companion_id: UUID,
    body: MemoryIn,
    key: IdempotencyKey = None,
) -> Status[Memory]:
    companion, now = access.get_companion(request.user, companion_id), timezone.now()

    def make() -> UUID:
        admit_work(companion.user, "memories", now)
        return add_fact(companion, body.text, now, body.happened_at).pk

    made_id, _ = create_once(request.user, f"add_memory {companion_id}", key, request.body, make)
    return Status(201, access.get_memory(request.user, companion_id, made_id))


@router.post(
    MEMORIES + "/news",
    response=NewsOut,
    operation_id="find_news",
    summary="Find which observations the companion does not know yet",
)
def find_news(request: SignedInRequest, companion_id: UUID, body: NewsIn) -> Novelty:
    companion = access.get_companion(request.user, companion_id)
    admit_work(companion.user, "news", timezone.now())
    news = find_novel(
        companion.pk,
        body.observations,
        now=timezone.now(),
        zone=companion.user.zone,
        threshold=body.threshold,
        payer=companion.payer,
    )
    prefetch_related_objects([known.memory for known in news.known], "sources")
    return news


@router.get(MEMORY, response=MemoryOut, operation_id="get_memory", summary="Get a memory")
def get_memory(request: SignedInRequest, companion_id: UUID, memory_id: UUID) -> Memory:
    return access.get_memory(request.user, companion_id, memory_id)


@router.patch(
    MEMORY,
    response=MemoryOut,
    operation_id="change_memory",
    summary="Change a memory: its text, time, pin, privacy or importance",
)
@transaction.atomic
def change_memory(request: SignedInRequest, companion_id: UUID, memory_id: UUID, body: MemoryPatch) -> Memory:
    memory = access.get_memory(request.user, companion_id, memory_id)
    if body.text is not None or body.happened_at is not None:
        correct_memory(memory, body.text or memory.text, timezone.now(), body.happened_at)
    if body.is_private is not None:
        set_private(memory, body.is_private, timezone.now())
    mark(memory, **body.dict(include={"is_pinned", "importance"}, exclude_none=True))
    return memory


@router.delete(
    MEMORY,
    response={204: None},
    operation_id="delete_memory",
    summary=(
        "Delete a memory everywhere; the message that it came from is hidden from later "
        "prompts, or deleted too"
    ),
)
def delete_memory(
    request: SignedInRequest, companion_id: UUID, memory_id: UUID, with_message: WithMessage = False
) -> Status[None]:
    memory = access.get_memory(request.user, companion_id, memory_id)
    deletion.forget(memory, timezone.now(), with_message=with_message)
    return Status(204, None)


@router.post(
    MEMORY + "/restore",
    response={204: None},
    operation_id="restore_memory",
    summary="Undo the forgetting or revision of a memory; 409 if it was changed since",
)
def restore_memory(request: SignedInRequest, companion_id: UUID, memory_id: UUID) -> Status[None]:
    memory = access.get_memory(request.user, companion_id, memory_id)
    undo_retraction_of(memory.companion, memory.pk, timezone.now())
    return Status(204, None)


@router.post(
    "/{uuid:companion_id}/recall",
    response=ResultsOut,
    operation_id="recall",
    summary="Search a companion's memory",
)
def recall_memories(request: SignedInRequest, companion_id: UUID, body: RecallIn) -> Out:
    companion, now = access.get_companion(request.user, companion_id), timezone.now()
    admit_work(companion.user, "recalls", now)
    vector = embed_cue(body.cue, companion.payer, companion.names)
    began = perf_counter()
    found = recall(
        companion.pk,
        body.cue,
        body.limit,
        now=now,
        zone=companion.user.zone,
        vector=vector,
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
    explained = explain_recalled(found, companion.user)
    return {
        "results": [
            {**row, "sources": get_sources(hit.memory)} for row, hit in zip(explained, found, strict=True)
        ]
    }


@router.post(
    MEMORIES + "/delete",
    response=DeletedOut,
    operation_id="delete_memories",
    summary="Delete several or all memories everywhere",
)
def delete_memories(request: SignedInRequest, companion_id: UUID, body: DeleteIn) -> dict[str, int]:
    companion, now = access.get_companion(request.user, companion_id), timezone.now()
    if not body.all:
        count = deletion.forget_many(companion.pk, body.ids, now, with_messages=body.with_messages)
        return {"deleted": count}
    if body.confirm.strip() != companion.name.strip():
        raise CompanionsError("not_confirmed", _("This does not match its name."))
    return {"deleted": deletion.forget_every(companion.pk, body.kinds, now, with_messages=body.with_messages)}
