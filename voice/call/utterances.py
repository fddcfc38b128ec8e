"""What a person has said becomes a message like any other, and a recording of it is kept."""

import asyncio
import contextlib
from dataclasses import dataclass

from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.errors import RefusedError
from companions.models import Companion, Message
from companions.replies.start import Started, start
from database.threads import in_thread
from files.errors import FilesError
from providers.sound import Sound
from providers.transcription import Transcript
from voice.call.sounds import sound_of
from voice.errors import HearingError
from voice.hearing import sending, taking, transcribing
from voice.models import Recording

NOTHING = ("silent", "nothing_heard")
"""The codes with which no words were in it: that is no mistake of anybody's."""
SLOW_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Utterance:
    """What was said at once: a file of sound, under the client's id."""

    client_id: str
    language: str
    content: bytes


async def hear(companion: Companion, said: Utterance) -> Started | None:
    """The message that it became, whose reply is on its way; None where no words were in it.

    HearingError, GateError, CompanionsError: then nothing is kept. The same one again gives the same message. Where there
    is no room for the recording, the words are sent all the same.
    """
    if before := await in_thread(_sent_before, companion, said.client_id):
        return before
    sound = sound_of(said.content)
    try:
        return await _hear(companion, said, sound) if not sound.is_silent else None
    except HearingError as error:
        if error.code in NOTHING:
            return None
        raise


async def _hear(companion: Companion, said: Utterance, sound: Sound) -> Started:
    keeping = asyncio.create_task(taking.keep_sound(companion, sound, timezone.now()))
    try:
        heard = await _words(companion, said, sound)
        recording = await _kept(keeping)
        if recording is None:
            return await sending.send_words(companion, heard.text, said.client_id, timezone.now)
        recording.heard, recording.language = heard.text, heard.language
        await in_thread(transcribing.write_down, recording)
        return await sending.send(recording, heard.text, said.client_id, timezone.now)
    except RefusedError:
        if recording := await _kept(keeping):
            await in_thread(
                Recording.objects.filter(companion=companion, pk=recording.pk, message=None).delete
            )
        raise
    finally:
        keeping.cancel()


async def _words(companion: Companion, said: Utterance, sound: Sound) -> Transcript:
    try:
        return await transcribing.transcript(
            companion.user, sound, timezone.now, language=said.language, companion=companion
        )
    except HearingError as error:
        if error.code in NOTHING:
            raise
        detail = _(
            "This could not be listened to just now. Say it again in a moment, or write it in the talk."
        )
        raise HearingError(error.code, detail, error.status) from error


async def _kept(keeping: asyncio.Task[Recording]) -> Recording | None:
    """The recording; None where there is no room for it, or where the storage is slow: nobody is to wait for that."""
    with contextlib.suppress(FilesError, TimeoutError):
        return await asyncio.wait_for(asyncio.shield(keeping), SLOW_SECONDS)
    return None


def _sent_before(companion: Companion, client_id: str) -> Started | None:
    """What the same id was sent with before."""
    mine = Message.objects.filter(companion=companion, role=Message.Role.USER)
    message = mine.filter(client_id=client_id).first()
    return start(companion, message.text, client_id, timezone.now()) if message else None
