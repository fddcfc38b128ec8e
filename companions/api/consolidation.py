from datetime import date, datetime
from typing import Any
from uuid import UUID

from django.http import Http404
from django.utils import timezone
from ninja import Field, Router, Schema

from accounts.authentication import SignedInRequest
from companions.access import get_companion
from companions.memories import consolidation
from companions.pagination import PageQuery, paginate
from memory.models import Change, Consolidation, Memory

router = Router(tags=["nights"])
Out = dict[str, Any]


class ConcernedOut(Schema):
    id: UUID
    kind: str
    text: str


class StandsOut(Schema):
    status: str = Field(description="new, under_way, done or given_up.")
    progress: int
    excitement: int


class ChangeOut(Schema):
    id: UUID
    kind: str = Field(description="merged, contradiction, insight or reviewed.")
    memory: ConcernedOut = Field(description="What came of it; of a contradiction, a.")
    others: list[ConcernedOut] = Field(description="What it came from; of a contradiction, b.")
    before: StandsOut | None = Field(description="How a reviewed goal or idea stood.")
    after: StandsOut | None
    settled: str | None = Field(description="What of a contradiction was kept: a, b or both.")
    undone_at: datetime | None


class NightOut(Schema):
    id: UUID
    night_of: date = Field(description="The day that the night leads to, where the user lives.")
    state: str = Field(description="done or failed.")
    ended_at: datetime
    changes: list[ChangeOut]


class NightsOut(Schema):
    items: list[NightOut]
    next: str | None


class SettleIn(Schema):
    keep: Change.Settled = Field(description="Which of the two holds; the other is closed, and stays.")


@router.get(
    "/{uuid:companion_id}/nights",
    response=NightsOut,
    operation_id="list_nights",
    summary="What was done with its memories by night, newest first",
)
def list_nights(request: SignedInRequest, companion_id: UUID, query: PageQuery) -> Out:
    items, next_cursor = paginate(
        consolidation.ended(get_companion(request.user, companion_id)), "ended_at", query
    )
    return {"items": [night_out(night) for night in items], "next": next_cursor}


@router.post(
    "/{uuid:companion_id}/nights/changes/{uuid:change_id}/undo",
    response=ChangeOut,
    operation_id="undo_change",
    summary="Undo one thing that a night did; 409 where it was changed since",
)
def undo_change(request: SignedInRequest, companion_id: UUID, change_id: UUID) -> Out:
    companion = get_companion(request.user, companion_id)
    try:
        return change_out(consolidation.undo_change(companion, change_id, timezone.now()))
    except Change.DoesNotExist as error:
        raise Http404 from error


@router.post(
    "/{uuid:companion_id}/nights/changes/{uuid:change_id}/settle",
    response=ChangeOut,
    operation_id="settle_change",
    summary="Say which of two memories that contradict each other holds",
)
def settle_change(request: SignedInRequest, companion_id: UUID, change_id: UUID, body: SettleIn) -> Out:
    companion = get_companion(request.user, companion_id)
    try:
        return change_out(consolidation.settle_change(companion, change_id, body.keep, timezone.now()))
    except Change.DoesNotExist as error:
        raise Http404 from error


def night_out(night: Consolidation) -> Out:
    told = {name: getattr(night, name) for name in ("id", "night_of", "state", "ended_at")}
    return {**told, "changes": [change_out(change) for change in night.changes.all()]}


def change_out(change: Change) -> Out:
    is_review = change.kind == Change.Kind.REVIEWED
    return {
        "id": change.pk,
        "kind": change.kind,
        "memory": _concerned(change.memory),
        "others": [_concerned(memory) for memory in change.others.all()],
        "before": change.before if is_review else None,
        "after": change.before["became"] if is_review else None,
        "settled": change.settled or None,
        "undone_at": change.undone_at,
    }


def _concerned(memory: Memory) -> Out:
    return {"id": memory.pk, "kind": memory.kind, "text": memory.text}
