"""A sentence as sound."""

import asyncio
import json
import re

from django.conf import settings

from providers.errors import ProviderError, ProviderUnavailable
from providers.said import hide
from providers.sound.errors import SoundError
from providers.sound.reading import read
from providers.sound.sound import Sound
from providers.sound.wholeness import is_cut
from providers.speech.choosing import engine
from providers.speech.engine import Engine, Wanted

LEAST_MOST_SECONDS, SECONDS_A_CHARACTER = 30.0, 2.0
MOST_SECONDS = 600.0
LETTERS_A_SECOND = 150  # four times as fast as anyone speaks: what is shorter is not all of it
SHOWN_BYTES = 300
WORD = re.compile(r"\w")
PAGE = re.compile(rb"\s*(?:<!doctype|<html|<\?xml|\{)", re.IGNORECASE)


async def said(wanted: Wanted, by: Engine | None = None) -> Sound:
    """The sentence as the engine of the settings (or the given one) speaks it, decoded.

    Raises ProviderUnavailable or ProviderRefused with the engine's own words; also where what came is no sound, is
    cut short, or is silent though there was something to say. Left at any moment, it stops the engine.
    """
    speaking = by or engine()
    if speaking is None:
        raise ProviderUnavailable("No engine is set: the browser speaks")
    try:
        content = await speaking.speak(wanted)
    except ProviderError as error:
        error.said = without(error.said, wanted.text)
        raise
    return await asyncio.to_thread(_heard, content, wanted)


def without(said: str, text: str) -> str:
    """The engine's words without those that it was to say: some answer a request with what is in it."""
    for form in (text, json.dumps(text, ensure_ascii=False)[1:-1], json.dumps(text)[1:-1]):
        said = said.replace(form, "…") if form else said
    return said


def _heard(content: bytes, wanted: Wanted) -> Sound:
    letters = len(WORD.findall(wanted.text))
    most = min(MOST_SECONDS, LEAST_MOST_SECONDS + SECONDS_A_CHARACTER * letters)
    try:
        sound = read(content, most)
    except SoundError as error:
        raise ProviderUnavailable(hide(_wrong(error, content, most), settings.SPEECH["api_key"])) from None
    if is_cut(content, sound) or sound.seconds < letters / LETTERS_A_SECOND / wanted.speed:
        raise ProviderUnavailable(f"The sound was cut short: {sound.seconds:.2f} s for {letters} letters")
    if letters and sound.is_silent:
        raise ProviderUnavailable(f"The sound is silent: {sound.seconds:.2f} s for {letters} letters")
    return sound


def _wrong(error: SoundError, content: bytes, most: float) -> str:
    if error.code == "too_long":
        return f"The sound is longer than {most:g} s"
    if PAGE.match(content):
        return f"A page came in place of sound: {content[:SHOWN_BYTES].decode(errors='replace')}"
    return "Nothing came" if not content else f"What came is no sound ({error.said}), {len(content)} bytes"
