import asyncio
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.utils import timezone
from ninja import Field, Router, Schema, Status

from accounts.authentication import SignedInRequest
from accounts.idempotency import check_key
from companions.access import get_companion
from companions.api.schemas import FILE, ClientId, FilledText, IdempotencyKey, MessageOut, Out, describe_form
from companions.events import render_saved
from companions.pagination import PageQuery, paginate
from companions.replies.turn import start_with
from files.uploads import read_upload
from jobs.background import in_thread
from voice import hearing
from voice.models import Recording

router = Router(tags=["voice"])
transcriptions = Router(tags=["voice"])


SOUND = describe_form(
    ["file"],
    file={**FILE, "description": "WebM, MP4, Ogg, WAV, MP3 or FLAC; at most 20 MB and 5 minutes."},
    language={"type": "string", "description": "The language spoken in it, such as `en`."},
)


class TranscriptOut(Schema):
    text: str
    language: str
    seconds: float


class RecordingOut(Schema):
    id: UUID
    text: str = Field(description="The transcript, or its corrected text.")
    seconds: float
    language: str
    message_id: UUID | None = Field(
        description="The message that the recording became; null until it is sent."
    )
    file_id: UUID = Field(description="The sound; its content is at /files/{file_id}.")
    created_at: datetime
    code: str | None = Field(
        description="Why it could not be transcribed; null if it was. The recording is kept in either case."
    )
    detail: str | None


class RecordingsOut(Schema):
    items: list[RecordingOut]
    next: str | None


class SendIn(Schema):
    text: str
    client_id: ClientId | None = None
    quoted: UUID | None = None
    attachments: list[UUID] = Field(default=[], max_length=20)


class SentReplyOut(Schema):
    id: UUID
    state: str


class SentOut(Schema):
    message: MessageOut
    reply: SentReplyOut


class RecordingPatch(Schema):
    text: FilledText


@transcriptions.post(
    "/transcriptions",
    response=TranscriptOut,
    operation_id="transcribe",
    summary="Transcribe a recording without storing it",
    openapi_extra=SOUND,
)
async def transcribe_sound(request: SignedInRequest) -> Out:
    content = await asyncio.to_thread(read_upload, request, settings.AUDIO_BYTES)
    sound = await hearing.read_sound(request.user, content)
    language = request.POST.get("language", "")[:16]
    found = await hearing.transcribe_sound(request.user, sound, timezone.now, language=language)
    return {"text": found.text, "language": found.language, "seconds": round(sound.seconds, 2)}


@router.post(
    "/{uuid:companion_id}/recordings",
    response={201: RecordingOut},
    operation_id="add_recording",
    summary="Upload a recording to transcribe, review and send; if not sent, it is deleted after a day",
    openapi_extra=SOUND,
)
async def add_recording(request: SignedInRequest, companion_id: UUID) -> Status[Out]:
    companion = await in_thread(get_companion, request.user, companion_id)
    content = await asyncio.to_thread(read_upload, request, settings.AUDIO_BYTES)
    recording = await hearing.add_recording(companion, content, timezone.now())
    language = request.POST.get("language", "")
    return Status(201, await hearing.try_to_transcribe(recording, timezone.now, language))


@router.get(
    "/{uuid:companion_id}/recordings",
    response=RecordingsOut,
    operation_id="list_recordings",
    summary="List the recordings, newest first",
)
def list_recordings(request: SignedInRequest, companion_id: UUID, query: PageQuery) -> Out:
    mine = Recording.objects.filter(companion=get_companion(request.user, companion_id))
    items, next_cursor = paginate(mine, "created_at", query)
    return {"items": [hearing.as_json(recording) for recording in items], "next": next_cursor}


@router.get(
    "/{uuid:companion_id}/recordings/{uuid:recording_id}",
    response=RecordingOut,
    operation_id="get_recording",
    summary="Get a recording",
)
def get_recording(request: SignedInRequest, companion_id: UUID, recording_id: UUID) -> Out:
    return hearing.as_json(hearing.get_recording(request.user, companion_id, recording_id))


@router.patch(
    "/{uuid:companion_id}/recordings/{uuid:recording_id}",
    response=RecordingOut,
    operation_id="correct_recording",
    summary="Correct a transcript; the message sent with it, and what was derived from that, change too",
)
def correct_recording(
    request: SignedInRequest, companion_id: UUID, recording_id: UUID, body: RecordingPatch
) -> Out:
    recording = hearing.get_recording(request.user, companion_id, recording_id)
    return hearing.as_json(hearing.correct_recording(recording, body.text, timezone.now()))


@router.post(
    "/{uuid:companion_id}/recordings/{uuid:recording_id}/transcribe",
    response=RecordingOut,
    operation_id="transcribe_recording",
    summary="Transcribe a recording again",
)
async def transcribe_recording(request: SignedInRequest, companion_id: UUID, recording_id: UUID) -> Out:
    recording = await in_thread(hearing.get_recording, request.user, companion_id, recording_id)
    return hearing.as_json(await hearing.transcribe_recording(recording, timezone.now))


@router.post(
    "/{uuid:companion_id}/recordings/{uuid:recording_id}/send",
    response={201: SentOut},
    operation_id="send_recording",
    summary="Send a recording with this text, as a message like any other",
)
async def send_recording(
    request: SignedInRequest, companion_id: UUID, recording_id: UUID, body: SendIn, key: IdempotencyKey = None
) -> Status[Out]:
    recording = await in_thread(hearing.get_recording, request.user, companion_id, recording_id)
    client_id = body.client_id or check_key(key)
    begin = start_with(body.attachments, body.quoted)
    started = await hearing.send_recording(recording, body.text, client_id, timezone.now, begin)
    return Status(201, render_saved(started.message, started.reply))


@router.delete(
    "/{uuid:companion_id}/recordings/{uuid:recording_id}",
    response={204: None},
    operation_id="delete_recording",
    summary="Permanently delete a recording; the message that it became stays, as text",
)
def delete_recording(request: SignedInRequest, companion_id: UUID, recording_id: UUID) -> Status[None]:
    hearing.get_recording(request.user, companion_id, recording_id).delete()
    return Status(204, None)
