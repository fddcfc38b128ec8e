import asyncio
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.utils import timezone
from ninja import Field, Router, Schema, Status

from accounts.authentication import SignedInRequest
from companions.access import get_companion
from companions.api.schemas import FILE, Out, Text, describe_form
from companions.models import Companion
from files.uploads import read_upload
from jobs.background import in_thread
from voice.models import MAX_SPEED, MIN_SPEED
from voice.speech import voices

router = Router(tags=["voice"])
RECORDING = describe_form(
    ["file", "consent"],
    file=FILE,
    text={"type": "string", "description": "What is said in the recording, word for word."},
    consent={"type": "string", "description": "The statement that the voice's owner has agreed to its use."},
)


class ReferenceOut(Schema):
    file_id: UUID = Field(description="The sound; its content is at /files/{file_id}.")
    seconds: float
    text: str
    consent: str
    consented_at: datetime


class VoiceOut(Schema):
    name: str = Field(description="One of `voices`; empty for the engine's default voice.")
    speed: float
    reads_aloud: bool
    reference: ReferenceOut | None
    engine: str = Field(description="The speech engine; `browser` if none is connected.")
    voices: list[str]
    takes_reference: bool


class VoicePatch(Schema):
    name: Text | None = Field(
        None, max_length=200, description="One of `voices`, or empty for the engine's default voice."
    )
    speed: float | None = Field(None, ge=MIN_SPEED, le=MAX_SPEED)
    reads_aloud: bool | None = None


@router.get(
    "/{uuid:companion_id}/voice",
    response=VoiceOut,
    operation_id="get_voice",
    summary="Get a companion's voice, and the voices to choose from",
)
async def get_voice(request: SignedInRequest, companion_id: UUID) -> Out:
    companion = await in_thread(get_companion, request.user, companion_id)
    return await _describe(companion)


@router.patch(
    "/{uuid:companion_id}/voice",
    response=VoiceOut,
    operation_id="change_voice",
    summary="Change a companion's voice",
)
async def change_voice(request: SignedInRequest, companion_id: UUID, body: VoicePatch) -> Out:
    companion = await in_thread(get_companion, request.user, companion_id)
    if body.name:
        voice = await in_thread(voices.get_voice, companion)
        voices.check_voice(body.name, await voices.load_offer(), voice)
    if changes := body.dict(exclude_none=True):
        await in_thread(voices.change_voice, companion, **changes)
    return await _describe(companion)


@router.post(
    "/{uuid:companion_id}/voice/reference",
    response={201: VoiceOut},
    operation_id="set_voice_reference",
    summary="Set a recording for the voice to imitate, with the statement that its owner has agreed",
    openapi_extra=RECORDING,
)
async def set_reference(request: SignedInRequest, companion_id: UUID) -> Status[Out]:
    companion = await in_thread(get_companion, request.user, companion_id)
    content = await asyncio.to_thread(read_upload, request, settings.AUDIO_BYTES)
    text, consent = request.POST.get("text", ""), request.POST.get("consent", "")
    await in_thread(voices.set_reference, companion, content, text, consent, timezone.now())
    return Status(201, await _describe(companion))


@router.delete(
    "/{uuid:companion_id}/voice/reference",
    response={204: None},
    operation_id="delete_voice_reference",
    summary="Delete the voice's reference recording",
)
def delete_reference(request: SignedInRequest, companion_id: UUID) -> Status[None]:
    voices.delete_reference(get_companion(request.user, companion_id))
    return Status(204, None)


async def _describe(companion: Companion) -> Out:
    offer, voice = await voices.load_offer(), await in_thread(voices.get_voice, companion)
    reference = voice.reference and {
        "file_id": voice.reference.pk,
        "seconds": voice.reference.seconds or 0.0,
        "text": voice.reference_text,
        "consent": voice.consent,
        "consented_at": voice.consented_at,
    }
    return {
        "name": voice.name,
        "speed": voice.speed,
        "reads_aloud": voice.reads_aloud,
        "reference": reference,
        "engine": offer.engine,
        "voices": offer.voices,
        "takes_reference": offer.takes_reference,
    }
