from datetime import datetime, time
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone, translation
from ninja import Field, Router, Schema, Status
from pydantic import AwareDatetime

from companions.api.finding import my_companion, person
from companions.life import unread
from companions.models import Life
from safety import together
from safety.models import Notice

router = Router(tags=["reaching out"])
mine = Router(tags=["me"])


class LifeOut(Schema):
    """Whether a companion lives between talks, and when and how it may reach its person; hours of their zone."""

    is_awake: bool
    reaches_out: bool = Field(description="Whether it may write first, unasked.")
    is_muted: bool
    most_a_day: int
    quiet_from: time
    quiet_until: time
    sleeps_from: time
    sleeps_until: time
    by_email: bool
    by_push: bool


class LifePatch(Schema):
    is_awake: bool | None = None
    reaches_out: bool | None = None
    is_muted: bool | None = None
    most_a_day: int | None = Field(None, ge=0, le=Life.MOST_A_DAY)
    quiet_from: time | None = None
    quiet_until: time | None = None
    sleeps_from: time | None = None
    sleeps_until: time | None = None
    by_email: bool | None = None
    by_push: bool | None = None


class ReadIn(Schema):
    until: AwareDatetime | None = Field(
        None, description="What was said until then is read; without it, all."
    )


class UnreadOut(Schema):
    total: int
    companions: dict[str, int] = Field(description="How many of each companion, by its id.")


class NoticeOut(Schema):
    id: UUID
    kind: Notice.Kind
    text: str
    made_at: datetime


class NoticesOut(Schema):
    items: list[NoticeOut]
    next: str | None = Field(None, description="Always null: all are given at once.")


@router.get(
    "/{uuid:companion_id}/life/settings",
    response=LifeOut,
    operation_id="get_life_settings",
    summary="How it lives between talks",
)
def get_life_settings(request: HttpRequest, companion_id: UUID) -> Life:
    return my_companion(request, companion_id).life


@router.patch(
    "/{uuid:companion_id}/life/settings",
    response=LifeOut,
    operation_id="change_life_settings",
    summary="Change how it lives, when it may write, or mute it",
)
def change_life_settings(request: HttpRequest, companion_id: UUID, body: LifePatch) -> Life:
    life = my_companion(request, companion_id).life
    changes = {name: value for name, value in body.dict(exclude_unset=True).items() if value is not None}
    for name, value in changes.items():
        setattr(
            life,
            name,
            value.replace(tzinfo=None, second=0, microsecond=0) if isinstance(value, time) else value,
        )
    if changes:
        life.save(update_fields=list(changes))
    return life


@router.post(
    "/{uuid:companion_id}/read",
    response={204: None},
    operation_id="mark_read",
    summary="Say that what it said has been read",
)
def mark_read(request: HttpRequest, companion_id: UUID, body: ReadIn) -> Status[None]:
    now = timezone.now()
    unread.mark_read(my_companion(request, companion_id), min(body.until or now, now))
    return Status(204, None)


@mine.get("/unread", response=UnreadOut, operation_id="count_unread", summary="What I have not read yet")
def count_unread(request: HttpRequest) -> dict[str, Any]:
    counts = unread.unread(person(request))
    return {"total": sum(counts.values()), "companions": {str(id): count for id, count in counts.items()}}


@mine.get(
    "/notices",
    response=NoticesOut,
    operation_id="list_notices",
    summary="What I must be told, and have not seen",
)
def list_notices(request: HttpRequest) -> dict[str, Any]:
    with translation.override(person(request).language or "en"):
        items = [
            {"id": one.pk, "kind": one.kind, "text": str(together.words(one)), "made_at": one.made_at}
            for one in together.unseen(person(request), timezone.now())
        ]
    return {"items": items}


@mine.post(
    "/notices/{uuid:notice_id}/seen",
    response={204: None},
    operation_id="see_notice",
    summary="Say that it was seen",
)
def see_notice(request: HttpRequest, notice_id: UUID) -> Status[None]:
    together.see(get_object_or_404(Notice.objects.owned_by(person(request)), pk=notice_id), timezone.now())
    return Status(204, None)
