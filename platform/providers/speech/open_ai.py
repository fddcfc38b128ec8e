"""Any server with OpenAI's /v1/audio/speech: Kokoro, proxies of Edge, hosted services."""

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from providers.errors import ProviderError
from providers.sound_server import SoundServer
from providers.speech.engine import SpeechRequest

DEFAULT_MODEL, DEFAULT_VOICE = "tts-1", "alloy"
TAKES_INSTRUCTIONS = re.compile(r"^gpt-.*tts|^qwen3?-?tts.*instruct", re.IGNORECASE)
NO_LIST_STATUSES = {404, 405, 501}
FAINT_BELOW, STRONG_ABOVE = 0.35, 0.7
MANNERS = MappingProxyType(
    {
        "happy": "cheerful and warm",
        "sad": "sad and quiet",
        "angry": "angry and sharp",
        "think": "thoughtful and slow",
        "surprised": "surprised",
        "awkward": "awkward and hesitant",
        "question": "puzzled",
        "curious": "curious and lively",
    }
)


class OpenAI:
    name = "openai"
    takes_reference = False

    def __init__(self, wanted: Mapping[str, Any]) -> None:
        self._server, self._wanted = SoundServer.from_settings(wanted), wanted
        self.model: str = wanted["model"] or DEFAULT_MODEL
        self.place = self._server.base_url
        self.shows_emotion = bool(TAKES_INSTRUCTIONS.match(self.model))

    async def voices(self) -> list[str]:
        """Return the operator's list, else the server's own, else the one voice that is asked for anyway."""
        own: str = self._wanted["voice"] or DEFAULT_VOICE
        names = list(self._wanted["voices"]) or await self._list_voices()
        first = own if self._wanted["voice"] or not names else names[0]
        return list(dict.fromkeys([first, *names]))

    async def _list_voices(self) -> list[str]:
        try:
            answer = json.loads(await self._server.request("GET", f"{self.place}/audio/voices"))
        except ProviderError as error:
            if error.status in NO_LIST_STATUSES:
                return []
            raise
        except ValueError:  # a page for people
            return []
        listed = answer.get("voices", answer.get("data")) if isinstance(answer, dict) else answer
        names = map(_read_name, listed if isinstance(listed, list) else [])
        return [name for name in names if name]

    async def speak(self, request: SpeechRequest) -> bytes:
        body = self._build_body(request)
        return await self._server.request_by_sdk(
            lambda audio: audio.speech.with_streaming_response.create(**body)
        )

    def _build_body(self, request: SpeechRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.model,
            "input": request.text,
            "voice": request.voice or self._wanted["voice"] or DEFAULT_VOICE,
            "response_format": self._wanted["format"],
        }
        if request.speed != 1.0:
            body["speed"] = request.speed
        instruction = describe_manner(request.emotion, request.intensity)
        return body | ({"instructions": instruction} if self.shows_emotion and instruction else {})


def describe_manner(emotion: str, intensity: float) -> str:
    """Return how to speak, as a sentence for a model; empty where there is nothing to show."""
    manner = MANNERS.get(emotion, "")
    degree = "slightly " if intensity < FAINT_BELOW else "very " if intensity > STRONG_ABOVE else ""
    return f"Sound {degree}{manner}." if manner and intensity > 0 else ""


def _read_name(voice: object) -> str:
    """Return a voice's name in any of the forms in which servers list them."""
    named = voice if isinstance(voice, dict) else {"name": voice}
    found = (named.get(key) for key in ("id", "voice_id", "name"))
    return next((name for name in found if isinstance(name, str)), "")
