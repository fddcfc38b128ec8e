"""Choosing how a companion sounds: a voice of the engine's, or an imitation of a recording, by consent."""

from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from companions.models import Companion
from files.keeping import drop, keep
from files.models import StoredFile
from providers.sound import Sound, SoundError, read_apart, wav
from voice.errors import SpeakingError
from voice.few import Few
from voice.models import Voice

CONSENT = _("This is my own voice, or its owner has agreed that a companion speaks with it.")
LEAST_SECONDS = 1.0
FEW = Few(  # each may take a core and much memory to read
    1,
    "too_many_recordings",
    _("Your recordings before this one are still being listened to. Try again in a moment."),
)
FIELDS = ("name", "speed", "reads_aloud")


@transaction.atomic
def choose(companion: Companion, **chosen: object) -> Voice:
    """The voice with what was chosen: its name, its speed, whether answers are read aloud."""
    voice, _made = Voice.objects.select_for_update(of=("self",)).get_or_create(companion=companion)
    for name, value in chosen.items():
        setattr(voice, name, value)
    voice.save(update_fields=list(chosen))
    return voice


def imitate(companion: Companion, content: bytes, text: str, consent: str, now: datetime) -> Voice:
    """The voice, from now on an imitation of this recording, where the engine can do that.

    It is kept as plain sound without what else was in the file. Raises SpeakingError where there is no statement of
    consent or no voice in it, FilesError where it cannot be kept, GateError where another is still being read.
    """
    if not consent.strip():
        raise SpeakingError("no_consent", _("Say first that the owner of this voice has agreed."))
    with FEW.of(companion.user_id):
        sound = _read(content)
    kind, content = StoredFile.Kind.REFERENCE, wav(sound)
    file = keep(companion.user, content, kind, "audio/wav", now, companion=companion, seconds=sound.seconds)
    return _take(companion, file, text.strip(), consent.strip(), now)


def _read(content: bytes) -> Sound:
    try:
        sound = read_apart(content, settings.REFERENCE_SECONDS)
    except SoundError as error:
        raise SpeakingError(error.code, error.sentence) from error
    if sound.is_silent or sound.seconds < LEAST_SECONDS:
        raise SpeakingError("silent", _("There is no voice to be heard in this recording."))
    return sound


def forget_reference(companion: Companion) -> Voice:
    """The voice without its recording, which is gone."""
    return _take(companion, None, "", "", None)


@transaction.atomic
def _take(
    companion: Companion, file: StoredFile | None, text: str, consent: str, now: datetime | None
) -> Voice:
    Voice.objects.get_or_create(companion=companion)
    voice = Voice.objects.select_for_update(of=("self",)).select_related("reference").get(companion=companion)
    before, voice.reference = voice.reference, file
    voice.reference_text, voice.consent, voice.consented_at = text[:1000], consent[:500], now
    voice.save(update_fields=["reference", "reference_text", "consent", "consented_at"])
    if before:
        drop(before)
    return voice
