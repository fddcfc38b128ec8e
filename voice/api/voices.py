import asyncio
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from ninja import Field, Router, Schema, Status

from companions.api.finding import my_companion
from companions.models import Companion
from database.threads import in_thread
from files.uploading import uploaded
from voice.choosing import choose, forget_reference, imitate
from voice.models import Voice
from voice.models.voice import FASTEST, SLOWEST
from voice.offering import offer
from voice.speaking.tone import voice_of

router = Router(tags=["voice"])
Out = dict[str, Any]
RECORDING: Out = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "text": {"type": "string", "description": "What is said in it, word for word."},
                        "consent": {
                            "type": "string",
                            "description": "The statement that the voice's owner has agreed.",
                        },
                    },
                    "required": ["file", "consent"],
                }
            }
        },
    }
}


class ReferenceOut(Schema):
    file_id: UUID = Field(description="Its sound, at /files/{file_id}.")
    seconds: float
    text: str
    consent: str
    consented_at: datetime


class VoiceOut(Schema):
    name: str = Field(description="One of `voices`; empty for the engine's own.")
    speed: float
    reads_aloud: bool
    reference: ReferenceOut | None
    engine: str = Field(description="Who makes the voice; `browser` where no engine is connected.")
    voices: list[str]
    takes_reference: bool


class VoicePatch(Schema):
    name: str | None = Field(None, max_length=200)
    speed: float | None = Field(None, ge=SLOWEST, le=FASTEST)
    reads_aloud: bool | None = None


@router.get(
    "/{uuid:companion_id}/voice",
    response=VoiceOut,
    operation_id="get_voice",
    summary="How it sounds, and what there is to choose from",
)
async def get_voice(request: HttpRequest, companion_id: UUID) -> Out:
    companion = await in_thread(my_companion, request, companion_id)
    return await _shown(companion)


@router.patch(
    "/{uuid:companion_id}/voice", response=VoiceOut, operation_id="change_voice", summary="Choose its voice"
)
async def change_voice(request: HttpRequest, companion_id: UUID, body: VoicePatch) -> Out:
    companion = await in_thread(my_companion, request, companion_id)
    chosen = {name: value for name, value in body.dict(exclude_unset=True).items() if value is not None}
    if chosen:
        await in_thread(choose, companion, **chosen)
    return await _shown(companion)


@router.post(
    "/{uuid:companion_id}/voice/reference",
    response={201: VoiceOut},
    operation_id="set_voice_reference",
    summary="A recording that it is to imitate, with the statement that its owner has agreed",
    openapi_extra=RECORDING,
)
async def set_reference(request: HttpRequest, companion_id: UUID) -> Status[Out]:
    companion = await in_thread(my_companion, request, companion_id)
    content = await asyncio.to_thread(uploaded, request, settings.AUDIO_BYTES)
    text, consent = request.POST.get("text", ""), request.POST.get("consent", "")
    await in_thread(imitate, companion, content, text, consent, timezone.now())
    return Status(201, await _shown(companion))


@router.delete(
    "/{uuid:companion_id}/voice/reference",
    response={204: None},
    operation_id="delete_voice_reference",
    summary="Delete the recording",
)
def delete_reference(request: HttpRequest, companion_id: UUID) -> Status[None]:
    forget_reference(my_companion(request, companion_id))
    return Status(204, None)


async def _shown(companion: Companion) -> Out:
    offered, voice = await offer(), await in_thread(voice_of, companion)
    chosen = {"name": voice.name, "speed": voice.speed, "reads_aloud": voice.reads_aloud}
    made = {"engine": offered.engine, "voices": offered.voices, "takes_reference": offered.takes_reference}
    return {**chosen, **made, "reference": _reference(voice)}


def _reference(voice: Voice) -> Out | None:
    if voice.reference is None:
        return None
    told = {"text": voice.reference_text, "consent": voice.consent, "consented_at": voice.consented_at}
    return {"file_id": voice.reference.pk, "seconds": voice.reference.seconds or 0.0, **told}
