"""What makes a companion's voice, and the digest under which a sentence in that voice is found again."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import orjson

from companions.models import Companion
from files.keeping import content_of
from files.models import StoredFile
from providers.speech import Engine, Wanted
from voice.models import Voice
from voice.speaking.following import Told


@dataclass(frozen=True, slots=True)
class Tone:
    """How one companion sounds with one engine."""

    engine: Engine
    name: str = ""
    speed: float = 1.0
    language: str = ""
    reference: StoredFile | None = None
    reference_text: str = ""

    def wanted(self, told: Told) -> Wanted:
        """The sentence as the engine is asked for it, but for the reference recording, which is read when needed."""
        felt = self.engine.shows_emotion
        return Wanted(
            text=told.sentence.said,
            voice=self.name,
            language=self.language,
            speed=self.speed,
            emotion=told.emotion if felt else "neutral",
            intensity=round(told.intensity, 1) if felt else 0.0,
            reference_text=self.reference_text,
        )

    def digest(self, wanted: Wanted) -> str:
        """The same for the same words in the same voice, and for nothing else."""
        made_by = [self.engine.name, self.engine.model, self.reference.sha256 if self.reference else ""]
        told = [wanted.text, wanted.voice, wanted.language, wanted.speed, wanted.emotion, wanted.intensity]
        return hashlib.sha256(orjson.dumps([*made_by, *told, wanted.reference_text])).hexdigest()

    def with_reference(self, wanted: Sequence[Wanted]) -> list[Wanted]:
        """What is wanted, with the reference recording; it reads the storage, once for all."""
        content = content_of(self.reference) if self.reference and wanted else None
        return [replace(one, reference=content) for one in wanted]


def voice_of(companion: Companion) -> Voice:
    """The companion's voice; one that is not stored yet where nothing was ever chosen."""
    kept = Voice.objects.select_related("reference").filter(companion=companion).first()
    return kept or Voice(companion=companion)


def tone_of(companion: Companion, engine: Engine, voice: Voice | None = None) -> Tone:
    """How it sounds as its voice is set, or as the one given would be."""
    voice = voice or voice_of(companion)
    reference = voice.reference if engine.takes_reference else None
    return Tone(
        engine=engine,
        name=voice.name,
        speed=voice.speed,
        language=companion.user.language or "en",
        reference=reference,
        reference_text=voice.reference_text if reference else "",
    )
