from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.http import Http404, HttpRequest
from django.utils import timezone
from ninja import Field, Router, Schema

from companions.api.cursor import PageQuery, page
from companions.api.finding import my_companion
from companions.life import inner_state
from companions.models import InnerState

router = Router(tags=["inner state"])
Out = dict[str, object]


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
        description="The messages that it was drawn from, beside the revision before."
    )
    waking_id: UUID | None

    @staticmethod
    def resolve_source_ids(state: InnerState) -> Sequence[UUID]:
        return state.seen


class InnerStateOut(InnerStateRevisionOut):
    now: FeelingOut = Field(description="What is left of that by now: moods drift back.")

    @staticmethod
    def resolve_now(state: InnerState) -> object:
        return inner_state.feeling_now(state, timezone.now())


class InnerStateRevisionsOut(Schema):
    items: list[InnerStateRevisionOut]
    next: str | None


@router.get(
    "/{uuid:companion_id}/inner-state",
    response=InnerStateOut,
    operation_id="get_inner_state",
    summary="How it feels and sees the present, as it holds",
)
def get_inner_state(request: HttpRequest, companion_id: UUID) -> InnerState:
    state = inner_state.newest(my_companion(request, companion_id).pk)
    if state is None:  # of a companion from before; the sweep begins it within a minute
        raise Http404
    return state


@router.get(
    "/{uuid:companion_id}/inner-state/revisions",
    response=InnerStateRevisionsOut,
    operation_id="list_inner_state_revisions",
    summary="Its inner states, the newest first",
)
def list_inner_state_revisions(request: HttpRequest, companion_id: UUID, asked: PageQuery) -> Out:
    states = InnerState.objects.filter(companion=my_companion(request, companion_id))
    items, following = page(states, "made_at", asked)
    return {"items": items, "next": following}
