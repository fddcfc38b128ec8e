"""A person's recordings: decoded in a sandbox, stored, transcribed, and sent as messages."""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import Q
from django.db.models.signals import post_delete
from django.dispatch import receiver
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.errors import GateError, RefusedError
from accounts.limits.admission import step_aside
from accounts.limits.usage import admit_hearing
from accounts.models import SoundCall, User
from companions.access import get_owned
from companions.conversations.editing import correct_message
from companions.conversations.messages import check_text
from companions.errors import ConflictError
from companions.models import Companion
from companions.replies import turn
from companions.replies.lifecycle import Start, Started, start
from files.contents import read_content, store_content
from files.models import StoredFile
from jobs.background import in_thread
from jobs.lease import Clock
from providers.errors import ProviderError, ProviderRefused
from providers.sound import Sound, SoundError, encode_mp3, encode_wav, read, read_isolated
from providers.transcription import Transcript, get_model, get_place, is_offered
from providers.transcription import transcribe as ask
from text.strings import storable
from voice.errors import HearingError
from voice.models import Recording
from voice.provider_calls import ConcurrencyLimit, recorded_call

T = TypeVar("T")
UNSENT_LIFETIME = timedelta(days=1)
SWEEP_BATCH = 500
_decoders = ThreadPoolExecutor(2, thread_name_prefix="recordings")  # decoding takes a whole core
LIMIT = ConcurrencyLimit(
    2,
    "too_many_recordings",
    gettext_lazy("Kith is still listening to your earlier recordings. Try again in a moment."),
)

ALREADY_SENT = (
    "recording_sent",
    gettext_lazy("This recording has already been sent. Correct its words instead."),
    409,
)
NOT_THERE = "no_such_recording", gettext_lazy("This recording of yours no longer exists."), 404


def get_recording(user: User, companion_id: UUID, recording_id: UUID) -> Recording:
    """Return the person's recording; raise Http404 if there is none or it is another person's."""
    related = ("companion__user", "companion__conversation", "file", "message__companion")
    return get_owned(user, Recording, *related, companion=companion_id, pk=recording_id)


async def add_recording(companion: Companion, content: bytes, now: datetime) -> Recording:
    """Store the content as a recording, not transcribed yet. Saves nothing on HearingError, FilesError or GateError."""
    return await keep_sound(companion, await read_sound(companion.user, content), now)


async def read_sound(user: User, content: bytes) -> Sound:
    """Decode an uploaded recording, regardless of its name or headers; raise HearingError, GateError."""
    with LIMIT.of(user.pk):
        return await _in_decoder(lambda: _read(content))


async def keep_sound(companion: Companion, sound: Sound, now: datetime) -> Recording:
    """Store the sound as an MP3, and return its recording, not transcribed yet; raise FilesError."""
    content = await _in_decoder(lambda: encode_mp3(sound, {}))
    return await in_thread(_keep, companion, content, sound.seconds, now)


@transaction.atomic
def correct_recording(recording: Recording, text: str, now: datetime) -> Recording:
    """Correct the recording's transcription, also in its message if it was sent; raise TextError, ReplyStateError."""
    check_text(text)
    recording.heard = text
    if recording.message:
        correct_message(recording.message, text, now)
    Recording.objects.filter(companion=recording.companion_id, pk=recording.pk).update(heard=text)
    return recording


def as_json(recording: Recording, refusal: RefusedError | None = None) -> dict[str, Any]:
    """Return the recording as JSON for pages and the API; `refusal` is why it was stored but not transcribed."""
    return {
        "id": str(recording.pk),
        "text": recording.heard,
        "seconds": round(recording.seconds, 2),
        "language": recording.language,
        "message_id": str(recording.message_id) if recording.message_id else None,
        "file_id": str(recording.file_id),
        "sound": reverse("file", args=[recording.file_id]),
        "created_at": recording.created_at.isoformat(),
        "code": refusal.code if refusal else None,
        "detail": str(refusal.detail) if refusal else None,
    }


def sweep_recordings(now: datetime) -> int:
    """Delete recordings not sent within a day, and sound files that belong to none; return how many were deleted."""
    since, count = now - UNSENT_LIFETIME, 0
    unsent = Recording.objects.filter(message=None, created_at__lt=since)
    while ids := list(unsent.values_list("pk", flat=True)[:SWEEP_BATCH]):
        count += len(ids)
        Recording.objects.filter(pk__in=ids, message=None).delete()
    lone = StoredFile.objects.filter(kind=StoredFile.Kind.RECORDING, recording=None, created_at__lt=since)
    return count + lone.delete()[0]


@receiver(post_delete, sender=Recording)
def delete_sound(instance: Recording, **_: object) -> None:
    """Delete the sound file of a deleted recording."""
    StoredFile.objects.filter(pk=instance.file_id).delete()


async def _in_decoder(work: Callable[[], T]) -> T:
    context = contextvars.copy_context()  # for the active language
    return await asyncio.get_running_loop().run_in_executor(_decoders, context.run, work)


def _read(content: bytes) -> Sound:
    try:
        sound = read_isolated(content, settings.AUDIO_SECONDS)
    except SoundError as error:
        detail: str | Promise = error.sentence
        if error.code == "too_long":
            minutes = settings.AUDIO_SECONDS // 60
            detail = ngettext(
                "A recording can last at most %(minutes)s minute.",
                "A recording can last at most %(minutes)s minutes.",
                minutes,
            ) % {"minutes": minutes}
        raise HearingError(error.code, detail) from error
    if sound.is_silent:
        raise HearingError("silent", _("Nothing can be heard in this recording. Is the microphone on?"))
    return sound


def _keep(companion: Companion, content: bytes, seconds: float, now: datetime) -> Recording:
    user, kind = companion.user, StoredFile.Kind.RECORDING
    file = store_content(user, content, kind, "audio/mpeg", now, companion=companion, seconds=seconds)
    try:
        return Recording.objects.create(companion=companion, file=file, seconds=seconds, created_at=now)
    except DatabaseError:
        file.delete()
        raise


async def transcribe_recording(recording: Recording, clock: Clock, language: str = "") -> Recording:
    """Transcribe the recording, save the result, and return the recording.

    Raise HearingError (also if it was sent already: its message's text is never overwritten), GateError or FilesError;
    then it stays as it was.
    """
    companion = recording.companion
    if recording.message_id:
        raise HearingError(*ALREADY_SENT)
    # Kith wrote this file itself, so it need not be decoded in the sandbox.
    sound = await in_thread(lambda: read(read_content(recording.file), settings.AUDIO_SECONDS + 1))
    heard = await transcribe_sound(companion.user, sound, clock, language=language, companion=companion)
    recording.heard, recording.language = heard.text, heard.language
    await in_thread(save_heard, recording)
    return recording


async def try_to_transcribe(recording: Recording, clock: Clock, language: str) -> dict[str, object]:
    """Transcribe the recording and return it as JSON; after a HearingError or GateError, with that as the reason.

    Raise FilesError.
    """
    try:
        return as_json(await transcribe_recording(recording, clock, language[:16]))
    except (HearingError, GateError) as error:
        return as_json(recording, error)


def save_heard(recording: Recording) -> None:
    """Save the transcription; raise HearingError if the recording was sent or deleted meanwhile."""
    mine = Recording.objects.filter(companion=recording.companion_id, pk=recording.pk)
    if mine.filter(message=None).update(heard=recording.heard, language=recording.language):
        return
    if mine.exists():
        raise HearingError(*ALREADY_SENT)
    raise HearingError(*NOT_THERE)


async def transcribe_sound(
    user: User, sound: Sound, clock: Clock, *, language: str = "", companion: Companion | None = None
) -> Transcript:
    """Return the transcript of the sound, and record the usage; raise HearingError, GateError.

    No database connection is held while the provider works.
    """
    if not is_offered():
        raise HearingError(
            "no_transcription", _("No transcription service is connected here. Type it instead."), 409
        )
    await in_thread(admit_hearing, user, sound.seconds, clock())
    step_aside()
    call = recorded_call(
        user.pk,
        SoundCall.Capability.TRANSCRIPTION,
        clock,
        provider=get_place(),
        model=get_model(),
        companion_id=companion.pk if companion else None,
        seconds=sound.seconds,
    )
    names = ", ".join(filter(None, companion.names.values())) if companion else ""
    try:
        async with call:
            heard = await ask(encode_wav(sound), language=language, prompt=names)
    except ProviderRefused as error:
        words = _(
            "The transcription service did not accept this recording. The recording is kept; type what"
            " you said."
        )
        raise HearingError("transcription_refused", words, 503) from error
    except ProviderError as error:
        words = _(
            "The transcription service cannot be reached right now. Your recording is kept: try again,"
            " or type."
        )
        raise HearingError("transcription_unavailable", words, 503) from error
    text = storable(heard.text).strip()[: settings.MESSAGE_CHARACTERS]
    if not text:
        raise HearingError("nothing_heard", _("No words could be heard. Say it again, or type it."))
    return Transcript(text, heard.language[:16], heard.seconds)


async def send_recording(
    recording: Recording, text: str, client_id: str | None, clock: Clock, begin: Start = start
) -> Started:
    """Send `text` as the recording's message, saved by `begin`; return the message and its reply.

    Raise TextError, QuoteError, AttachmentError, ConflictError, GateError, HearingError; then nothing is saved, and
    the recording can still be sent.
    """
    begin_with_it = partial(_start, recording.pk, begin)
    return await turn.send(recording.companion, text, client_id, clock, begin=begin_with_it)


@transaction.atomic
def _start(
    recording_id: UUID,
    begin: Start,
    companion: Companion,
    text: str,
    client_id: str | None,
    now: datetime,
    *,
    at_once: bool,
) -> Started:
    """Start the turn by `begin`, which locks the companion, and link the recording to its message."""
    started = begin(companion, text, client_id, now, at_once=at_once)
    mine = Recording.objects.filter(companion=companion)
    if not mine.filter(pk=recording_id).exists():
        raise HearingError(*NOT_THERE)
    taken = Q(pk=recording_id, message__isnull=False) | Q(message=started.message)
    if mine.filter(taken).exclude(pk=recording_id, message=started.message).exists():
        raise ConflictError(
            "recording_sent",
            _("This recording has already been sent, or the message already has another one."),
        )
    mine.filter(pk=recording_id).update(message=started.message)
    return started
