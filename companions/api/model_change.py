"""The change of a companion's model: the user's decision, and the comparison of two models on the same exchanges."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone
from ninja import Field, Router, Schema, Status

from accounts.authentication import SignedInRequest
from companions import access
from companions.api.schemas import Text
from companions.events import describe_failure
from companions.minds.change import Decision, ModelState, decide, describe_state
from companions.minds.comparison import MAX_EXCHANGES, USUAL_EXCHANGES, start_comparison
from companions.models import Comparison

router = Router(tags=["models"])
CHANGE = "/{uuid:companion_id}/model-change"
COMPARISON = "/{uuid:companion_id}/comparison"


class ModelStateOut(Schema):
    model: str = Field(description="The companion's own model; empty before its first answer.")
    is_there: bool = Field(
        description="Whether it can be asked now. Where not, the talk waits or another stands in."
    )
    allows_stand_in: bool
    other: str = Field(description="Who would stand in; empty for nobody.")
    proposed: str = Field(
        description="What the operator has chosen, and nobody has decided on yet; else empty."
    )


class DecisionIn(Schema):
    decision: Decision
    model: Text = Field("", max_length=200, description="The other model.")


class DifferenceOut(Schema):
    own: float
    other: float
    difference: float = Field(description="The other less the own, on average.")
    low: float = Field(description="From where to where 95 % of resamples put it.")
    high: float
    p: float = Field(
        description="How likely so large a difference is among equals, adjusted for all measures."
    )


class MeaningOut(Schema):
    distance: float = Field(description="Mean cosine distance of the two answers to the same message.")
    p: float


class ReportOut(Schema):
    answers: int
    measures: dict[str, DifferenceOut] = Field(
        description="length, questions, name, formal, language, emotions, gladness and memory."
    )
    meaning: MeaningOut | None = None


class ComparedOut(Schema):
    message_id: UUID
    own: str | None = Field(description="null until it is answered.")
    other: str | None


class ComparisonOut(Schema):
    id: UUID
    own_model: str
    other_model: str
    created_at: datetime
    ended_at: datetime | None
    error: str | None
    detail: str | None
    exchanges: list[ComparedOut] = Field(description="Without those of which something was deleted since.")
    report: ReportOut | None


class ComparisonIn(Schema):
    model: Text = Field(max_length=200, description="The other model.")
    exchanges: int = Field(USUAL_EXCHANGES, ge=1, le=MAX_EXCHANGES)


@router.get(
    CHANGE,
    response=ModelStateOut,
    operation_id="get_model_change",
    summary="The companion's model, and which other the operator has chosen",
)
def get_model_change(request: SignedInRequest, companion_id: UUID) -> ModelState:
    return describe_state(access.get_companion(request.user, companion_id), timezone.now())


@router.post(
    CHANGE,
    response=ModelStateOut,
    operation_id="decide_model_change",
    summary="Take the other model, keep the own one, decide later, or let another stand in; 409 where it is not there",
)
def decide_model_change(request: SignedInRequest, companion_id: UUID, body: DecisionIn) -> ModelState:
    companion, now = access.get_companion(request.user, companion_id), timezone.now()
    decide(companion, body.decision, body.model, now)
    return describe_state(companion, now)


@router.get(
    COMPARISON, response=ComparisonOut, operation_id="get_comparison", summary="Both models' answers so far"
)
def get_comparison(request: SignedInRequest, companion_id: UUID) -> dict[str, Any]:
    return _render(access.get_comparison(request.user, companion_id))


@router.post(
    COMPARISON,
    response={202: ComparisonOut},
    operation_id="start_comparison",
    summary="Have the newest exchanges answered by both models; an earlier comparison goes",
)
def post_comparison(
    request: SignedInRequest, companion_id: UUID, body: ComparisonIn
) -> Status[dict[str, Any]]:
    companion = access.get_companion(request.user, companion_id)
    return Status(202, _render(start_comparison(companion, body.model, body.exchanges, timezone.now())))


@router.delete(
    COMPARISON,
    response={204: None},
    operation_id="delete_comparison",
    summary="End it, and keep nothing of it",
)
def delete_comparison(request: SignedInRequest, companion_id: UUID) -> Status[None]:
    access.get_comparison(request.user, companion_id).delete()
    return Status(204, None)


def _render(comparison: Comparison) -> dict[str, Any]:
    rows = comparison.exchanges.select_related("prompt__reply").defer("prompt__messages", "prompt__tools")
    return {
        "id": comparison.pk,
        "own_model": comparison.own_model,
        "other_model": comparison.other_model,
        "created_at": comparison.created_at,
        "ended_at": comparison.ended_at,
        "error": comparison.error or None,
        "detail": describe_failure(comparison.error) if comparison.error else None,
        "exchanges": [
            {"message_id": row.prompt.reply.message_id, "own": row.own_text, "other": row.other_text}
            for row in rows
        ],
        "report": comparison.report or None,
    }
