from datetime import datetime
from uuid import UUID

from ninja import Router, Schema

from accounts.authentication import SignedInRequest
from companions import access
from companions.api.schemas import MessagesOut
from companions.models import Message
from companions.pagination import PageQuery, paginate
from memory.models import DiaryEntry

router = Router(tags=["diary"])
Out = dict[str, object]


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


class DiaryOut(Schema):
    items: list[DiaryEntryOut]
    next: str | None


@router.get(
    "/{uuid:companion_id}/diary",
    response=DiaryOut,
    operation_id="list_diary",
    summary="Its diary: an entry for each session that has ended",
)
def list_diary(request: SignedInRequest, companion_id: UUID, query: PageQuery) -> Out:
    entries = DiaryEntry.objects.filter(companion=access.get_companion(request.user, companion_id))
    items, next_cursor = paginate(entries, "started_at", query)
    return {"items": items, "next": next_cursor}


@router.get(
    "/{uuid:companion_id}/diary/{uuid:entry_id}",
    response=DiaryEntryOut,
    operation_id="get_diary_entry",
    summary="One entry",
)
def get_diary_entry(request: SignedInRequest, companion_id: UUID, entry_id: UUID) -> DiaryEntry:
    return access.get_diary_entry(request.user, companion_id, entry_id)


@router.get(
    "/{uuid:companion_id}/diary/{uuid:entry_id}/messages",
    response=MessagesOut,
    operation_id="list_diary_messages",
    summary="What was said in the entry's session, word for word",
)
def list_diary_messages(
    request: SignedInRequest, companion_id: UUID, entry_id: UUID, query: PageQuery
) -> Out:
    entry = access.get_diary_entry(request.user, companion_id, entry_id)
    items, next_cursor = paginate(Message.objects.filter(session=entry.session_id), "said_at", query)
    return {"items": items, "next": next_cursor}
