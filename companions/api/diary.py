from datetime import datetime
from uuid import UUID

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Router, Schema

from companions.api.cursor import PageQuery, page
from companions.api.finding import my_companion, person
from companions.models import Message
from companions.schemas import MessagesOut
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
def list_diary(request: HttpRequest, companion_id: UUID, asked: PageQuery) -> Out:
    entries = DiaryEntry.objects.filter(companion=my_companion(request, companion_id))
    items, following = page(entries, "started_at", asked)
    return {"items": items, "next": following}


@router.get(
    "/{uuid:companion_id}/diary/{uuid:entry_id}",
    response=DiaryEntryOut,
    operation_id="get_diary_entry",
    summary="One entry",
)
def get_diary_entry(request: HttpRequest, companion_id: UUID, entry_id: UUID) -> DiaryEntry:
    return my_entry(request, companion_id, entry_id)


@router.get(
    "/{uuid:companion_id}/diary/{uuid:entry_id}/messages",
    response=MessagesOut,
    operation_id="list_diary_messages",
    summary="What was said in the entry's session, word for word",
)
def list_diary_messages(request: HttpRequest, companion_id: UUID, entry_id: UUID, asked: PageQuery) -> Out:
    entry = my_entry(request, companion_id, entry_id)
    items, following = page(Message.objects.filter(session=entry.session_id), "said_at", asked)
    return {"items": items, "next": following}


def my_entry(request: HttpRequest, companion_id: UUID, entry_id: UUID) -> DiaryEntry:
    mine = DiaryEntry.objects.owned_by(person(request)).filter(companion_id=companion_id)
    return get_object_or_404(mine, pk=entry_id)
