"""Pursuits: goals and ideas, with their progress."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from django.http import Http404
from django.utils import timezone
from ninja import Field, Query, Router, Schema

from accounts.authentication import SignedInRequest
from companions.access import get_companion
from companions.api.schemas import ListOut, list_rows
from companions.memories import goals
from companions.pagination import PageQuery
from memory.models import Memory, Pursuit

router = Router(tags=["goals and ideas"])
PURSUITS = "/{uuid:companion_id}/pursuits"


class PursuitOut(Schema):
    id: UUID = Field(description="The id of the memory that describes the goal or idea.")
    kind: Literal["goal", "idea"]
    text: str
    status: Pursuit.Status = Field(alias="pursuit.status")
    progress: int = Field(alias="pursuit.progress", description="In percent.")
    excitement: int = Field(alias="pursuit.excitement", description="From 1 to 10.")
    origin: Pursuit.Origin = Field(alias="pursuit.origin")
    parent_id: UUID | None = Field(
        alias="pursuit.parent_id", description="The goal that this one is part of; null for none."
    )
    is_private: bool
    learnt_at: datetime
    reviewed_at: datetime | None = Field(alias="pursuit.reviewed_at")
    moved_at: datetime | None = Field(
        alias="pursuit.moved_at", description="When the status or progress last changed."
    )


class PursuitsOut(ListOut[PursuitOut]):
    pass


class OfWhichIn(Schema):
    kind: Literal["goal", "idea"] | None = None
    status: Pursuit.Status | None = None


class PursuitPatch(Schema):
    status: Pursuit.Status | None = None
    progress: int | None = Field(
        None, ge=0, le=100, description="In percent. A goal or idea that is done is at 100."
    )
    excitement: int | None = Field(None, ge=1, le=10)
    parent_id: UUID | None = Field(None, description="The goal that this one is part of; null for none.")


@router.get(
    PURSUITS,
    response=PursuitsOut,
    operation_id="list_pursuits",
    summary="List the goals and ideas, newest first",
)
def list_pursuits(
    request: SignedInRequest, companion_id: UUID, query: PageQuery, which: Query[OfWhichIn]
) -> dict[str, object]:
    rows = goals.load_pursued(get_companion(request.user, companion_id)).filter(pursuit__isnull=False)
    rows = rows.filter(kind=which.kind) if which.kind else rows
    rows = rows.filter(pursuit__status=which.status) if which.status else rows
    return list_rows(rows, "learnt_at", query)


@router.patch(
    PURSUITS + "/{uuid:pursuit_id}",
    response=PursuitOut,
    operation_id="change_pursuit",
    summary="Change a goal's or idea's status, progress, excitement or parent",
)
def change_pursuit(
    request: SignedInRequest, companion_id: UUID, pursuit_id: UUID, body: PursuitPatch
) -> Memory:
    companion = get_companion(request.user, companion_id)
    sent = body.dict(exclude_unset=True)
    changes = {name: value for name, value in sent.items() if value is not None or name == "parent_id"}
    try:
        return goals.update(companion, pursuit_id, changes, timezone.now()).memory
    except Pursuit.DoesNotExist as error:
        raise Http404 from error
