"""Synthesis of a sentence, by the engine of the settings or of the provider from the admin."""

import asyncio
import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from django.utils.functional import Promise
from django.utils.module_loading import import_string
from django.utils.translation import gettext_lazy as _

from providers.errors import ProviderError, ProviderUnavailable
from providers.selection import Capability, get_sound_settings
from providers.sound import Sound, SoundError, read
from providers.sound.codecs import is_cut
from providers.speech.engine import Engine, SpeechRequest
from providers.speech.espeak import PROGRAM

BROWSER = "browser"


@dataclass(frozen=True, slots=True)
class EngineEntry:
    """An engine that is not loaded yet: the `path` of its class, and what people are told of who makes the voice.

    An engine is loaded when it speaks, since most load the SDK. It `needs_address` unless it is a program on this
    machine; it `needs_reference` if it only imitates recordings.
    """

    path: str
    made_by: Promise
    licence: Promise | str = ""
    needs_address: bool = True
    needs_reference: bool = False


ENGINES = MappingProxyType(
    {
        "openai": EngineEntry(
            "providers.speech.servers.OpenAI",
            _(
                "The voice is made by a speech service that the operator has connected; the sentences read aloud are"
                " sent to it."
            ),
        ),
        "f5": EngineEntry(
            "providers.speech.servers.F5",
            _("The voice is made by F5-TTS, on the operator's server."),
            _("F5-TTS's own model may not be used commercially (CC BY-NC)."),
            needs_reference=True,
        ),
        "fish": EngineEntry(
            "providers.speech.servers.Fish",
            _("The voice is made by Fish Speech, on the operator's server."),
            _(
                "Fish Speech's model may be used privately and for research. Commercial use, including a hosted"
                " service, needs a written licence from Fish Audio."
            ),
        ),
        "gpt-sovits": EngineEntry(
            "providers.speech.servers.GptSovits",
            _("The voice is made by GPT-SoVITS, on the operator's server."),
            needs_reference=True,
        ),
        "espeak": EngineEntry(
            "providers.speech.espeak.Espeak",
            _("The voice is made by espeak-ng, on this server. Nothing that is read aloud leaves it."),
            needs_address=False,
        ),
    }
)
MIN_LIMIT_SECONDS, MAX_LIMIT_SECONDS, LIMIT_SECONDS_A_LETTER = 30.0, 600.0, 2.0
MAX_LETTERS_A_SECOND = 150  # four times as fast as anyone speaks: a shorter sound was cut
LETTER = re.compile(r"\w")
PAGE = re.compile(rb"\s*(?:<!doctype|<html|<\?xml|\{)", re.IGNORECASE)


def get_engine_name() -> str:
    """Return the name of the engine in force, a key of ENGINES or BROWSER, by the settings and what is installed."""
    return choose_engine_name(get_sound_settings(Capability.SPEECH))


def choose_engine_name(wanted: Mapping[str, Any]) -> str:
    """Return the engine's name, a key of ENGINES or BROWSER, by the given settings and what is installed."""
    engine: str = wanted["engine"]
    if engine:
        return engine
    if wanted["base_url"]:
        return "openai"
    return "espeak" if shutil.which(PROGRAM) else BROWSER


def get_engine() -> Engine | None:
    """Return the engine in force, or None if the browser speaks."""
    entry = ENGINES.get(get_engine_name())
    if entry is None:
        return None
    engine: Engine = import_string(entry.path)(get_sound_settings(Capability.SPEECH))
    return engine


async def synthesise(request: SpeechRequest, engine: Engine | None = None) -> Sound:
    """Return the sentence as the given engine, or the one in force, speaks it, decoded.

    Raise ProviderUnavailable or ProviderRefused with the engine's own words, or ProviderUnavailable if what came is no
    sound, is cut short, or is silent though there was something to say. Cancelling the call stops the engine.
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
    """Return an engine's error without the sentence that was to be spoken, since some engines quote the request."""
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
    from providers.http.sdk_errors import excerpt  # it loads the SDK

    if error.code == "too_long":
        return f"The sound is longer than {max_seconds:g} s"
    if PAGE.match(content):
        return f"A page came in place of sound: {excerpt(content, api_key)}"
    return "Nothing came" if not content else f"What came is no sound ({error.said}), {len(content)} bytes"
