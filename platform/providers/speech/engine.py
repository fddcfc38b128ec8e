"""What an engine is asked, what every engine can do, and the recordings that an operator has named for imitation."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from providers.errors import ProviderRefused

SCRIPTS = (
    (re.compile(r"[\u3040-\u30ff]"), "ja"),
    (re.compile(r"[\uac00-\ud7af\u1100-\u11ff]"), "ko"),
    (re.compile(r"[\u3400-\u9fff\uf900-\ufaff]"), "zh"),
    (re.compile(r"[\u0400-\u04ff]"), "ru"),
    (re.compile(r"[\u0370-\u03ff]"), "el"),
    (re.compile(r"[\u0590-\u05ff]"), "he"),
    (re.compile(r"[\u0600-\u06ff]"), "ar"),
    (re.compile(r"[\u0900-\u097f]"), "hi"),
)
LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
LANGUAGES_OF_A_SCRIPT = {
    "zh": {"zh", "yue", "ja"},
    "ru": {"ru", "uk", "bg", "sr", "mk", "be", "kk"},
    "ar": {"ar", "fa", "ur"},
    "hi": {"hi", "mr", "ne"},
}


@dataclass(frozen=True, slots=True)
class SpeechRequest:
    """One sentence and how it is to sound. What an engine cannot do it leaves out.

    `voice` is a name of Engine.voices, empty for the engine's own. `language` is a tag such as `en` or `zh-hans`,
    empty where it is not known; the script of the text goes before it. `speed` is 0.5 to 2. `emotion` is a name of
    memory.emotion.Emotion in small letters, `intensity` 0 to 1. `reference` is a WAV file of somebody who agreed to
    be imitated, `reference_text` what is said in it.
    """

    text: str
    voice: str = ""
    language: str = ""
    speed: float = 1.0
    emotion: str = "neutral"
    intensity: float = 0.0
    reference: bytes | None = None
    reference_text: str = ""


class Engine(Protocol):
    """One engine as the settings describe it; its calls may be made in any event loop, and left at any moment.

    Raises ProviderUnavailable and ProviderRefused, and nothing else of a provider's.
    """

    @property
    def name(self) -> str:
        """Its name in `synthesis.ENGINES`."""

    @property
    def model(self) -> str:
        """Which model is asked; empty where the engine has but one."""

    @property
    def place(self) -> str:
        """Where it is asked: an address, or the name of a program of this machine."""

    @property
    def shows_emotion(self) -> bool:
        """Whether `emotion` and `intensity` change how a sentence sounds."""

    @property
    def takes_reference(self) -> bool:
        """Whether it imitates a reference recording that comes with the sentence."""

    async def voices(self) -> list[str]:
        """The names that a voice may have, the engine's own first."""

    async def speak(self, request: SpeechRequest) -> bytes:
        """The sentence as a file of sound, as it came; not looked at yet (see synthesis.synthesise)."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A recording, what is said in it and in which language. Its path is the operator's, never a user's."""

    text: str
    path: str = ""
    language: str = ""
    content: bytes = b""

    def open(self) -> "Reference":
        """Return it with its content, from this machine; ProviderRefused where it cannot be read."""
        try:
            return replace(self, content=Path(self.path).read_bytes())
        except OSError as error:
            raise ProviderRefused(f"SPEECH_REFERENCES: {error}") from error


def read_references(wanted: Mapping[str, Any]) -> dict[str, Reference]:
    """Return the recordings of settings.SPEECH by the names of their voices."""
    return {
        name: Reference(given.get("text", ""), given.get("path", ""), given.get("language", ""))
        for name, given in wanted["references"].items()
    }


def choose_reference(references: Mapping[str, Reference], *voices: str) -> Reference | None:
    """Return the first of the voices that there is a recording of, else any; None where there is none."""
    named = (references[voice] for voice in voices if voice in references)
    return next(named, None) or next(iter(references.values()), None)


def detect_language(text: str, told: str) -> str:
    """Return a tag of two or three letters: what was told, where the script of the text agrees; else its script's."""
    short = told.lower().replace("_", "-").split("-")[0]
    for script, language in SCRIPTS:
        if script.search(text):
            return short if short in LANGUAGES_OF_A_SCRIPT.get(language, {language}) else language
    is_of_another_script = any(short == language for _, language in SCRIPTS) and LATIN.search(text)
    return short if short and not is_of_another_script else "en"
