from datetime import date, datetime
from typing import Any
from uuid import UUID

from django.http import Http404
from django.utils import timezone
from ninja import Field, Router, Schema

from accounts.authentication import SignedInRequest
from companions.access import get_companion
from companions.api.schemas import ListOut, list_rows
from companions.memories import consolidation
from companions.pagination import PageQuery
from memory.models import Change

router = Router(tags=["nights"])
NIGHTS = "/{uuid:companion_id}/nights"
CHANGE = NIGHTS + "/changes/{uuid:change_id}"


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

    @staticmethod
    def resolve_before(change: Change) -> Any:
        return change.before if change.kind == Change.Kind.REVIEWED else None

    @staticmethod
    def resolve_after(change: Change) -> Any:
        return change.before["became"] if change.kind == Change.Kind.REVIEWED else None

    @staticmethod
    def resolve_settled(change: Change) -> str | None:
        return change.settled or None


class NightOut(Schema):
    id: UUID
    night_of: date = Field(description="The day that the night leads to, where the user lives.")
    state: str = Field(description="done or failed.")
    ended_at: datetime
    changes: list[ChangeOut]


class NightsOut(ListOut[NightOut]):
    pass


class SettleIn(Schema):
    keep: Change.Settled = Field(description="Which of the two holds; the other is closed, and stays.")


@router.get(
    NIGHTS,
    response=NightsOut,
    operation_id="list_nights",
    summary="What was done with its memories by night, newest first",
)
def list_nights(request: SignedInRequest, companion_id: UUID, query: PageQuery) -> dict[str, object]:
    nights = consolidation.load_ended_nights(get_companion(request.user, companion_id))
    return list_rows(nights, "ended_at", query)


@router.post(
    CHANGE + "/undo",
    response=ChangeOut,
    operation_id="undo_change",
    summary="Undo one thing that a night did; 409 where it was changed since",
)
def undo_change(request: SignedInRequest, companion_id: UUID, change_id: UUID) -> Change:
    companion = get_companion(request.user, companion_id)
    try:
        return consolidation.undo_change(companion, change_id, timezone.now())
    except Change.DoesNotExist as error:
        raise Http404 from error


@router.post(
    CHANGE + "/settle",
    response=ChangeOut,
    operation_id="settle_change",
    summary="Say which of two memories that contradict each other holds",
)
def settle_change(request: SignedInRequest, companion_id: UUID, change_id: UUID, body: SettleIn) -> Change:
    companion = get_companion(request.user, companion_id)
    try:
        return consolidation.settle_change(companion, change_id, body.keep, timezone.now())
    except Change.DoesNotExist as error:
        raise Http404 from error
