"""The choice of a companion's voice: one of the engine's, or the imitation of a recording, with consent."""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.dispatch import receiver
from django.utils.translation import gettext_lazy as _

from companions.creation import companion_made
from companions.models import Companion
from files.contents import store_content
from files.models import StoredFile
from providers.errors import ProviderError
from providers.sound import SoundError, encode_wav, read_isolated
from providers.speech import get_engine, get_engine_name
from providers.speech.synthesis import ENGINES, EngineEntry
from text.strings import storable
from voice.errors import SpeakingError
from voice.models import Voice
from voice.provider_calls import ConcurrencyLimit

CONSENT = _("This is my own voice, or its owner has agreed that a companion speaks with it.")
MIN_REFERENCE_SECONDS = 1.0
LIMIT = ConcurrencyLimit(  # decoding may take a core and much memory
    1, "too_many_recordings", _("Kith is still listening to your earlier recordings. Try again in a moment.")
)


@dataclass(frozen=True, slots=True)
class Offer:
    """The voices to choose from: the engine and the names of its voices, which are none while it `is_away`."""

    engine: str
    voices: list[str]
    takes_reference: bool = False
    is_away: bool = False

    @property
    def entry(self) -> EngineEntry | None:
        """Return the description of the engine that people are shown, or None if the browser speaks."""
        return ENGINES.get(self.engine)


async def load_offer() -> Offer:
    """Ask the configured engine for its voices, and return its offer."""
    speaking = get_engine()
    if speaking is None:
        return Offer(get_engine_name(), [])
    try:
        voices = await speaking.voices()
    except ProviderError:
        return Offer(speaking.name, [], speaking.takes_reference, is_away=True)
    return Offer(speaking.name, voices, speaking.takes_reference)


def get_voice(companion: Companion) -> Voice:
    """Return the companion's voice, or an unsaved default if none was ever chosen."""
    voice = Voice.objects.select_related("reference").filter(companion=companion).first()
    return voice or Voice(companion=companion)


def check_voice(name: str, offer: Offer, voice: Voice) -> None:
    """Raise SpeakingError unless `name` is empty, in use, or one of the engine's.

    While the engine is away, its voices are not known, and any name is good.
    """
    if name and not offer.is_away and name not in (*offer.voices, voice.name):
        raise SpeakingError("no_such_voice", _("There is no such voice. Choose one of those offered."))


@transaction.atomic
def change_voice(companion: Companion, **changes: object) -> Voice:
    """Save the changed fields (`name`, `speed`, `reads_aloud`) of the companion's voice, and return it."""
    voice, _made = Voice.objects.select_for_update(of=("self",)).get_or_create(companion=companion)
    for name, value in changes.items():
        setattr(voice, name, value)
    voice.save(update_fields=list(changes))
    return voice


@receiver(companion_made, sender=Companion)
def begin_voice(companion: Companion, pace: float | None, **_: object) -> None:
    """Set the speed of a new companion's voice to its pace, if it has one."""
    if pace is not None:
        change_voice(companion, speed=pace)


def set_reference(companion: Companion, content: bytes, text: str, consent: str, now: datetime) -> Voice:
    """Save the recording as the one that the voice imitates, if the engine can do that.

    It is stored as plain WAV, without the file's metadata. Raise SpeakingError without consent or without a voice in
    it, FilesError if it cannot be stored, and GateError while another recording of the person's is being decoded.
    """
    if not consent.strip():
        raise SpeakingError("no_consent", _("First confirm that the owner of this voice has agreed."))
    with LIMIT.of(companion.user_id):
        try:
            sound = read_isolated(content, settings.REFERENCE_SECONDS)
        except SoundError as error:
            raise SpeakingError(error.code, error.sentence) from error
    if sound.is_silent or sound.seconds < MIN_REFERENCE_SECONDS:
        raise SpeakingError("silent", _("No voice can be heard in this recording."))
    kind, content = StoredFile.Kind.REFERENCE, encode_wav(sound)
    file = store_content(
        companion.user, content, kind, "audio/wav", now, companion=companion, seconds=sound.seconds
    )
    return _replace_reference(companion, file, storable(text).strip(), storable(consent).strip(), now)


def delete_reference(companion: Companion) -> Voice:
    """Delete the recording that the companion's voice imitates, and return the voice."""
    return _replace_reference(companion, None, "", "", None)


@transaction.atomic
def _replace_reference(
    companion: Companion, file: StoredFile | None, text: str, consent: str, now: datetime | None
) -> Voice:
    Voice.objects.get_or_create(companion=companion)
    voice = Voice.objects.select_for_update(of=("self",)).select_related("reference").get(companion=companion)
    before, voice.reference = voice.reference, file
    voice.reference_text, voice.consent, voice.consented_at = text[:1000], consent[:500], now
    voice.save(update_fields=["reference", "reference_text", "consent", "consented_at"])
    if before:
        before.delete()
    return voice
