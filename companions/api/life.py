"""A companion's life between conversations: its log, inner state, settings and unread messages; and notices."""

from datetime import datetime, time
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import Http404
from django.utils import timezone
from ninja import Field, Router, Schema, Status
from pydantic import AfterValidator, WithJsonSchema

from accounts.authentication import SignedInRequest
from companions.access import get_companion, get_notice
from companions.api.schemas import FullListOut, ListOut, Out, Timestamp, describe_choices, list_rows
from companions.life import inner_state, log, outreach
from companions.models import InnerState, Life
from companions.pagination import PageQuery, paginate_merged
from safety import notices
from safety.models import Notice

router = Router()
my_router = Router(tags=["me"])
INNER_STATE = "/{uuid:companion_id}/inner-state"
SETTINGS = "/{uuid:companion_id}/life/settings"


class ToolOut(Schema):
    name: str
    is_error: bool


class LifeEntryOut(Schema):
    """A waking, or a reflection that changed the companion's inner state."""

    id: UUID
    kind: Literal["waking", "reflection"]
    at: datetime
    why: str = Field(description="What caused it, as a sentence in the user's language.")
    what: str = Field(description="The result, as a sentence in the user's language.")
    state: Literal["waiting", "done", "skipped", "failed"]
    outcome: Literal["", "spoke", "silent", "held", "reminded"]
    code: str = Field(
        description="A code for why the companion did not wake or was not allowed to speak; otherwise empty."
    )
    note: str = Field(description="The note that the companion woke for.")
    is_asked_for: bool
    missed: int = Field(
        description="Number of earlier due times that were missed and that this waking stands for."
    )
    thought: str
    message_id: UUID | None = Field(description="The message that the companion sent; null if it sent none.")
    tools: list[ToolOut]


class LifeLogOut(ListOut[LifeEntryOut]):
    pass


@router.get(
    "/{uuid:companion_id}/life",
    response=LifeLogOut,
    operation_id="list_life",
    tags=["life"],
    summary="List a companion's life log: its wakings and reflections with their results, newest first",
)
def list_life(request: SignedInRequest, companion_id: UUID, query: PageQuery) -> Out:
    companion = get_companion(request.user, companion_id)
    rows = [(log.load_wakings(companion), "due_at"), (log.load_reflections(companion), "made_at")]
    items, next_cursor = paginate_merged(rows, query)
    return {"items": [log.write_entry(companion, row) for row in items], "next": next_cursor}


class FeelingOut(Schema):
    valence: float = Field(description="From -1 (bad) to 1 (good).")
    arousal: float = Field(description="From 0 (calm) to 1 (excited).")
    emotion: str
    intensity: float = Field(description="The emotion's intensity, from 0 to 1.")


class InnerStateRevisionOut(FeelingOut):
    """How the companion felt and saw the present when this revision was written."""

    number: int = Field(description="The revision's number. The highest is the current one.")
    text: str = Field(description="The state in the companion's own words.")
    by: str
    made_at: datetime
    source_ids: list[UUID] = Field(
        alias="seen",
        description="The messages that the revision is based on, in addition to the previous revision.",
    )
    waking_id: UUID | None


class InnerStateOut(InnerStateRevisionOut):
    now: FeelingOut = Field(description="The feeling at this moment: moods fade with time.")

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
    summary="Get a companion's current inner state",
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
    summary="List the revisions of a companion's inner state, newest first",
)
def list_inner_state_revisions(request: SignedInRequest, companion_id: UUID, query: PageQuery) -> Out:
    states = InnerState.objects.filter(companion=get_companion(request.user, companion_id))
    return list_rows(states, "made_at", query)


def _check_local(at: time) -> time:
    if at.tzinfo:
        raise ValueError("has an offset, but is in the user's time zone")
    return at


# The format `time` of JSON Schema has an offset.
LocalTime = Annotated[
    time, AfterValidator(_check_local), WithJsonSchema({"format": "time-local", "type": "string"})
]


class LifeOut(Schema):
    """Whether a companion is active between conversations, and when and how it may contact its user; local times."""

    is_awake: bool
    reaches_out: bool = Field(description="Whether the companion may write first.")
    is_muted: bool
    most_a_day: int
    quiet_from: LocalTime
    quiet_until: LocalTime
    sleeps_from: LocalTime
    sleeps_until: LocalTime
    by_email: bool
    by_push: bool


class LifePatch(Schema):
    is_awake: bool | None = None
    reaches_out: bool | None = None
    is_muted: bool | None = None
    most_a_day: int | None = Field(None, ge=0, le=Life.MOST_A_DAY)
    quiet_from: LocalTime | None = None
    quiet_until: LocalTime | None = None
    sleeps_from: LocalTime | None = None
    sleeps_until: LocalTime | None = None
    by_email: bool | None = None
    by_push: bool | None = None


class ReadIn(Schema):
    until: Timestamp | None = Field(
        None, description="Mark what was said up to this time as read; if omitted, everything."
    )


class UnreadOut(Schema):
    total: int
    companions: dict[str, int] = Field(
        description="The number of unread messages of each companion, by the companion's id."
    )


class NoticeOut(Schema):
    id: UUID
    kind: Annotated[Notice.Kind, describe_choices(Notice.Kind)]
    text: str
    made_at: datetime


class NoticesOut(FullListOut[NoticeOut]):
    pass


@router.get(
    SETTINGS,
    response=LifeOut,
    operation_id="get_life_settings",
    tags=["reaching out"],
    summary="Get a companion's settings for life between conversations",
)
def get_life_settings(request: SignedInRequest, companion_id: UUID) -> Life:
    return get_companion(request.user, companion_id).life


@router.patch(
    SETTINGS,
    response=LifeOut,
    operation_id="change_life_settings",
    tags=["reaching out"],
    summary="Change a companion's settings for life between conversations, or mute it",
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
    summary="Mark what a companion said as read",
)
def mark_read(request: SignedInRequest, companion_id: UUID, body: ReadIn) -> Status[None]:
    until = now = timezone.now()
    if body.until:
        # It may be a message's time, which the API cuts to milliseconds: it stands for all of its millisecond.
        until = min(body.until.replace(microsecond=body.until.microsecond // 1000 * 1000 + 999), now)
    outreach.mark_read(get_companion(request.user, companion_id), until)
    return Status(204, None)


@my_router.get("/unread", response=UnreadOut, operation_id="count_unread", summary="Count my unread messages")
def count_unread(request: SignedInRequest) -> dict[str, Any]:
    counts = outreach.count_unread(request.user, timezone.now())
    return {"total": sum(counts.values()), "companions": {str(id): count for id, count in counts.items()}}


@my_router.get(
    "/notices",
    response=NoticesOut,
    operation_id="list_notices",
    summary="List the notices that I have not seen",
)
def list_notices(request: SignedInRequest) -> dict[str, Any]:
    with request.user.use_language():
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
    summary="Mark a notice as seen",
)
def see_notice(request: SignedInRequest, notice_id: UUID) -> Status[None]:
    notices.mark_seen(get_notice(request.user, notice_id), timezone.now())
    return Status(204, None)
