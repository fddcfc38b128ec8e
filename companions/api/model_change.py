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
from companions.minds.comparison.comparison import MAX_EXCHANGES, USUAL_EXCHANGES, start_comparison
from companions.models import Comparison

router = Router(tags=["models"])
CHANGE = "/{uuid:companion_id}/model-change"
COMPARISON = "/{uuid:companion_id}/comparison"


class ModelStateOut(Schema):
    model: str = Field(description="The companion's own model; empty before its first answer.")
    is_there: bool = Field(
        description="Whether the model is available now. If not, the conversation waits or another model "
        "stands in."
    )
    allows_stand_in: bool
    other: str = Field(description="The model that could stand in; empty if there is none.")
    proposed: str = Field(
        description="The operator's chosen model, if the user has yet to decide on it; otherwise empty."
    )


class DecisionIn(Schema):
    decision: Decision
    model: Text = Field("", max_length=200, description="The other model.")


class DifferenceOut(Schema):
    own: float
    other: float
    difference: float = Field(description="The mean of `other` minus `own`.")
    low: float = Field(
        description="The lower bound of the 95 % confidence interval, which ends at `high`; by bootstrap."
    )
    high: float
    p: float = Field(
        description="The p-value: how likely so large a difference is between equal models, adjusted for "
        "multiple measures."
    )


class MeaningOut(Schema):
    distance: float = Field(description="Mean cosine distance between the two answers to the same message.")
    p: float


class ComparisonReportOut(Schema):
    answers: int
    measures: dict[str, DifferenceOut] = Field(
        description="By measure: length, questions, name, formal, language, emotions, gladness and memory."
    )
    meaning: MeaningOut | None = None


class ComparedOut(Schema):
    message_id: UUID
    own: str | None = Field(description="The answer of the companion's own model; null until there is one.")
    other: str | None


class ComparisonOut(Schema):
    id: UUID
    own_model: str
    other_model: str
    created_at: datetime
    ended_at: datetime | None
    error: str | None
    detail: str | None
    exchanges: list[ComparedOut] = Field(
        description="The compared exchanges, except those from which something has been deleted since."
    )
    report: ComparisonReportOut | None


class ComparisonIn(Schema):
    model: Text = Field(max_length=200, description="The other model.")
    exchanges: int = Field(USUAL_EXCHANGES, ge=1, le=MAX_EXCHANGES)


@router.get(
    CHANGE,
    response=ModelStateOut,
    operation_id="get_model_change",
    summary="Get a companion's model, and the one that the operator proposes",
)
def get_model_change(request: SignedInRequest, companion_id: UUID) -> ModelState:
    return describe_state(access.get_companion(request.user, companion_id), timezone.now())


@router.post(
    CHANGE,
    response=ModelStateOut,
    operation_id="decide_model_change",
    summary=(
        "Take the other model, keep the current one, decide later, or allow a stand-in; 409 "
        "if it is unavailable"
    ),
)
def decide_model_change(request: SignedInRequest, companion_id: UUID, body: DecisionIn) -> ModelState:
    companion, now = access.get_companion(request.user, companion_id), timezone.now()
    decide(companion, body.decision, body.model, now)
    return describe_state(companion, now)


@router.get(
    COMPARISON,
    response=ComparisonOut,
    operation_id="get_comparison",
    summary="Get a comparison of two models, with the answers so far",
)
def get_comparison(request: SignedInRequest, companion_id: UUID) -> dict[str, Any]:
    return _render(access.get_comparison(request.user, companion_id))


@router.post(
    COMPARISON,
    response={202: ComparisonOut},
    operation_id="start_comparison",
    summary="Have both models answer the newest exchanges; an earlier comparison is deleted",
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
    summary="End a comparison and delete it",
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
