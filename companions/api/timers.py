from datetime import datetime
from typing import Literal
from uuid import UUID
from zoneinfo import ZoneInfo

from django.utils import timezone
from ninja import Field, Query, Router, Schema, Status

from accounts.authentication import SignedInRequest
from accounts.idempotency import create_once
from accounts.limits.rates import admit_to
from companions.access import get_companion, get_timer, get_waking
from companions.api.schemas import IdempotencyKey, ListOut, Out, Text
from companions.life.timers import timers
from companions.models import Companion, Timer
from companions.models.timer import NOTE_CHARACTERS
from companions.pagination import PageQuery, paginate
from database.journal import everywhere

router = Router(tags=["timers"])
TIMERS = "/{uuid:companion_id}/timers"
TIMER = TIMERS + "/{uuid:timer_id}"
State = Literal["active", "ended", "cancelled", "set_aside"]


class TimerIn(Schema):
    schedule: Text = Field(
        description="An interval (30s, 5min, 2h, 1d), a time (once:2026-04-10 09:00), or cron: with five fields "
        "(cron:0 8 * * 1-5); in the user's time zone."
    )
    note: Text = Field("", description=f"What the timer is for; at most {NOTE_CHARACTERS} characters.")


class TimerOut(Schema):
    id: UUID
    schedule: str
    in_words: str = Field(description="The schedule in words, in the user's language.")
    name: str = Field(
        description="evening or morning for the timers that every companion is created with; otherwise empty."
    )
    note: str
    by: Literal["companion", "user", "operator", "kith"]
    is_asked_for: bool = Field(description="Whether the user set the timer, or asked for it in conversation.")
    state: State
    due_at: datetime | None
    upcoming: list[datetime] = Field(description="The next five due times; empty if the timer is not active.")
    created_at: datetime
    ended_at: datetime | None


class TimersOut(ListOut[TimerOut]):
    pass


class WhichIn(Schema):
    state: State = "active"


class FiredOut(Schema):
    id: UUID
    timer_id: UUID
    origin: Literal["timer", "forced", "drive"]
    state: Literal["waiting", "done", "skipped", "failed"]
    due_at: datetime
    note: str


class WakingOut(Schema):
    waking: FiredOut


@router.get(TIMERS, response=TimersOut, operation_id="list_timers", summary="List the timers, newest first")
def list_timers(request: SignedInRequest, companion_id: UUID, query: PageQuery, which: Query[WhichIn]) -> Out:
    companion = get_companion(request.user, companion_id)
    items, next_cursor = paginate(companion.timers.filter(state=which.state), "created_at", query)
    zone = timers.get_zone(companion)
    return {"items": [_timer_out(timer, companion, zone) for timer in items], "next": next_cursor}


@router.post(TIMERS, response={201: TimerOut}, operation_id="set_timer", summary="Set a timer")
def set_timer(
    request: SignedInRequest, companion_id: UUID, body: TimerIn, key: IdempotencyKey = None
) -> Status[Out]:
    companion, now = get_companion(request.user, companion_id), timezone.now()

    def make() -> UUID:
        admit_to(companion.user, "timers", now)
        with everywhere():
            timer = timers.set_timer(
                companion, body.schedule, body.note, by=Timer.By.USER, now=now, is_asked_for=True
            )
        return timer.pk

    made_id, _ = create_once(request.user, f"set_timer {companion_id}", key, request.body, make)
    timer = get_timer(request.user, companion_id, made_id)
    return Status(201, _timer_out(timer, companion, timers.get_zone(companion)))


@router.delete(TIMER, response={204: None}, operation_id="cancel_timer", summary="Cancel a timer")
def cancel_timer(request: SignedInRequest, companion_id: UUID, timer_id: UUID) -> Status[None]:
    with everywhere():
        timers.cancel(get_timer(request.user, companion_id, timer_id), timezone.now())
    return Status(204, None)


@router.post(
    TIMER + "/fire",
    response={202: WakingOut},
    operation_id="fire_timer",
    summary="Fire a timer now; its regular due time does not change",
)
def fire_timer(
    request: SignedInRequest, companion_id: UUID, timer_id: UUID, key: IdempotencyKey = None
) -> Status[Out]:
    timer, now = get_timer(request.user, companion_id, timer_id), timezone.now()

    def make() -> UUID:
        admit_to(request.user, "timers", now)
        return timers.fire(timer, now, is_asked_for=True).pk

    made_id, _ = create_once(request.user, f"fire_timer {timer_id}", key, request.body, make)
    return Status(202, {"waking": get_waking(request.user, companion_id, made_id)})


def _timer_out(timer: Timer, companion: Companion, zone: ZoneInfo) -> Out:
    fields = ("id", "schedule", "name", "note", "by", "is_asked_for", "state", "due_at")
    return {
        **{name: getattr(timer, name) for name in (*fields, "created_at", "ended_at")},
        "in_words": timers.describe(timer, zone, companion.user.language),
        "upcoming": timers.get_upcoming(timer, zone),
    }
