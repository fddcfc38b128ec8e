"""The request to a speech engine, the protocol of engines, and the operator's recordings of voices to imitate."""

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
    """One sentence and how it is to sound. An engine ignores what it does not support.

    `voice` is a name from Engine.voices, or empty for the engine's own. `language` is a tag such as `en` or `zh-hans`,
    or empty if unknown; the script of the text takes precedence. `speed` is 0.5 to 2. `emotion` is a name of
    memory.emotion.Emotion in lower case, `intensity` 0 to 1. `reference` is a WAV file of a person who agreed to be
    imitated, `reference_text` what is said in it.
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
    """One speech engine as the settings describe it. Its methods work in any event loop and may be cancelled.

    They may raise ProviderUnavailable or ProviderRefused, and no other ProviderError.
    """

    @property
    def name(self) -> str:
        """Return the engine's name in `synthesis.ENGINES`."""

    @property
    def model(self) -> str:
        """Return the name of the model, or an empty string if the engine has only one."""

    @property
    def place(self) -> str:
        """Return where the engine runs: an address, or the name of a program on this machine."""

    @property
    def shows_emotion(self) -> bool:
        """Return whether `emotion` and `intensity` change how a sentence sounds."""

    @property
    def takes_reference(self) -> bool:
        """Return whether the engine imitates a reference recording that comes with the request."""

    async def voices(self) -> list[str]:
        """Return the names of the voices, the engine's own first."""

    async def speak(self, request: SpeechRequest) -> bytes:
        """Return the sentence as a sound file, unchecked; `synthesis.synthesise` checks and decodes it."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A recording, the text that is said in it, and its language. Only the operator sets its path, never a user."""

    text: str
    path: str = ""
    language: str = ""
    content: bytes = b""

    def open(self) -> "Reference":
        """Return the reference with the content of its file. Raise ProviderRefused if the file cannot be read."""
        try:
            return replace(self, content=Path(self.path).read_bytes())
        except OSError as error:
            raise ProviderRefused(f"SPEECH_REFERENCES: {error}") from error


def read_references(wanted: Mapping[str, Any]) -> dict[str, Reference]:
    """Return the recordings of settings.SPEECH, keyed by the names of their voices."""
    return {
        name: Reference(given.get("text", ""), given.get("path", ""), given.get("language", ""))
        for name, given in wanted["references"].items()
    }


def choose_reference(references: Mapping[str, Reference], *voices: str) -> Reference | None:
    """Return the recording of the first of the voices that has one, else any recording, or None if there is none."""
    named = (references[voice] for voice in voices if voice in references)
    return next(named, None) or next(iter(references.values()), None)


def detect_language(text: str, told: str) -> str:
    """Return a tag of two or three letters: that of `told` if it fits the text's script, else a language that does."""
    short = told.lower().replace("_", "-").split("-")[0]
    for script, language in SCRIPTS:
        if script.search(text):
            return short if short in LANGUAGES_OF_A_SCRIPT.get(language, {language}) else language
    is_of_another_script = any(short == language for _, language in SCRIPTS) and LATIN.search(text)
    return short if short and not is_of_another_script else "en"
