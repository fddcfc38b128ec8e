"""A companion's mind: the model that answers, the model for background work, and the sampling settings."""

from typing import Annotated, Any
from uuid import UUID

from django.utils import timezone
from django.utils.translation import get_language
from ninja import Field, Router, Schema
from pydantic import BeforeValidator

from accounts.authentication import SignedInRequest
from companions.access import get_companion
from companions.api.schemas import FILE, FullListOut, Out, Text, describe_form
from companions.minds.choice import get_mind
from companions.minds.editing import change_mind, list_providers
from companions.minds.preset_files import MAX_BYTES, read_preset
from companions.minds.presets import load_presets
from companions.minds.sampling import MAX_STOP_CHARACTERS, PARAMETERS
from companions.minds.usage import SHOWN_DAYS, measure_daily_use
from companions.models import Companion
from files.uploads import read_upload
from providers.chat.sampling import MAX_OWN_STOPS
from providers.selection import Capability

router = Router(tags=["mind"])
presets_router = Router(tags=["mind"])
MIND = "/{uuid:companion_id}/mind"
BOUNDS = ", ".join(
    f"{parameter.name} {parameter.least} to {parameter.most}" for parameter in PARAMETERS.values()
)
SAMPLING = (
    "Sampling values that override the preset's. A value that is null or omitted is the preset's, or else the"
    f" server's default. Ranges: {BOUNDS}; stop: at most {MAX_OWN_STOPS} strings of 1 to"
    f" {MAX_STOP_CHARACTERS} characters."
)


class SamplingFields(Schema):
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    repetition_penalty: float | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    dry_multiplier: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: list[str] | None = None


def _check_object(value: object) -> object:
    """Return the value; raise ValueError if it is neither an object nor null, since Ninja would read it as `{}`."""
    if not isinstance(value, dict | None):
        raise ValueError("Input should be an object")
    return value


class PresetOut(Schema):
    slug: str
    name: str = Field(description="In the user's language, like `line`.")
    line: str
    sampling: SamplingFields


class PresetsOut(FullListOut[PresetOut]):
    pass


class DailyUseOut(Schema):
    model: str
    talk_tokens: int
    background_tokens: int
    cost: float | None = Field(
        description="At the operator's prices, in the provider's currency; null if no price is known."
    )


class MindOut(Schema):
    model: str = Field(description="The model that speaks for the companion; empty until its first answer.")
    background_model: str = Field(
        description="The model for work in the background; if empty, the server's default."
    )
    allows_stand_in: bool = Field(
        description="Whether another model may answer while the companion's own model is unavailable."
    )
    preset: str = Field(description="The slug of the companion's preset; empty for none.")
    sampling: SamplingFields = Field(description=SAMPLING)
    context_tokens: int | None = Field(
        description="Maximum number of context tokens to use; null for the model's full context."
    )
    models: list[str] = Field(
        description="The models that `model` can be set to, because they are available now."
    )
    background_models: list[str] = Field(description="The models that `background_model` can be set to.")
    daily_use: list[DailyUseOut] = Field(
        description=f"Tokens per day by model, averaged over the last {SHOWN_DAYS} days."
    )


class MindPatch(Schema):
    model: Text | None = Field(None, max_length=200, description="One of `models`.")
    background_model: Text | None = Field(
        None, max_length=200, description="One of `background_models`, or empty for the server's default."
    )
    allows_stand_in: bool | None = None
    preset: Text | None = Field(None, max_length=40)
    sampling: Annotated[SamplingFields | None, BeforeValidator(_check_object)] = Field(
        None, description=SAMPLING + " Replaces all earlier values."
    )
    context_tokens: int | None = Field(None, description="null for the model's full context.")


class ReadPresetOut(Schema):
    sampling: SamplingFields
    context_tokens: int | None
    unused: list[str] = Field(description="The names of settings in the file that Kith does not use.")
    refused: list[str] = Field(
        description="For each value in the file that is not possible here, a sentence on why."
    )


@router.get(
    MIND,
    response=MindOut,
    operation_id="get_mind",
    summary="Get a companion's models, preset and sampling values",
)
def show_mind(request: SignedInRequest, companion_id: UUID) -> Out:
    return mind_out(get_companion(request.user, companion_id))


@router.patch(
    MIND,
    response=MindOut,
    operation_id="change_mind",
    summary="Change a companion's models, preset or sampling values",
)
def patch_mind(request: SignedInRequest, companion_id: UUID, body: MindPatch) -> Out:
    companion = get_companion(request.user, companion_id)
    given = body.dict(exclude_unset=True)
    change_mind(
        companion,
        {name: value for name, value in given.items() if value is not None or name == "context_tokens"},
    )
    return mind_out(companion)


@router.post(
    MIND + "/preset-file",
    response=ReadPresetOut,
    operation_id="read_preset_file",
    summary="Read a SillyTavern preset file; nothing is saved",
    openapi_extra=describe_form(["file"], file=FILE),
)
def read_preset_file(request: SignedInRequest, companion_id: UUID) -> Any:
    get_companion(request.user, companion_id)
    return read_preset(read_upload(request, MAX_BYTES))


@presets_router.get("/presets", response=PresetsOut, operation_id="list_presets", summary="List the presets")
def list_presets(request: SignedInRequest) -> Out:
    return {"items": list(load_presets(request.user.language or get_language() or "en").values())}


def mind_out(companion: Companion) -> Out:
    mind = get_mind(companion)
    return {
        "model": mind.model,
        "background_model": mind.background_model,
        "allows_stand_in": mind.allows_stand_in,
        "preset": mind.preset,
        "sampling": mind.sampling,
        "context_tokens": mind.context_tokens,
        "models": list(list_providers(companion.user_id, Capability.CHAT)),
        "background_models": list(list_providers(companion.user_id, Capability.BACKGROUND)),
        "daily_use": measure_daily_use(companion, timezone.now()),
    }
