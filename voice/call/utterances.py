"""What a person has said becomes a message like any other, and a recording of it is kept."""

import asyncio
import contextlib
from dataclasses import dataclass

from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.errors import RefusedError
from companions.models import Companion, Message
from companions.replies.queue import Started, start
from database.threads import in_thread
from files.errors import FilesError
from providers.sound import Sound
from providers.transcription import Transcript
from voice.call.wav import read_wav
from voice.errors import HearingError
from voice.hearing.messages import send_recording, send_words
from voice.hearing.recordings import keep_sound
from voice.hearing.transcription import save_heard, transcribe_sound
from voice.models import Recording

WITHOUT_WORDS = ("silent", "nothing_heard")
"""The codes with which no words were in it: that is no mistake of anybody's."""
STORAGE_TIMEOUT_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Utterance:
    """What was said at once: a file of sound, under the client's id."""

    client_id: str
    language: str
    content: bytes


async def hear(companion: Companion, utterance: Utterance) -> Started | None:
    """Return the message that it became, whose reply is on its way; None where no words were in it.

    HearingError, GateError, CompanionsError: then nothing is kept. The same one again gives the same message. Where there
    is no room for the recording, the words are sent all the same.
    """
    if before := await in_thread(_find_sent, companion, utterance.client_id):
        return before
    sound = read_wav(utterance.content)
    if sound.is_silent:
        return None
    keeping = asyncio.create_task(keep_sound(companion, sound, timezone.now()))
    try:
        heard = await _transcribe(companion, utterance, sound)
        recording = await _await_recording(keeping)
        if recording is None:
            return await send_words(companion, heard.text, utterance.client_id, timezone.now)
        recording.heard, recording.language = heard.text, heard.language
        await in_thread(save_heard, recording)
        return await send_recording(recording, heard.text, utterance.client_id, timezone.now)
    except RefusedError as error:
        if recording := await _await_recording(keeping):
            unsent = Recording.objects.filter(companion=companion, pk=recording.pk, message=None)
            await in_thread(unsent.delete)
        if isinstance(error, HearingError) and error.code in WITHOUT_WORDS:
            return None
        raise
    finally:
        keeping.cancel()


async def _transcribe(companion: Companion, utterance: Utterance, sound: Sound) -> Transcript:
    try:
        return await transcribe_sound(
            companion.user, sound, timezone.now, language=utterance.language, companion=companion
        )
    except HearingError as error:
        if error.code in WITHOUT_WORDS:
            raise
        detail = _(
            "This could not be listened to just now. Say it again in a moment, or write it in the talk."
        )
        raise HearingError(error.code, detail, error.status) from error


async def _await_recording(keeping: asyncio.Task[Recording]) -> Recording | None:
    """Return the recording; None where there is no room for it, or the storage is slow: nobody is to wait for that."""
    with contextlib.suppress(FilesError, TimeoutError):
        return await asyncio.wait_for(asyncio.shield(keeping), STORAGE_TIMEOUT_SECONDS)
    return None


def _find_sent(companion: Companion, client_id: str) -> Started | None:
    """Return what was sent under the same id before."""
    mine = Message.objects.filter(companion=companion, role=Message.Role.USER)
    message = mine.filter(client_id=client_id).first()
    return start(companion, message.text, client_id, timezone.now()) if message else None
