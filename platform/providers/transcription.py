"""What was said in a sound, by any server with OpenAI's /v1/audio/transcriptions."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from providers.asking_sound import SHOWN_CHARACTERS, Server, afresh, taken
from providers.errors import ProviderUnavailable
from providers.said import hide, words

DEFAULT_MODEL = "whisper-1"
MOST_PROMPT_CHARACTERS = 800  # about as many as whisper's 224 tokens
NAMES = {"english": "en", "chinese": "zh", "mandarin": "zh", "japanese": "ja", "korean": "ko", "german": "de"}
NAMES |= {
    "french": "fr",
    "spanish": "es",
    "russian": "ru",
    "italian": "it",
    "portuguese": "pt",
    "cantonese": "yue",
}


@dataclass(frozen=True, slots=True)
class Transcript:
    """`language` is what the server heard, else what it was told, as a tag such as `en`; empty where nobody knows.

    `seconds` is how long the server says the sound is, 0 where it does not say.
    """

    text: str
    language: str
    seconds: float


def is_offered() -> bool:
    """Whether settings.TRANSCRIPTION names a server."""
    return bool(settings.TRANSCRIPTION["base_url"])


def model() -> str:
    """Which model is asked."""
    return settings.TRANSCRIPTION["model"] or DEFAULT_MODEL


async def transcribe(
    content: bytes, name: str = "speech.wav", language: str = "", prompt: str = ""
) -> Transcript:
    """What was said in the file of sound. `name` tells the server its kind; `prompt` words that may occur.

    Raises ProviderUnavailable, also where no server is set, and ProviderRefused, with the server's own words.
    """
    if not is_offered():
        raise ProviderUnavailable("No transcription is set")
    server, short = Server.of(settings.TRANSCRIPTION), _short(language)
    given: dict[str, Any] = {"model": model(), "response_format": "json"}
    given |= {"language": short} if short else {}
    given |= {"prompt": prompt[:MOST_PROMPT_CHARACTERS]} if prompt else {}
    return await afresh(lambda: _heard_by(server, (name, content), given, short))


async def _heard_by(server: Server, file: tuple[str, bytes], given: dict[str, Any], short: str) -> Transcript:
    async with server.patience():
        asking = server.sdk().audio.transcriptions.with_streaming_response
        async with asking.create(file=file, **given) as response:
            return _read(await taken(response.http_response), short, server.api_key)


def _read(body: bytes, language: str, api_key: str) -> Transcript:
    try:
        told = json.loads(body)
    except ValueError:
        shown = body[:SHOWN_CHARACTERS].decode(errors="replace")
        raise ProviderUnavailable(f"No JSON came from /audio/transcriptions: {shown}") from None
    if not isinstance(told, dict) or not isinstance(told.get("text"), str):
        raise ProviderUnavailable(f"No text came from /audio/transcriptions: {hide(words(told), api_key)}")
    return Transcript(told["text"].strip(), _heard(told.get("language")) or language, _seconds(told))


def _seconds(told: Mapping[str, Any]) -> float:
    """The length, in either of the two places where servers tell it."""
    usage = told.get("usage")
    for given in (told.get("duration"), usage.get("seconds") if isinstance(usage, dict) else None):
        if isinstance(given, int | float) and 0 < given < float("inf"):
            return float(given)
    return 0.0


def _heard(given: object) -> str:
    return NAMES.get(given.lower(), _short(given)) if isinstance(given, str) else ""


def _short(language: str) -> str:
    """The tag that whisper knows: `zh` of `zh-hans`; empty for what is no tag."""
    short = language.lower().replace("_", "-").split("-")[0]
    return short if short.isalpha() and 2 <= len(short) <= 3 else ""
