"""The speech of one sentence: found, or made and kept."""

from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.sound_usage import admit_speech
from companions.models import Companion
from companions.replies.background import later
from database.threads import in_thread
from providers.speech import Wanted, engine
from voice.errors import NoEngineError
from voice.few import Few
from voice.models import Voice
from voice.sentences import Sentence
from voice.speaking import keeping
from voice.speaking.following import WAIT_SECONDS, Thing, Told, told
from voice.speaking.making import Clock, as_file, in_voice
from voice.speaking.sharing import shared
from voice.speaking.tone import Tone, tone_of, voice_of

# A page asks for three at a time; each that waits may hold a connection, a channel and a reference recording.
FEW = Few(
    16, "too_many_sentences", _("What was asked for before is still being read aloud. Try again in a moment.")
)


@dataclass(frozen=True, slots=True)
class Aloud:
    """A sentence as an MP3, its place in the text, how it is felt, and for how long it sounds."""

    sentence: Sentence
    content: bytes
    seconds: float
    emotion: str
    intensity: float


@dataclass(frozen=True, slots=True)
class Made:
    """A sentence's sound, and for whom it was made first."""

    thing: Thing
    number: int
    content: bytes
    seconds: float


@dataclass(frozen=True, slots=True)
class Sounding:
    """What is known before a sentence is made: how it is wanted, under which digest, and what was kept of it."""

    tone: Tone
    wanted: Wanted
    digest: str
    content: bytes = b""
    seconds: float = 0.0


async def speech_of(
    thing: Thing, number: int, wait_seconds: float = WAIT_SECONDS, clock: Clock = timezone.now
) -> Aloud | None:
    """The speech of the sentence of that number, from 0; None where all is said before it.

    It is waited for while its reply is made. Raises NoEngineError where the browser is to speak, SpeakingError where the
    engine does not, GateError; the words stay in any case. A task that is cancelled stops the engine.
    """
    with FEW.of(thing.companion.user_id):
        sentence = await told(thing, number, wait_seconds)
        return await _aloud(thing, number, sentence, clock) if sentence else None


async def _aloud(thing: Thing, number: int, sentence: Told, clock: Clock) -> Aloud:
    sounding = await in_thread(_looked_up, thing, sentence, clock())
    content, seconds = sounding.content, sounding.seconds
    if not content:
        key = (thing.companion_id, sounding.digest)
        sound = await shared(key, lambda: _made(thing, sentence, sounding, clock))
        content, seconds = sound.content, sound.seconds
        if (sound.thing, sound.number) != (thing, number):
            await in_thread(keeping.note, thing, sentence.sentence, sounding.digest, None, clock())
    return Aloud(sentence.sentence, content, seconds, sentence.emotion, sentence.intensity)


def _looked_up(thing: Thing, sentence: Told, now: datetime) -> Sounding:
    """What is there of it; where nothing is, the gate has let it be made."""
    companion, speaking = thing.companion, engine()
    voice = voice_of(companion)
    if speaking is None:
        raise NoEngineError(for_browser(companion, voice, sentence))
    tone = tone_of(companion, speaking, voice)
    wanted = tone.wanted(sentence)
    digest = tone.digest(wanted)
    if there := keeping.found(companion, digest):
        speech, content = there
        keeping.note(thing, sentence.sentence, digest, None, now)
        return Sounding(tone, wanted, digest, content, speech.seconds)
    admit_speech(companion.user, len(wanted.text), now)
    return Sounding(tone, tone.with_reference([wanted])[0], digest)


def for_browser(companion: Companion, voice: Voice, sentence: Told) -> dict[str, object]:
    """What a browser needs for speaking the sentence itself."""
    place = {"start": sentence.sentence.start, "end": sentence.sentence.end}
    felt = {"emotion": sentence.emotion, "intensity": sentence.intensity}
    language = companion.user.language or "en"
    return {"text": sentence.sentence.said, **place, **felt, "language": language, "speed": voice.speed}


async def _made(thing: Thing, sentence: Told, sounding: Sounding, clock: Clock) -> Made:
    sound = await in_voice(thing.companion, sounding.tone.engine, sounding.wanted, clock)
    made = Made(thing, sentence.sentence.number, await as_file(sound), sound.seconds)
    later(keep(made, sentence.sentence, sounding.digest, clock()))  # it is heard before it is kept
    return made


async def keep(made: Made, sentence: Sentence, digest: str, now: datetime) -> None:
    """Keep what was made, for the next time that it is asked for."""
    file = await in_thread(keeping.kept, made.thing.companion, digest, made.content, made.seconds, now)
    await in_thread(keeping.note, made.thing, sentence, digest, file, now)
