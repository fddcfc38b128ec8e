"""espeak-ng, a program of this machine: small, quick, in a hundred languages, and no model at all."""

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from providers.errors import ProviderUnavailable
from providers.speech.engine import Wanted
from providers.speech.languages import language_of
from providers.speech.program import run

PROGRAM = "espeak-ng"
VOICES = ("f3", "f1", "f2", "f4", "f5", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8")
LANGUAGES = MappingProxyType({"zh": "cmn", "yue": "yue", "en": "en-us", "pt": "pt-br", "no": "nb"})
PLAIN = {
    "ja",
    "ko",
    "ru",
    "uk",
    "bg",
    "sr",
    "el",
    "he",
    "ar",
    "fa",
    "hi",
    "de",
    "fr",
    "es",
    "it",
    "nl",
    "pl",
    "tr",
    "sv",
}
WORDS_A_MINUTE, PITCH = 170, 50
FEELINGS = MappingProxyType(  # how much pitch (of 99) and pace change at full intensity
    {
        "happy": (14, 1.1),
        "sad": (-16, 0.8),
        "angry": (-6, 1.18),
        "think": (-6, 0.86),
        "surprised": (22, 1.08),
        "awkward": (8, 0.88),
        "question": (10, 0.95),
        "curious": (12, 1.06),
    }
)


class Espeak:
    name = "espeak"
    model = ""
    place = PROGRAM
    shows_emotion = True
    takes_reference = False

    def __init__(self, wanted: Mapping[str, Any]) -> None:
        self._voice = wanted["voice"] if wanted["voice"] in VOICES else VOICES[0]
        self._seconds: float = wanted["seconds"]

    async def voices(self) -> list[str]:
        return list(dict.fromkeys([self._voice, *VOICES]))

    async def speak(self, wanted: Wanted) -> bytes:
        try:
            async with asyncio.timeout(self._seconds):
                return await run(PROGRAM, self._arguments(wanted), _plain(wanted.text))
        except TimeoutError:
            raise ProviderUnavailable(f"{PROGRAM} took longer than {self._seconds:g} seconds") from None

    def _arguments(self, wanted: Wanted) -> list[str]:
        pitch, pace = FEELINGS.get(wanted.emotion, (0, 1.0))
        speed = wanted.speed * (1 + (pace - 1) * wanted.intensity)
        voice = wanted.voice if wanted.voice in VOICES else self._voice
        language = language_of(wanted.text, wanted.language)
        name = LANGUAGES.get(language) or (language if language in PLAIN else "en-us")
        return [
            *("-v", f"{name}+{voice}"),
            *("-s", str(round(WORDS_A_MINUTE * speed))),
            *("-p", str(round(PITCH + pitch * wanted.intensity))),
            *("-b", "1", "--stdin", "--stdout"),
        ]


def _plain(text: str) -> str:
    """The text without the marks in which espeak reads phonemes."""
    return text.replace("[[", "[ [").replace("\0", " ")
