"""The texts that a companion writes: its diary, and the revisions of its self-concept and its user profile."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated
from uuid import UUID

from django.http import Http404
from django.utils import timezone
from ninja import Field, Router, Schema
from pydantic import AfterValidator, StringConstraints

from accounts.authentication import SignedInRequest
from accounts.idempotency import create_once
from accounts.limits.rates import admit_to
from companions import access
from companions.api.schemas import IdempotencyKey, ListOut, MessagesOut, Out, list_rows
from companions.memories.editing import restore_revision, write_revision
from companions.models import Message
from companions.pagination import PageQuery
from memory.learning.revisions import load_current
from memory.models import DiaryEntry, Revision
from memory.models.revision import MAX_SENTENCES, SENTENCE_CHARACTERS
from text.strings import check_storable

router = Router(tags=["diary"])
revisions_router = Router(tags=["understanding"])
DIARY = "/{uuid:companion_id}/diary"
ENTRY = DIARY + "/{uuid:entry_id}"


class SentenceOut(Schema):
    text: str
    sources: list[UUID]


class DiaryEntryOut(Schema):
    id: UUID
    title: str
    summary: str
    sentences: list[SentenceOut]
    started_at: datetime
    ended_at: datetime
    emotion: str
    intensity: float
    is_stale: bool


class DiaryOut(ListOut[DiaryEntryOut]):
    pass


@router.get(
    DIARY,
    response=DiaryOut,
    operation_id="list_diary",
    summary="List a companion's diary: one entry for each closed session",
)
def list_diary(request: SignedInRequest, companion_id: UUID, query: PageQuery) -> Out:
    entries = DiaryEntry.objects.filter(companion=access.get_companion(request.user, companion_id))
    return list_rows(entries, "started_at", query)


@router.get(ENTRY, response=DiaryEntryOut, operation_id="get_diary_entry", summary="Get a diary entry")
def get_diary_entry(request: SignedInRequest, companion_id: UUID, entry_id: UUID) -> DiaryEntry:
    return access.get_diary_entry(request.user, companion_id, entry_id)


@router.get(
    ENTRY + "/messages",
    response=MessagesOut,
    operation_id="list_diary_messages",
    summary="List the messages of a diary entry's session",
)
def list_diary_messages(
    request: SignedInRequest, companion_id: UUID, entry_id: UUID, query: PageQuery
) -> Out:
    entry = access.get_diary_entry(request.user, companion_id, entry_id)
    return list_rows(Message.objects.filter(session=entry.session_id), "said_at", query)


Sentence = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=SENTENCE_CHARACTERS),
    AfterValidator(check_storable),
]


class RevisionOut(Schema):
    number: int = Field(
        description="The revision's number. The highest is the current one; 0 if nothing has been written "
        "yet."
    )
    sentences: list[SentenceOut]
    by: str
    made_at: datetime | None
    is_stale: bool


class RevisionsOut(ListOut[RevisionOut]):
    pass


class RevisionIn(Schema):
    sentences: list[Sentence] = Field(max_length=MAX_SENTENCES)


NOTHING = {"number": 0, "sentences": [], "by": "", "made_at": None, "is_stale": False}


def _write_once(
    request: SignedInRequest, operation: str, key: str | None, write: Callable[[], Revision]
) -> Revision:
    """Write and return a revision; if the same request came under this `key` before, return that one's revision.

    Raise GateError if the person writes too many.
    """

    def make() -> UUID:
        admit_to(request.user, "revisions", timezone.now())
        return write().pk

    id, _ = create_once(request.user, operation, key, request.body, make)
    return Revision.objects.owned_by(request.user).get(pk=id)


def _operations(about: Revision.About, words: str) -> None:
    name, path = about.value, f"/{{uuid:companion_id}}/{about.value.replace('_', '-')}"

    @revisions_router.get(
        path, response=RevisionOut, operation_id=f"get_{name}", summary=f"{words}: get the current revision"
    )
    def get(request: SignedInRequest, companion_id: UUID) -> object:
        return load_current(access.get_companion(request.user, companion_id).pk, about) or NOTHING

    @revisions_router.put(
        path, response=RevisionOut, operation_id=f"write_{name}", summary=f"{words}: write a new revision"
    )
    def write(
        request: SignedInRequest, companion_id: UUID, body: RevisionIn, key: IdempotencyKey = None
    ) -> Revision:
        companion = access.get_companion(request.user, companion_id)
        return _write_once(
            request,
            f"write_{name} {companion_id}",
            key,
            lambda: write_revision(companion, about, body.sentences, timezone.now()),
        )

    @revisions_router.get(
        f"{path}/revisions",
        response=RevisionsOut,
        operation_id=f"list_{name}_revisions",
        summary=f"{words}: list the revisions, newest first",
    )
    def list_revisions(request: SignedInRequest, companion_id: UUID, query: PageQuery) -> Out:
        found = Revision.objects.filter(
            companion=access.get_companion(request.user, companion_id), about=about
        )
        return list_rows(found, "made_at", query)

    @revisions_router.get(
        f"{path}/revisions/{{int:number}}",
        response=RevisionOut,
        operation_id=f"get_{name}_revision",
        summary=f"{words}: get a revision",
    )
    def get_one(request: SignedInRequest, companion_id: UUID, number: int) -> Revision:
        return access.get_revision(request.user, companion_id, about, number)

    @revisions_router.post(
        f"{path}/revisions/{{int:number}}/restore",
        response=RevisionOut,
        operation_id=f"restore_{name}_revision",
        summary=f"{words}: restore an earlier revision",
    )
    def restore(
        request: SignedInRequest, companion_id: UUID, number: int, key: IdempotencyKey = None
    ) -> Revision:
        companion = access.get_companion(request.user, companion_id)
        earlier = access.get_revision(request.user, companion_id, about, number)
        operation = f"restore_{name} {companion_id} {number}"
        try:
            return _write_once(
                request, operation, key, lambda: restore_revision(companion, earlier, timezone.now())
            )
        except Revision.DoesNotExist as error:
            raise Http404 from error


_operations(Revision.About.SELF_CONCEPT, "Self-concept")
_operations(Revision.About.USER_PROFILE, "User profile")
