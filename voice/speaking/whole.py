"""A text of one's own as one sound, from its first sentence to its last."""

import asyncio
from collections.abc import Sequence

import numpy as np
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.shares import step_aside
from accounts.sound_usage import admit_speech
from companions.models import Companion
from database.threads import in_thread
from providers.sound import Sound
from providers.sound.sound import Samples
from providers.speech import Wanted, engine
from voice.errors import NoEngineError, SpeakingError
from voice.few import Few
from voice.models import Voice
from voice.sentences import Sentence, sentences_of
from voice.speaking.following import Told
from voice.speaking.making import Clock, as_file, in_voice
from voice.speaking.speaking import for_browser
from voice.speaking.tone import Tone, tone_of, voice_of

PAUSE_SECONDS = 0.25
FEW = Few(2, "too_many_texts", _("What you gave before is still being read aloud. Try again in a moment."))


async def read_aloud(
    companion: Companion, text: str, voice: Voice | None = None, clock: Clock = timezone.now
) -> tuple[bytes, float]:
    """The text as an MP3 in the companion's voice, or in the one given, and its length in seconds; it is not kept.

    Raises NoEngineError, SpeakingError (`nothing_to_say` where nothing of it is said aloud), GateError.
    """
    sentences = sentences_of(text)
    if not sentences:
        raise SpeakingError("nothing_to_say", _("There is nothing in this that could be read aloud."))
    step_aside()
    with FEW.of(companion.user_id):
        return await _read(companion, sentences, voice, clock)


async def _read(
    companion: Companion, sentences: Sequence[Sentence], voice: Voice | None, clock: Clock
) -> tuple[bytes, float]:
    tone, wanted = await in_thread(_prepared, companion, sentences, voice, clock)
    tasks = [asyncio.create_task(in_voice(companion, tone.engine, one, clock)) for one in wanted]
    try:
        sound = joined(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
    return await as_file(sound), sound.seconds


def _prepared(
    companion: Companion, sentences: Sequence[Sentence], voice: Voice | None, clock: Clock
) -> tuple[Tone, list[Wanted]]:
    """How each sentence is wanted; the gate has let them be made."""
    speaking, voice = engine(), voice or voice_of(companion)
    if speaking is None:
        raise NoEngineError(for_browser(companion, voice, Told(_as_one(sentences))))
    admit_speech(companion.user, sum(len(one.said) for one in sentences), clock())
    tone = tone_of(companion, speaking, voice)
    return tone, tone.with_reference([tone.wanted(Told(one)) for one in sentences])


def _as_one(sentences: Sequence[Sentence]) -> Sentence:
    said = " ".join(one.said for one in sentences)
    return Sentence(0, sentences[0].start, sentences[-1].end, said, said)


def joined(sounds: Sequence[Sound]) -> Sound:
    """The sounds one after the other, with short pauses, at the rate of the first."""
    rate = sounds[0].rate
    pause = np.zeros(round(rate * PAUSE_SECONDS), dtype=np.int16)
    parts = [part for sound in sounds for part in (_at_rate(sound, rate), pause)]
    return Sound(np.concatenate(parts[:-1]), rate)


def _at_rate(sound: Sound, rate: int) -> Samples:
    if sound.rate == rate:
        return sound.samples
    places = np.arange(0, len(sound.samples), sound.rate / rate)
    samples: Samples = np.interp(places, np.arange(len(sound.samples)), sound.samples).astype(np.int16)
    return samples
