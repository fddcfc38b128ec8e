"""The sound of one sentence: found, or made and kept."""

from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.usage import admit_speech
from companions.models import Companion
from database.threads import in_thread
from jobs.background import run_in_background
from providers.speech import SpeechRequest, get_engine
from voice.concurrency_limit import ConcurrencyLimit
from voice.errors import NoEngineError
from voice.models import Voice
from voice.sound_calls import Clock
from voice.speech import cache
from voice.speech.sentences import Sentence
from voice.speech.single_flight import make_once
from voice.speech.spoken_text import WAIT_TIMEOUT_SECONDS, FeltSentence, Source, wait_for_sentence
from voice.speech.synthesis import VoiceSettings, encode, synthesise
from voice.voices import get_voice

# A page asks for three at a time; each that waits may hold a connection, a channel and a reference recording.
LIMIT = ConcurrencyLimit(
    16, "too_many_sentences", _("What was asked for before is still being read aloud. Try again in a moment.")
)


@dataclass(frozen=True, slots=True)
class SentenceSpeech:
    """A sentence as an MP3, how it is felt, and for how long it sounds."""

    sentence: Sentence
    content: bytes
    seconds: float
    emotion: str
    intensity: float


@dataclass(frozen=True, slots=True)
class _Order:
    """How a sentence is to be made, and under which digest it is found again; with `cached` it is there already."""

    settings: VoiceSettings
    request: SpeechRequest
    digest: str
    cached: tuple[bytes, float] | None = None


async def speak_sentence(
    source: Source,
    number: int,
    wait_seconds: float = WAIT_TIMEOUT_SECONDS,
    clock: Clock = timezone.now,
) -> SentenceSpeech | None:
    """Return the sound of the sentence of that number, from 0; None where all is said before it.

    It is waited for while its reply is made. Raise NoEngineError where the browser is to speak, SpeakingError where the
    engine does not, GateError; the words stay in any case. A task that is cancelled stops the engine.
    """
    with LIMIT.of(source.companion.user_id):
        felt = await wait_for_sentence(source, number, wait_seconds)
        if felt is None:
            return None
        order = await in_thread(_prepare, source, felt, clock())
        content, seconds = order.cached or await _share_making(source, felt, order, clock)
        return SentenceSpeech(felt.sentence, content, seconds, felt.emotion, felt.intensity)


def _prepare(source: Source, felt: FeltSentence, now: datetime) -> _Order:
    """Look up what is there of it; where nothing is, the gate lets it be made."""
    companion, speaking = source.companion, get_engine()
    voice = get_voice(companion)
    if speaking is None:
        raise NoEngineError(describe_for_browser(companion, voice, felt))
    settings = VoiceSettings.of(companion, speaking, voice)
    request = settings.request(felt)
    digest = settings.digest(request)
    if cached := cache.find(companion, digest):
        cache.note_spoken(source, felt.sentence, digest, None, now)
        return _Order(settings, request, digest, cached)
    admit_speech(companion.user, len(request.text), now)
    return _Order(settings, settings.add_reference([request])[0], digest)


def describe_for_browser(companion: Companion, voice: Voice, felt: FeltSentence) -> dict[str, object]:
    """Return what a browser needs for speaking the sentence itself."""
    return {
        "text": felt.sentence.said,
        "start": felt.sentence.start,
        "end": felt.sentence.end,
        "emotion": felt.emotion,
        "intensity": felt.intensity,
        "language": companion.user.language or "en",
        "speed": voice.speed,
    }


async def _share_making(
    source: Source, felt: FeltSentence, order: _Order, clock: Clock
) -> tuple[bytes, float]:
    """Make it, or wait for whoever makes the same; each notes what it was spoken for."""
    is_mine = False

    async def make() -> tuple[bytes, float]:
        nonlocal is_mine
        is_mine = True
        sound = await synthesise(source.companion, order.settings.engine, order.request, clock)
        content = await encode(sound)
        run_in_background(
            store(source, felt.sentence, order.digest, content, sound.seconds, clock())
        )  # it is heard before it is kept
        return content, sound.seconds

    made = await make_once((source.companion_id, order.digest), make)
    if not is_mine:
        await in_thread(cache.note_spoken, source, felt.sentence, order.digest, None, clock())
    return made


async def store(
    source: Source, sentence: Sentence, digest: str, content: bytes, seconds: float, now: datetime
) -> None:
    """Keep what was made, for the next time that it is asked for."""
    await in_thread(cache.store, source, sentence, digest, content, seconds, now)
