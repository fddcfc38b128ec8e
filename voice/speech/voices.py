"""Choosing how a companion sounds: a voice of the engine's, or an imitation of a recording, by consent."""

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
from providers.sound import SoundError, read_isolated, wav
from providers.speech import get_engine, get_engine_name
from providers.speech.synthesis import ENGINES, EngineEntry
from voice.errors import SpeakingError
from voice.models import Voice
from voice.provider_calls import ConcurrencyLimit

CONSENT = _("This is my own voice, or its owner has agreed that a companion speaks with it.")
MIN_REFERENCE_SECONDS = 1.0
LIMIT = ConcurrencyLimit(  # each may take a core and much memory to read
    1,
    "too_many_recordings",
    _("Kith is still listening to your earlier recordings. Try again in a moment."),
)


@dataclass(frozen=True, slots=True)
class Offer:
    """What there is to choose from: the engine that speaks here, and the names of its voices, none while it is away."""

    engine: str
    voices: list[str]
    takes_reference: bool = False
    is_away: bool = False

    @property
    def entry(self) -> EngineEntry | None:
        """Return what people are told of the engine; None where the browser speaks."""
        return ENGINES.get(self.engine)


async def load_offer() -> Offer:
    """Return what the engine of the settings offers now."""
    speaking = get_engine()
    if speaking is None:
        return Offer(get_engine_name(), [])
    try:
        voices = await speaking.voices()
    except ProviderError:
        return Offer(speaking.name, [], speaking.takes_reference, is_away=True)
    return Offer(speaking.name, voices, speaking.takes_reference)


def get_voice(companion: Companion) -> Voice:
    """Return the companion's voice; one that is not stored yet where nothing was ever chosen."""
    voice = Voice.objects.select_related("reference").filter(companion=companion).first()
    return voice or Voice(companion=companion)


@transaction.atomic
def change_voice(companion: Companion, **changes: object) -> Voice:
    """Save and return the voice with these: its name, its speed, whether answers are read aloud."""
    voice, _made = Voice.objects.select_for_update(of=("self",)).get_or_create(companion=companion)
    for name, value in changes.items():
        setattr(voice, name, value)
    voice.save(update_fields=list(changes))
    return voice


@receiver(companion_made, sender=Companion)
def begin_voice(companion: Companion, pace: float | None, **_: object) -> None:
    """Have a new companion speak at its own pace."""
    if pace is not None:
        change_voice(companion, speed=pace)


def set_reference(companion: Companion, content: bytes, text: str, consent: str, now: datetime) -> Voice:
    """Have the voice imitate this recording, where the engine can do that.

    It is kept as plain sound without what else was in the file. Raise SpeakingError where there is no statement of
    consent or no voice in it, FilesError where it cannot be kept, GateError where another is still being read.
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
    kind, content = StoredFile.Kind.REFERENCE, wav(sound)
    file = store_content(
        companion.user, content, kind, "audio/wav", now, companion=companion, seconds=sound.seconds
    )
    return _replace_reference(companion, file, text.strip(), consent.strip(), now)


def delete_reference(companion: Companion) -> Voice:
    """Return the voice without its recording, which is gone."""
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
