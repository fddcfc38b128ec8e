"""A companion's life between conversations: its log, inner state, settings and unread messages; and notices."""

from datetime import datetime, time
from typing import Any, Literal
from uuid import UUID

from django.http import Http404
from django.utils import timezone, translation
from ninja import Field, Router, Schema, Status
from pydantic import AwareDatetime

from accounts.authentication import SignedInRequest
from companions.access import get_companion, get_notice
from companions.api.schemas import ListOut, list_rows
from companions.life import inner_state, log, outreach
from companions.models import InnerState, Life
from companions.pagination import PageQuery, paginate_merged
from safety import notices
from safety.models import Notice

router = Router()
my_router = Router(tags=["me"])
INNER_STATE = "/{uuid:companion_id}/inner-state"
SETTINGS = "/{uuid:companion_id}/life/settings"
Out = dict[str, Any]


class ToolOut(Schema):
    name: str
    is_error: bool


class LifeEntryOut(Schema):
    """A waking, or a change of its inner state by thinking about a talk."""

    id: UUID
    kind: Literal["waking", "reflection"]
    at: datetime
    why: str = Field(description="What made it do so, in a sentence in the person's language.")
    what: str = Field(description="What came of it, in a sentence.")
    state: Literal["waiting", "done", "skipped", "failed"]
    outcome: Literal["", "spoke", "silent", "held", "reminded"]
    code: str = Field(description="Why it did not wake, or was not to speak, in a word.")
    note: str = Field(description="What it was to wake for.")
    is_asked_for: bool
    missed: int = Field(description="Due times that had passed before, for all of which this one stands.")
    thought: str
    message_id: UUID | None = Field(description="What it said.")
    tools: list[ToolOut]


class LifeLogOut(ListOut[LifeEntryOut]):
    pass


@router.get(
    "/{uuid:companion_id}/life",
    response=LifeLogOut,
    operation_id="list_life",
    tags=["life"],
    summary="Its life log: each waking and what came of it, newest first",
)
def list_life(request: SignedInRequest, companion_id: UUID, query: PageQuery) -> Out:
    companion = get_companion(request.user, companion_id)
    rows = [(log.load_wakings(companion), "due_at"), (log.load_reflections(companion), "made_at")]
    items, next_cursor = paginate_merged(rows, query)
    return {"items": [log.write_entry(companion, row) for row in items], "next": next_cursor}


class FeelingOut(Schema):
    valence: float = Field(description="-1 (bad) to 1 (good).")
    arousal: float = Field(description="0 (calm) to 1 (stirred).")
    emotion: str
    intensity: float = Field(description="Of the emotion, 0 to 1.")


class InnerStateRevisionOut(FeelingOut):
    """How it felt and saw the present, as it was written."""

    number: int = Field(description="The highest holds.")
    text: str = Field(description="In its own words.")
    by: str
    made_at: datetime
    source_ids: list[UUID] = Field(
        alias="seen", description="The messages that it was drawn from, beside the revision before."
    )
    waking_id: UUID | None


class InnerStateOut(InnerStateRevisionOut):
    now: FeelingOut = Field(description="What is left of that by now: moods drift back.")

    @staticmethod
    def resolve_now(state: InnerState) -> object:
        return inner_state.get_feeling_now(state, timezone.now())


class InnerStateRevisionsOut(ListOut[InnerStateRevisionOut]):
    pass


@router.get(
    INNER_STATE,
    response=InnerStateOut,
    operation_id="get_inner_state",
    tags=["inner state"],
    summary="How it feels and sees the present, as it holds",
)
def get_inner_state(request: SignedInRequest, companion_id: UUID) -> InnerState:
    state = inner_state.get_newest(get_companion(request.user, companion_id).pk)
    if state is None:  # a companion older than inner states; the sweep seeds its first one within a minute
        raise Http404
    return state


@router.get(
    INNER_STATE + "/revisions",
    response=InnerStateRevisionsOut,
    operation_id="list_inner_state_revisions",
    tags=["inner state"],
    summary="Its inner states, the newest first",
)
def list_inner_state_revisions(request: SignedInRequest, companion_id: UUID, query: PageQuery) -> Out:
    states = InnerState.objects.filter(companion=get_companion(request.user, companion_id))
    return list_rows(states, "made_at", query)


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
    SETTINGS,
    response=LifeOut,
    operation_id="get_life_settings",
    tags=["reaching out"],
    summary="How it lives between talks",
)
def get_life_settings(request: SignedInRequest, companion_id: UUID) -> Life:
    return get_companion(request.user, companion_id).life


@router.patch(
    SETTINGS,
    response=LifeOut,
    operation_id="change_life_settings",
    tags=["reaching out"],
    summary="Change how it lives, when it may write, or mute it",
)
def change_life_settings(request: SignedInRequest, companion_id: UUID, body: LifePatch) -> Life:
    life = get_companion(request.user, companion_id).life
    changes = body.dict(exclude_none=True)
    for name, value in changes.items():
        is_time = isinstance(value, time)
        setattr(life, name, value.replace(tzinfo=None, second=0, microsecond=0) if is_time else value)
    life.save(update_fields=list(changes))
    return life


@router.post(
    "/{uuid:companion_id}/read",
    response={204: None},
    operation_id="mark_read",
    tags=["reaching out"],
    summary="Say that what it said has been read",
)
def mark_read(request: SignedInRequest, companion_id: UUID, body: ReadIn) -> Status[None]:
    now = timezone.now()
    outreach.mark_read(get_companion(request.user, companion_id), min(body.until or now, now))
    return Status(204, None)


@my_router.get("/unread", response=UnreadOut, operation_id="count_unread", summary="What I have not read yet")
def count_unread(request: SignedInRequest) -> dict[str, Any]:
    counts = outreach.count_unread(request.user)
    return {"total": sum(counts.values()), "companions": {str(id): count for id, count in counts.items()}}


@my_router.get(
    "/notices",
    response=NoticesOut,
    operation_id="list_notices",
    summary="What I must be told, and have not seen",
)
def list_notices(request: SignedInRequest) -> dict[str, Any]:
    with translation.override(request.user.language or "en"):
        items = [
            {
                "id": notice.pk,
                "kind": notice.kind,
                "text": str(notices.describe(notice)),
                "made_at": notice.made_at,
            }
            for notice in notices.list_unseen(request.user, timezone.now())
        ]
    return {"items": items}


@my_router.post(
    "/notices/{uuid:notice_id}/seen",
    response={204: None},
    operation_id="see_notice",
    summary="Say that it was seen",
)
def see_notice(request: SignedInRequest, notice_id: UUID) -> Status[None]:
    notices.mark_seen(get_notice(request.user, notice_id), timezone.now())
    return Status(204, None)
