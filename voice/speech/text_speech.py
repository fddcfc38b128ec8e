"""A text of one's own as one sound, from its first sentence to its last."""

import asyncio
from collections.abc import Sequence
from datetime import datetime

import numpy as np
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.admission import step_aside
from accounts.usage import admit_speech
from companions.models import Companion
from database.threads import in_thread
from providers.sound import Sound
from providers.speech import Engine, SpeechRequest, get_engine
from voice.concurrency_limit import ConcurrencyLimit
from voice.errors import NoEngineError, SpeakingError
from voice.models import Voice
from voice.sound_calls import Clock
from voice.speech.sentence_speech import describe_for_browser
from voice.speech.sentences import Sentence, split_sentences
from voice.speech.spoken_text import FeltSentence
from voice.speech.synthesis import VoiceSettings, encode, synthesise
from voice.voices import get_voice

PAUSE_SECONDS = 0.25
LIMIT = ConcurrencyLimit(
    2, "too_many_texts", _("What you gave before is still being read aloud. Try again in a moment.")
)


async def speak_text(
    companion: Companion, text: str, voice: Voice | None = None, clock: Clock = timezone.now
) -> tuple[bytes, float]:
    """Return the text as an MP3 in the companion's voice, or in the one given, and its seconds; it is not kept.

    Raise NoEngineError, SpeakingError (`nothing_to_say` where nothing of it is said aloud), GateError.
    """
    sentences = split_sentences(text)
    if not sentences:
        raise SpeakingError("nothing_to_say", _("There is nothing in this that could be read aloud."))
    step_aside()
    with LIMIT.of(companion.user_id):
        speaking, requests = await in_thread(_prepare, companion, sentences, voice, clock())
        tasks = [asyncio.create_task(synthesise(companion, speaking, request, clock)) for request in requests]
        try:
            sound = _join(await asyncio.gather(*tasks))
        finally:
            for task in tasks:
                task.cancel()
        return await encode(sound), sound.seconds


def _prepare(
    companion: Companion, sentences: Sequence[Sentence], voice: Voice | None, now: datetime
) -> tuple[Engine, list[SpeechRequest]]:
    """Return how each sentence is to be made; the gate has let them be made."""
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
    """Return the sounds one after the other, with short pauses, at the rate of the first."""
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
