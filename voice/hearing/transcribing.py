"""Finding the words of a recording. No connection is held meanwhile, and what cannot be heard now is kept."""

import asyncio
from collections.abc import Callable
from datetime import datetime

from django.conf import settings
from django.utils.translation import gettext as _

from accounts.models import SoundCall, User
from accounts.shares import step_aside
from accounts.sound_usage import admit_hearing, note_sound
from companions.models import Companion
from database.threads import in_thread
from files.keeping import content_of
from memory.text import storable
from providers.errors import ProviderError, ProviderRefused
from providers.sound import Sound, read, wav
from providers.transcription import Transcript, is_offered, model
from providers.transcription import transcribe as ask
from voice.errors import HearingError
from voice.models import Recording

Clock = Callable[[], datetime]
AWAY = 503


async def transcribe(recording: Recording, clock: Clock, language: str = "") -> Recording:
    """The recording with what was heard in it. HearingError, GateError, FilesError: it stays as it was.

    One that was sent holds what its message says; whatever is heard in it then, or again, is not put over that.
    """
    companion = recording.companion
    if recording.message_id:
        raise _sent()
    sound = await in_thread(_sound_of, recording)
    heard = await transcript(companion.user, sound, clock, language=language, companion=companion)
    recording.heard, recording.language = heard.text, heard.language
    await in_thread(write_down, recording)
    return recording


def write_down(recording: Recording) -> None:
    """Keep what was heard; HearingError where the recording was sent or deleted meanwhile."""
    mine = Recording.objects.filter(companion=recording.companion_id, pk=recording.pk)
    if mine.filter(message=None).update(heard=recording.heard, language=recording.language):
        return
    if mine.exists():
        raise _sent()
    raise HearingError("no_such_recording", _("There is no such recording of yours any more."), 404)


def _sent() -> HearingError:
    return HearingError(
        "recording_sent", _("This recording was sent already. Correct its words instead."), 409
    )


async def transcript(
    user: User, sound: Sound, clock: Clock, *, language: str = "", companion: Companion | None = None
) -> Transcript:
    """What is said in the sound; its use is written down. HearingError, GateError."""
    if not is_offered():
        raise HearingError("no_transcription", _("This Kith has no transcription. Type it instead."), 409)
    began_at = clock()
    await in_thread(admit_hearing, user, sound.seconds, began_at)
    names = ", ".join(companion.names.values()) if companion else ""
    step_aside()
    failed: BaseException | None = None
    try:
        heard = await ask(wav(sound), language=language, prompt=names)
    except ProviderError as error:
        failed = error
        raise _cannot(error) from error
    except asyncio.CancelledError as error:
        failed = error
        raise
    finally:
        await asyncio.shield(in_thread(_note, user, companion, sound, failed, (began_at, clock())))
    return _with_words(heard)


def _note(
    user: User,
    companion: Companion | None,
    sound: Sound,
    failed: BaseException | None,
    times: tuple[datetime, datetime],
) -> None:
    note_sound(
        user.pk,
        SoundCall.Capability.TRANSCRIPTION,
        provider=settings.TRANSCRIPTION["base_url"],
        model=model(),
        companion_id=companion.pk if companion else None,
        seconds=sound.seconds,
        error=failed,
        started_at=times[0],
        ended_at=times[1],
    )


def _with_words(heard: Transcript) -> Transcript:
    text = storable(heard.text).strip()[: settings.MESSAGE_CHARACTERS]
    if not text:
        raise HearingError("nothing_heard", _("No words were heard in it. Say it again, or type it."))
    return Transcript(text, heard.language[:16], heard.seconds)


def _cannot(error: ProviderError) -> HearingError:
    if isinstance(error, ProviderRefused):
        words = _("The transcription would not take this recording. It is kept; type what you said.")
        return HearingError("transcription_refused", words, AWAY)
    words = _("The transcription cannot be reached just now. Your recording is kept: try again, or type.")
    return HearingError("transcription_unavailable", words, AWAY)


def _sound_of(recording: Recording) -> Sound:
    """It was written by Kith itself, and need not be read apart."""
    return read(content_of(recording.file), settings.AUDIO_SECONDS + 1)
