"""Any server with OpenAI's /v1/audio/speech: Kokoro, proxies of Edge, hosted services."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from providers.asking_sound import Server, afresh, taken
from providers.errors import ProviderRefused, ProviderUnavailable
from providers.speech.engine import Wanted
from providers.speech.feelings import instruction

DEFAULT_MODEL, DEFAULT_VOICE = "tts-1", "alloy"
TAKES_INSTRUCTIONS = re.compile(r"^gpt-.*tts|^qwen3?-?tts.*instruct", re.IGNORECASE)
HAS_NO_LIST = {404, 405, 501}


class OpenAI:
    name = "openai"
    takes_reference = False

    def __init__(self, wanted: Mapping[str, Any]) -> None:
        self._server, self._wanted = Server.of(wanted), wanted
        self.model: str = wanted["model"] or DEFAULT_MODEL
        self.place = self._server.base_url
        self.shows_emotion = bool(TAKES_INSTRUCTIONS.match(self.model))

    async def voices(self) -> list[str]:
        """The operator's list, else the server's own, else the one voice that is asked for anyway."""
        own: str = self._wanted["voice"] or DEFAULT_VOICE
        names = list(self._wanted["voices"]) or await self._listed()
        first = own if self._wanted["voice"] or not names else names[0]
        return list(dict.fromkeys([first, *names]))

    async def _listed(self) -> list[str]:
        try:
            body = await self._server.asked("GET", f"{self.place}/audio/voices")
            return list(_names(json.loads(body)))
        except ProviderRefused as error:
            if error.status in HAS_NO_LIST:
                return []
            raise
        except ProviderUnavailable as error:
            if error.status in HAS_NO_LIST:
                return []
            raise
        except ValueError:  # a page for people
            return []

    async def speak(self, wanted: Wanted) -> bytes:
        return await afresh(lambda: self._spoken(wanted))

    async def _spoken(self, wanted: Wanted) -> bytes:
        async with self._server.patience():
            speech = self._server.sdk().audio.speech.with_streaming_response
            async with speech.create(**self._body(wanted)) as response:
                return await taken(response.http_response)

    def _body(self, wanted: Wanted) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.model,
            "input": wanted.text,
            "voice": wanted.voice or self._wanted["voice"] or DEFAULT_VOICE,
            "response_format": self._wanted["format"],
        }
        if wanted.speed != 1.0:
            body["speed"] = wanted.speed
        manner = instruction(wanted.emotion, wanted.intensity)
        return body | ({"instructions": manner} if self.shows_emotion and manner else {})


def _names(told: object) -> Iterator[str]:
    """The names in any of the forms in which servers list voices."""
    found = told.get("voices", told.get("data")) if isinstance(told, dict) else told
    for one in found if isinstance(found, list) else []:
        name = one if isinstance(one, str) else _name(one)
        if name:
            yield name


def _name(one: object) -> str:
    known = (one.get(key) for key in ("id", "voice_id", "name")) if isinstance(one, dict) else ()
    return next((name for name in known if isinstance(name, str)), "")
