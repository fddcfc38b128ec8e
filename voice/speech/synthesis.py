"""Synthesis of sentences by the speech engine in a companion's voice: queued per person, counted, marked generated."""

import asyncio
import hashlib
from asyncio import Semaphore
from collections.abc import Sequence
from dataclasses import dataclass, replace
from weakref import WeakValueDictionary

import orjson
from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.limits.usage import admit_speech
from accounts.models import SoundCall
from companions.models import Companion
from files.contents import read_content
from files.models import StoredFile
from jobs.background import in_thread, one_per_loop
from providers.errors import ProviderError, ProviderRefused
from providers.sound import GENERATED, Sound, encode_mp3
from providers.speech import Engine, SpeechRequest
from providers.speech import synthesise as ask_engine
from voice.errors import SpeakingError
from voice.models import Voice
from voice.provider_calls import recorded_call
from voice.speech.spoken_text import FeltSentence

CONTENT_TYPE = "audio/mpeg"


@dataclass(frozen=True, slots=True)
class VoiceSettings:
    """The settings with which an engine speaks for a companion."""

    engine: Engine
    name: str
    speed: float
    language: str
    reference: StoredFile | None
    reference_text: str

    @classmethod
    def of(cls, companion: Companion, engine: Engine, voice: Voice) -> "VoiceSettings":
        reference = voice.reference if engine.takes_reference else None
        return cls(
            engine=engine,
            name=voice.name,
            speed=voice.speed,
            language=companion.user.language or "en",
            reference=reference,
            reference_text=voice.reference_text if reference else "",
        )

    def request(self, felt: FeltSentence) -> SpeechRequest:
        """Return the engine's request for the sentence, without the reference recording."""
        shows_emotion = self.engine.shows_emotion
        return SpeechRequest(
            text=felt.sentence.said,
            voice=self.name,
            language=self.language,
            speed=self.speed,
            emotion=felt.emotion if shows_emotion else "neutral",
            intensity=round(felt.intensity, 1) if shows_emotion else 0.0,
            reference_text=self.reference_text,
        )

    def digest(self, request: SpeechRequest) -> str:
        """Return a digest of the request's words and of everything that makes the voice, as a cache key."""
        voice = [self.engine.name, self.engine.model, self.reference.sha256 if self.reference else ""]
        words = [request.text, request.voice, request.language, request.speed, request.emotion]
        parts = [*voice, *words, request.intensity, request.reference_text]
        return hashlib.sha256(orjson.dumps(parts)).hexdigest()

    def add_reference(self, requests: Sequence[SpeechRequest]) -> list[SpeechRequest]:
        """Return the requests with the reference recording added, if there is one; the storage is read once for all."""
        content = read_content(self.reference) if self.reference and requests else None
        return [replace(request, reference=content) for request in requests]


async def synthesise(companion: Companion, engine: Engine, request: SpeechRequest) -> Sound:
    """Return the sentence as spoken by the engine; if it refuses the chosen voice, in its default voice.

    Raise SpeakingError if the engine fails, and GateError. Cancelling the task stops the engine.
    """
    try:
        try:
            return await _call_engine(companion, engine, request)
        except ProviderRefused:  # the voice may be one of another engine
            if not request.voice:
                raise
        return await _call_engine(companion, engine, replace(request, voice=""))
    except ProviderError as error:
        words = _("This could not be read aloud just now. The words are all there; try again in a moment.")
        raise SpeakingError("speech_unavailable", words, status=503) from error


async def _call_engine(companion: Companion, engine: Engine, request: SpeechRequest) -> Sound:
    """Call the engine once the person has a free slot, and record the call.

    Check the limits again first: simultaneous requests are all admitted before any of them is counted.
    """
    async with _get_slots().setdefault(companion.user_id, Semaphore(max(1, settings.SPEECH["at_once"]))):
        await in_thread(admit_speech, companion.user, len(request.text), timezone.now())
        async with recorded_call(
            companion.user_id,
            SoundCall.Capability.SPEECH,
            timezone.now,
            provider=engine.place,
            model=engine.model or engine.name,
            companion_id=companion.pk,
            characters=len(request.text),
        ) as call:
            sound = await ask_engine(request, engine)
            call["seconds"] = sound.seconds
    return sound


@one_per_loop
def _get_slots() -> WeakValueDictionary[int, Semaphore]:
    """Return, by user id, the semaphores that limit each person's simultaneous calls of the engine in this process."""
    return WeakValueDictionary()


async def encode(sound: Sound) -> bytes:
    """Return the sound as an MP3 whose metadata mark it as generated."""
    return await asyncio.to_thread(encode_mp3, sound, GENERATED)
