"""Finding the words of a recording. No connection is held meanwhile, and what cannot be heard now is kept."""

from django.conf import settings
from django.utils.translation import gettext as _

from accounts.admission import step_aside
from accounts.errors import GateError
from accounts.models import SoundCall, User
from accounts.usage import admit_hearing
from companions.models import Companion
from database.threads import in_thread
from files.contents import read_content
from providers.errors import ProviderError, ProviderRefused
from providers.sound import Sound, read, wav
from providers.transcription import Transcript, is_offered, model
from providers.transcription import transcribe as ask
from text.storable import storable
from voice.errors import HearingError
from voice.hearing.recordings import as_json
from voice.models import Recording
from voice.sound_calls import Clock, recorded_call


async def transcribe_recording(recording: Recording, clock: Clock, language: str = "") -> Recording:
    """Return the recording with what was heard in it. HearingError, GateError, FilesError: it stays as it was.

    One that was sent holds what its message says; whatever is heard in it then, or again, is not put over that.
    """
    companion = recording.companion
    if recording.message_id:
        raise _sent_already()
    # It was written by Kith itself, and need not be read apart.
    sound = await in_thread(lambda: read(read_content(recording.file), settings.AUDIO_SECONDS + 1))
    heard = await transcribe_sound(companion.user, sound, clock, language=language, companion=companion)
    recording.heard, recording.language = heard.text, heard.language
    await in_thread(save_heard, recording)
    return recording


async def try_to_transcribe(recording: Recording, clock: Clock, language: str) -> dict[str, object]:
    """Return the recording as JSON, transcribed; where that cannot be, with the reason."""
    try:
        return as_json(await transcribe_recording(recording, clock, language[:16]))
    except (HearingError, GateError) as error:
        return as_json(recording, error)


def save_heard(recording: Recording) -> None:
    """Keep what was heard; raise HearingError where the recording was sent or deleted meanwhile."""
    mine = Recording.objects.filter(companion=recording.companion_id, pk=recording.pk)
    if mine.filter(message=None).update(heard=recording.heard, language=recording.language):
        return
    if mine.exists():
        raise _sent_already()
    raise HearingError("no_such_recording", _("There is no such recording of yours any more."), 404)


def _sent_already() -> HearingError:
    return HearingError(
        "recording_sent", _("This recording was sent already. Correct its words instead."), 409
    )


async def transcribe_sound(
    user: User, sound: Sound, clock: Clock, *, language: str = "", companion: Companion | None = None
) -> Transcript:
    """Return what is said in the sound; its use is written down. Raise HearingError, GateError."""
    if not is_offered():
        raise HearingError("no_transcription", _("This Kith has no transcription. Type it instead."), 409)
    await in_thread(admit_hearing, user, sound.seconds, clock())
    step_aside()
    call = recorded_call(
        user.pk,
        SoundCall.Capability.TRANSCRIPTION,
        clock,
        provider=settings.TRANSCRIPTION["base_url"],
        model=model(),
        companion_id=companion.pk if companion else None,
        seconds=sound.seconds,
    )
    names = ", ".join(companion.names.values()) if companion else ""
    try:
        async with call:
            heard = await ask(wav(sound), language=language, prompt=names)
    except ProviderRefused as error:
        words = _("The transcription would not take this recording. It is kept; type what you said.")
        raise HearingError("transcription_refused", words, 503) from error
    except ProviderError as error:
        words = _("The transcription cannot be reached just now. Your recording is kept: try again, or type.")
        raise HearingError("transcription_unavailable", words, 503) from error
    text = storable(heard.text).strip()[: settings.MESSAGE_CHARACTERS]
    if not text:
        raise HearingError("nothing_heard", _("No words were heard in it. Say it again, or type it."))
    return Transcript(text, heard.language[:16], heard.seconds)
