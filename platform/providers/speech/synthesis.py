"""A sentence as sound, by the engine of the settings or of the admin's provider."""

import asyncio
import json
import re
import shutil
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from django.utils.module_loading import import_string

from providers.errors import ProviderError, ProviderUnavailable
from providers.selection import Capability, get_sound_settings
from providers.sound import Sound, SoundError, read
from providers.sound.codecs import is_cut
from providers.speech.engine import Engine, SpeechRequest
from providers.speech.espeak import PROGRAM

BROWSER = "browser"
ENGINES = MappingProxyType(  # loaded when they speak: most of them load the SDK
    {
        "openai": "providers.speech.servers.OpenAI",
        "f5": "providers.speech.servers.F5",
        "fish": "providers.speech.servers.Fish",
        "gpt-sovits": "providers.speech.servers.GptSovits",
        "espeak": "providers.speech.espeak.Espeak",
    }
)
MIN_LIMIT_SECONDS, MAX_LIMIT_SECONDS, LIMIT_SECONDS_A_LETTER = 30.0, 600.0, 2.0
MAX_LETTERS_A_SECOND = 150  # four times as fast as anyone speaks: what is shorter is not all of it
LETTER = re.compile(r"\w")
PAGE = re.compile(rb"\s*(?:<!doctype|<html|<\?xml|\{)", re.IGNORECASE)


def get_engine_name() -> str:
    """Return `openai`, `f5`, `fish`, `gpt-sovits`, `espeak` or `browser`, as set and by what is installed."""
    return choose_engine_name(get_sound_settings(Capability.SPEECH))


def choose_engine_name(wanted: Mapping[str, Any]) -> str:
    """Return the engine's name by these settings and by what is installed."""
    engine: str = wanted["engine"]
    if engine:
        return engine
    if wanted["base_url"]:
        return "openai"
    return "espeak" if shutil.which(PROGRAM) else BROWSER


def get_engine() -> Engine | None:
    """Return the engine of the settings as they are now; None where the browser speaks."""
    path = ENGINES.get(get_engine_name())
    engine: Engine | None = import_string(path)(get_sound_settings(Capability.SPEECH)) if path else None
    return engine


async def synthesise(request: SpeechRequest, engine: Engine | None = None) -> Sound:
    """Return the sentence as the engine of the settings (or the given one) speaks it, decoded.

    Raises ProviderUnavailable or ProviderRefused with the engine's own words; also where what came is no sound, is
    cut short, or is silent though there was something to say. Left at any moment, it stops the engine.
    """
    engine = engine or get_engine()
    if engine is None:
        raise ProviderUnavailable("No engine is set: the browser speaks")
    try:
        content = await engine.speak(request)
    except ProviderError as error:
        error.said = remove_sentence(error.said, request.text)
        raise
    api_key = get_sound_settings(Capability.SPEECH)["api_key"]
    return await asyncio.to_thread(_read_speech, content, request, api_key)


def remove_sentence(words: str, sentence: str) -> str:
    """Return an engine's words without the sentence it was to say: some answer a request with what is in it."""
    for form in (sentence, json.dumps(sentence, ensure_ascii=False)[1:-1], json.dumps(sentence)[1:-1]):
        words = words.replace(form, "…") if form else words
    return words


def _read_speech(content: bytes, request: SpeechRequest, api_key: str) -> Sound:
    letters = len(LETTER.findall(request.text))
    max_seconds = min(MAX_LIMIT_SECONDS, MIN_LIMIT_SECONDS + LIMIT_SECONDS_A_LETTER * letters)
    try:
        sound = read(content, max_seconds)
    except SoundError as error:
        raise ProviderUnavailable(_describe_fault(error, content, max_seconds, api_key)) from None
    if is_cut(content, sound) or sound.seconds < letters / MAX_LETTERS_A_SECOND / request.speed:
        raise ProviderUnavailable(f"The sound was cut short: {sound.seconds:.2f} s for {letters} letters")
    if letters and sound.is_silent:
        raise ProviderUnavailable(f"The sound is silent: {sound.seconds:.2f} s for {letters} letters")
    return sound


def _describe_fault(error: SoundError, content: bytes, max_seconds: float, api_key: str) -> str:
    from providers.sdk_errors import excerpt  # it loads the SDK

    if error.code == "too_long":
        return f"The sound is longer than {max_seconds:g} s"
    if PAGE.match(content):
        return f"A page came in place of sound: {excerpt(content, api_key)}"
    return "Nothing came" if not content else f"What came is no sound ({error.said}), {len(content)} bytes"
