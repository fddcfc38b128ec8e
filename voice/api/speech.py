from typing import Annotated, Any
from uuid import UUID

from django.http import HttpResponse
from ninja import Field, Query, Router, Schema

from accounts.authentication import SignedInRequest
from companions.access import get_companion
from companions.api.schemas import Text
from jobs.background import in_thread
from voice.speech.responses import answer_sentence, answer_sound
from voice.speech.sound import speak_text
from voice.speech.spoken_text import WAIT_TIMEOUT_SECONDS, get_spoken_message, get_spoken_reply
from voice.speech.synthesis import CONTENT_TYPE

router = Router(tags=["voice"])
MAX_CHARACTERS = 5000
SOUND: dict[str, Any] = {"content": {CONTENT_TYPE: {"schema": {"type": "string", "format": "binary"}}}}
SENTENCE: dict[str, Any] = {
    "responses": {
        200: {
            "description": "The sentence; X-Kith-Start and X-Kith-End are its place in the text, in characters.",
            **SOUND,
        },
        204: {"description": "All is said before that number."},
        409: {"description": "`not_said_yet`: ask again; `browser_speaks`: no engine is connected."},
        503: {"description": "The engine does not speak just now."},
    }
}
"""Sentences are numbered from 0; what is not said aloud has no number."""


Wait = Annotated[float, Query(ge=0, allow_inf_nan=False)]


class SpeechIn(Schema):
    text: Text = Field(max_length=MAX_CHARACTERS)


@router.post(
    "/{uuid:companion_id}/speech",
    operation_id="speak",
    summary="A text of one's own in the companion's voice, as MP3",
    openapi_extra={"responses": {200: {"description": "The sound, marked as generated.", **SOUND}}},
)
async def speak(request: SignedInRequest, companion_id: UUID, body: SpeechIn) -> HttpResponse:
    companion = await in_thread(get_companion, request.user, companion_id)
    return answer_sound(*await speak_text(companion, body.text))


@router.get(
    "/{uuid:companion_id}/replies/{uuid:reply_id}/speech/{int:number}",
    operation_id="get_reply_speech",
    summary="A sentence of a reply as MP3, as soon as it is complete",
    openapi_extra=SENTENCE,
)
async def reply_speech(
    request: SignedInRequest,
    companion_id: UUID,
    reply_id: UUID,
    number: int,
    wait: Wait = WAIT_TIMEOUT_SECONDS,
) -> HttpResponse:
    reply = await in_thread(get_spoken_reply, request.user, companion_id, reply_id)
    return await answer_sentence(reply, number, min(wait, WAIT_TIMEOUT_SECONDS))


@router.get(
    "/{uuid:companion_id}/messages/{uuid:message_id}/speech/{int:number}",
    operation_id="get_message_speech",
    summary="A sentence of a message as MP3",
    openapi_extra=SENTENCE,
)
async def message_speech(
    request: SignedInRequest,
    companion_id: UUID,
    message_id: UUID,
    number: int,
    wait: Wait = WAIT_TIMEOUT_SECONDS,
) -> HttpResponse:
    source = await in_thread(get_spoken_message, request.user, companion_id, message_id)
    return await answer_sentence(source, number, min(wait, WAIT_TIMEOUT_SECONDS))
