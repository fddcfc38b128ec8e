"""The sound of one sentence, from the cache or synthesised and stored; and of a whole text, which is not stored."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.limits.admission import step_aside
from accounts.limits.usage import admit_speech
from companions.models import Companion
from jobs.background import in_thread, run_in_background
from providers.sound import Sound
from providers.speech import Engine, SpeechRequest, get_engine
from voice.errors import NoEngineError, SpeakingError
from voice.models import Voice
from voice.provider_calls import ConcurrencyLimit, make_once
from voice.speech import cache
from voice.speech.sentences import Sentence, split_sentences
from voice.speech.spoken_text import WAIT_TIMEOUT_SECONDS, FeltSentence, Source, wait_for_sentence
from voice.speech.synthesis import VoiceSettings, encode, synthesise
from voice.speech.voices import get_voice

# Pages request three at a time; each waiting request may hold a connection, a channel and a reference recording.
SENTENCE_LIMIT = ConcurrencyLimit(
    16, "too_many_sentences", _("What you asked for before is still being read aloud. Try again in a moment.")
)
PAUSE_SECONDS = 0.25
TEXT_LIMIT = ConcurrencyLimit(
    2, "too_many_texts", _("What you sent before is still being read aloud. Try again in a moment.")
)


@dataclass(frozen=True, slots=True)
class SentenceSpeech:
    """A sentence as an MP3, with its length in seconds and its emotion."""

    sentence: Sentence
    content: bytes
    seconds: float
    emotion: str
    intensity: float


@dataclass(frozen=True, slots=True)
class _Order:
    """How a sentence is to be synthesised, and its digest. `cached` is the stored sound and its seconds, or None."""

    settings: VoiceSettings
    request: SpeechRequest
    digest: str
    cached: tuple[bytes, float] | None = None


async def speak_sentence(
    source: Source, number: int, wait_seconds: float = WAIT_TIMEOUT_SECONDS
) -> SentenceSpeech | None:
    """Return the sound of the source's sentence `number`, from 0; None if the complete text has no such sentence.

    Wait for the sentence while its reply is generated. Raise NoEngineError if the browser has to speak, SpeakingError
    if the engine cannot or the sentence is not complete in time, and GateError. Cancelling the task stops the engine.
    """
    with SENTENCE_LIMIT.of(source.companion.user_id):
        felt = await wait_for_sentence(source, number, wait_seconds)
        if felt is None:
            return None
        order = await in_thread(_prepare_sentence, source, felt, timezone.now())
        content, seconds = order.cached or await _share_making(source, felt, order)
        return SentenceSpeech(felt.sentence, content, seconds, felt.emotion, felt.intensity)


def _prepare_sentence(source: Source, felt: FeltSentence, now: datetime) -> _Order:
    """Return the order for the sentence, with the cached sound if there is one; else check the limits (GateError).

    Raise NoEngineError if the browser has to speak.
    """
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
    """Return what a browser needs to speak the sentence itself."""
    return {
        "text": felt.sentence.said,
        "start": felt.sentence.start,
        "end": felt.sentence.end,
        "emotion": felt.emotion,
        "intensity": felt.intensity,
        "language": companion.user.language or "en",
        "speed": voice.speed,
    }


async def _share_making(source: Source, felt: FeltSentence, order: _Order) -> tuple[bytes, float]:
    """Synthesise the sentence, or wait for another call that synthesises the same; return the MP3 and its seconds."""
    is_mine = False

    async def make() -> tuple[bytes, float]:
        nonlocal is_mine
        is_mine = True
        sound = await synthesise(source.companion, order.settings.engine, order.request)
        content = await encode(sound)
        # Store the sound in the background, so that it is heard first.
        run_in_background(store(source, felt.sentence, order.digest, content, sound.seconds, timezone.now()))
        return content, sound.seconds

    made = await make_once((source.companion_id, order.digest), make)
    if not is_mine:
        await in_thread(cache.note_spoken, source, felt.sentence, order.digest, None, timezone.now())
    return made


async def store(
    source: Source, sentence: Sentence, digest: str, content: bytes, seconds: float, now: datetime
) -> None:
    """Store the sound in the cache."""
    await in_thread(cache.store, source, sentence, digest, content, seconds, now)


async def speak_text(companion: Companion, text: str, voice: Voice | None = None) -> tuple[bytes, float]:
    """Return the text as an MP3 in the companion's voice, or in `voice`, and its seconds. The sound is not stored.

    Raise NoEngineError, SpeakingError (`nothing_to_say` if no part of the text is said aloud), GateError.
    """
    sentences = split_sentences(text)
    if not sentences:
        raise SpeakingError("nothing_to_say", _("There is nothing in this to read aloud."))
    step_aside()
    with TEXT_LIMIT.of(companion.user_id):
        speaking, requests = await in_thread(_prepare_text, companion, sentences, voice, timezone.now())
        tasks = [asyncio.create_task(synthesise(companion, speaking, request)) for request in requests]
        try:
            sound = _join(await asyncio.gather(*tasks))
        finally:
            for task in tasks:
                task.cancel()
        return await encode(sound), sound.seconds


def _prepare_text(
    companion: Companion, sentences: Sequence[Sentence], voice: Voice | None, now: datetime
) -> tuple[Engine, list[SpeechRequest]]:
    """Check the limits for all sentences (GateError), and return the engine and a request for each sentence.

    Raise NoEngineError if the browser has to speak.
    """
    speaking, voice = get_engine(), voice or get_voice(companion)
    if speaking is None:
        said = " ".join(sentence.said for sentence in sentences)
        whole = Sentence(0, sentences[0].start, sentences[-1].end, said, said)
        raise NoEngineError(describe_for_browser(companion, voice, FeltSentence(whole)))
    admit_speech(companion.user, sum(len(sentence.said) for sentence in sentences), now)
    settings = VoiceSettings.of(companion, speaking, voice)
    requests = [settings.request(FeltSentence(sentence)) for sentence in sentences]
    return speaking, settings.add_reference(requests)


def _join(sounds: Sequence[Sound]) -> Sound:
    """Return the sounds joined with short pauses, at the sample rate of the first."""
    rate = sounds[0].rate
    pause = np.zeros(round(rate * PAUSE_SECONDS), dtype=np.int16)
    parts = []
    for sound in sounds:
        samples = sound.samples
        if sound.rate != rate:
            places = np.arange(0, len(samples), sound.rate / rate)
            samples = np.interp(places, np.arange(len(samples)), samples).astype(np.int16)
        parts += [samples, pause]
    return Sound(np.concatenate(parts[:-1]), rate)
