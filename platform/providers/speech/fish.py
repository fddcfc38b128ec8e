"""Fish Speech's own server (`POST /v1/tts`)."""

import base64
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from providers.errors import ProviderError, ProviderRefused
from providers.sound_server import SoundServer
from providers.speech.engine import SpeechRequest

MIN_BASE64_CHARACTERS = 256  # a shorter text the server takes for the bytes themselves
NO_LIST_STATUSES = {404, 405}
MIN_SHOWN_INTENSITY = 0.35
MARKERS = MappingProxyType(  # the words that Fish Audio's S1 models were trained on
    {
        "happy": "(happy)",
        "sad": "(sad)",
        "angry": "(angry)",
        "surprised": "(surprised)",
        "awkward": "(embarrassed)",
        "question": "(confused)",
        "curious": "(curious)",
    }
)


class Fish:
    name = "fish"
    takes_reference = True

    def __init__(self, wanted: Mapping[str, Any]) -> None:
        self._server, self._wanted = SoundServer.from_settings(wanted), wanted
        self.model: str = wanted["model"]
        self.place = self._server.base_url
        self.shows_emotion = "s1" in self.model.lower()  # older models read the markers out

    async def voices(self) -> list[str]:
        """Return the operator's list, else the references that the server has."""
        names = list(self._wanted["voices"]) or await self._list_references()
        return list(dict.fromkeys([*filter(None, [self._wanted["voice"]]), *names]))

    async def _list_references(self) -> list[str]:
        url = f"{self._server.root}/v1/references/list"
        try:
            answer = json.loads(
                await self._server.request("GET", url, headers={"Accept": "application/json"})
            )
        except ProviderError as error:
            if error.status in NO_LIST_STATUSES:
                return []
            raise
        except ValueError:
            return []
        names = answer.get("reference_ids") if isinstance(answer, dict) else None
        return [name for name in names or [] if isinstance(name, str)]

    async def speak(self, request: SpeechRequest) -> bytes:
        return await self._server.request(
            "POST", f"{self._server.root}/v1/tts", json=self._build_body(request)
        )

    def _build_body(self, request: SpeechRequest) -> dict[str, Any]:
        marker = MARKERS.get(request.emotion, "") if request.intensity >= MIN_SHOWN_INTENSITY else ""
        body: dict[str, Any] = {
            "text": f"{marker} {request.text}" if self.shows_emotion and marker else request.text,
            "format": "wav",  # of the others only mp3 works without streaming
            "references": [],
            "reference_id": None,
            "normalize": True,
            "streaming": False,
            "use_memory_cache": "on",
        }
        if request.reference is not None:
            sound = base64.b64encode(request.reference).decode()
            if len(sound) < MIN_BASE64_CHARACTERS:
                raise ProviderRefused("The reference recording is too short")
            return body | {"references": [{"audio": sound, "text": request.reference_text}]}
        voice = request.voice or self._wanted["voice"]
        return body | ({"reference_id": voice} if voice else {})
