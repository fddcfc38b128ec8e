"""What was said in a sound, by any server with OpenAI's /v1/audio/transcriptions."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from providers.errors import ProviderUnavailable
from providers.selection import Capability, get_sound_settings

DEFAULT_MODEL = "whisper-1"
MAX_PROMPT_CHARACTERS = 800  # about as many as whisper's 224 tokens
LANGUAGE_TAGS = {
    **{
        "english": "en",
        "chinese": "zh",
        "mandarin": "zh",
        "cantonese": "yue",
        "japanese": "ja",
        "korean": "ko",
    },
    **{"german": "de", "french": "fr", "spanish": "es", "russian": "ru", "italian": "it", "portuguese": "pt"},
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
    """Return whether a server is set, by the environment or in the admin."""
    return bool(place())


def place() -> str:
    """Return the address that is asked; empty where there is none."""
    address: str = _get_settings()["base_url"]
    return address


def model() -> str:
    """Return which model is asked."""
    return _get_settings()["model"] or DEFAULT_MODEL


def _get_settings() -> Mapping[str, Any]:
    return get_sound_settings(Capability.TRANSCRIPTION)


async def transcribe(
    content: bytes, name: str = "speech.wav", language: str = "", prompt: str = ""
) -> Transcript:
    """Return what was said in the file of sound. `name` tells the server its kind; `prompt` words that may occur.

    Raises ProviderUnavailable, also where no server is set, and ProviderRefused, with the server's own words.
    """
    from providers.sound_server import SoundServer  # the SDK takes most of a second to load

    if not is_offered():
        raise ProviderUnavailable("No transcription is set")
    server, tag = SoundServer.from_settings(_get_settings()), _shorten_tag(language)
    fields: dict[str, Any] = {"model": model(), "response_format": "json", "file": (name, content)}
    fields |= {"language": tag} if tag else {}
    fields |= {"prompt": prompt[:MAX_PROMPT_CHARACTERS]} if prompt else {}
    body = await server.request_by_sdk(
        lambda audio: audio.transcriptions.with_streaming_response.create(**fields)
    )
    return _read_transcript(body, tag, server.api_key)


def _read_transcript(body: bytes, language: str, api_key: str) -> Transcript:
    from providers.sdk_errors import excerpt, extract_message, redact

    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        shown = excerpt(body, api_key)
        raise ProviderUnavailable(f"No JSON came from /audio/transcriptions: {shown}") from None
    if not isinstance(answer, dict) or not isinstance(answer.get("text"), str):
        shown = redact(extract_message(answer), api_key)
        raise ProviderUnavailable(f"No text came from /audio/transcriptions: {shown}")
    heard = answer.get("language")
    if isinstance(heard, str):
        language = LANGUAGE_TAGS.get(heard.lower()) or _shorten_tag(heard) or language
    usage = answer.get("usage")
    lengths = (answer.get("duration"), usage.get("seconds") if isinstance(usage, dict) else None)
    known = (float(n) for n in lengths if isinstance(n, int | float) and 0 < n < float("inf"))
    return Transcript(answer["text"].strip(), language, next(known, 0.0))


def _shorten_tag(language: str) -> str:
    """Return the tag that whisper knows: `zh` of `zh-hans`; empty for what is no tag."""
    short = language.lower().replace("_", "-").split("-")[0]
    return short if short.isalpha() and 2 <= len(short) <= 3 else ""
