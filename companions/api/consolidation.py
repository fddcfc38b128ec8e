"""Nights: consolidations of a companion's memory, and undoing and settling their changes."""

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
    memory: ConcernedOut = Field(description="The resulting memory; for a contradiction, memory a.")
    others: list[ConcernedOut] = Field(
        description="The memories that it was made from; for a contradiction, memory b."
    )
    before: StandsOut | None = Field(
        description="The state of a reviewed goal or idea before the change; null for other kinds."
    )
    after: StandsOut | None
    settled: str | None = Field(
        description="Which side of a contradiction was kept: a, b or both; null if it is not settled."
    )
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
    night_of: date = Field(description="The date on which the night ends, in the user's time zone.")
    state: str = Field(description="done or failed.")
    ended_at: datetime
    changes: list[ChangeOut]


class NightsOut(ListOut[NightOut]):
    pass


class SettleIn(Schema):
    keep: Change.Settled = Field(
        description="Which of the two memories is true. The other is closed, but not deleted."
    )


@router.get(
    NIGHTS,
    response=NightsOut,
    operation_id="list_nights",
    summary="List the nightly consolidations of a companion's memories, newest first",
)
def list_nights(request: SignedInRequest, companion_id: UUID, query: PageQuery) -> dict[str, object]:
    nights = consolidation.load_ended_nights(get_companion(request.user, companion_id))
    return list_rows(nights, "ended_at", query)


@router.post(
    CHANGE + "/undo",
    response=ChangeOut,
    operation_id="undo_change",
    summary="Undo one change of a night; 409 if the affected memories have changed since",
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
    summary="Settle a contradiction by choosing which of the two memories is true",
)
def settle_change(request: SignedInRequest, companion_id: UUID, change_id: UUID, body: SettleIn) -> Change:
    companion = get_companion(request.user, companion_id)
    try:
        return consolidation.settle_change(companion, change_id, body.keep, timezone.now())
    except Change.DoesNotExist as error:
        raise Http404 from error
