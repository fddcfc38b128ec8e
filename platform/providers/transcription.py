"""Speech to text, by any server with OpenAI's /v1/audio/transcriptions."""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from providers.errors import ProviderUnavailable
from providers.selection import Capability, get_sound_settings
from text.strings import keep_letters

DEFAULT_MODEL = "whisper-1"
MAX_PROMPT_CHARACTERS = 800  # about as many as whisper's 224 tokens
LANGUAGE_TAGS = {
    "english": "en", "chinese": "zh", "mandarin": "zh", "cantonese": "yue", "japanese": "ja", "korean": "ko",
    "german": "de", "french": "fr", "spanish": "es", "russian": "ru", "italian": "it", "portuguese": "pt",
}  # fmt: skip
SILENCE = Path(__file__).with_name("silence.toml")
# [BLANK_AUDIO], (music), *coughs*
SOUND_NOTE = re.compile(r"\[[^\[\]]*\]|\([^()]*\)|（[^（）]*）|【[^【】]*】|\*[^*]*\*")
SENTENCE_END = re.compile(r"[.!?…]+(?:\s+|$)|[。！？\n]+")


@dataclass(frozen=True, slots=True)
class Transcript:
    """A recording's text, empty if nobody speaks in it.

    `language` is a tag such as `en`: what the server heard, else what it was told, else empty.
    `seconds` is the recording's length according to the server, or 0 if it does not say.
    """

    text: str
    language: str
    seconds: float


def is_offered() -> bool:
    """Return whether a transcription server is set, by the environment or in the admin."""
    return bool(get_place())


def get_place() -> str:
    """Return the address of the transcription server, or an empty string if none is set."""
    address: str = _get_settings()["base_url"]
    return address


def get_model() -> str:
    """Return the name of the transcription model."""
    return _get_settings()["model"] or DEFAULT_MODEL


def _get_settings() -> Mapping[str, Any]:
    return get_sound_settings(Capability.TRANSCRIPTION)


async def transcribe(
    content: bytes, name: str = "speech.wav", language: str = "", prompt: str = ""
) -> Transcript:
    """Transcribe the recording. Its file `name` tells the server its format; `prompt` holds words that may occur.

    Raise ProviderUnavailable, also if no server is set, or ProviderRefused, with the server's own words.
    """
    from providers.sound_server import SoundServer  # the SDK takes most of a second to load

    if not is_offered():
        raise ProviderUnavailable("No transcription is set")
    server, tag = SoundServer.from_settings(_get_settings()), _shorten_tag(language)
    fields: dict[str, Any] = {"model": get_model(), "response_format": "json", "file": (name, content)}
    fields |= {"language": tag} if tag else {}
    fields |= {"prompt": prompt[:MAX_PROMPT_CHARACTERS]} if prompt else {}
    body = await server.request_by_sdk(
        lambda audio: audio.transcriptions.with_streaming_response.create(**fields)
    )
    return _read_transcript(body, tag, server.api_key)


def _read_transcript(body: bytes, language: str, api_key: str) -> Transcript:
    from providers.http.sdk_errors import excerpt, extract_message, redact

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
    text = "" if is_written_in_silence(answer["text"]) else answer["text"].strip()
    return Transcript(text, language, next(known, 0.0))


def is_written_in_silence(text: str) -> bool:
    """Return whether the transcript has no words but those that models are known to write where nobody speaks."""
    sentences = map(keep_letters, SENTENCE_END.split(SOUND_NOTE.sub(" ", text)))
    return all(sentence in _load_silence() for sentence in sentences if sentence)


@cache
def _load_silence() -> frozenset[str]:
    table = tomllib.loads(SILENCE.read_text(encoding="utf-8"))
    return frozenset(map(keep_letters, table["sentences"]))


def _shorten_tag(language: str) -> str:
    """Return the tag as Whisper knows it, e.g. `zh` for `zh-hans`, or an empty string if it is no language tag."""
    short = language.lower().replace("_", "-").split("-")[0]
    return short if short.isalpha() and 2 <= len(short) <= 3 else ""
