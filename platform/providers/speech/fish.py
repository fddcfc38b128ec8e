"""Fish Speech's own server (`POST /v1/tts`)."""

import base64
import json
from collections.abc import Mapping
from typing import Any

from providers.asking_sound import Server
from providers.errors import ProviderRefused, ProviderUnavailable
from providers.speech.engine import Wanted
from providers.speech.feelings import FAINT, MARKERS

LEAST_BASE64 = 256  # a shorter text the server takes for the bytes themselves
HAS_NO_LIST = {404, 405}
OWN = ""


class Fish:
    name = "fish"
    takes_reference = True

    def __init__(self, wanted: Mapping[str, Any]) -> None:
        self._server, self._wanted = Server.of(wanted), wanted
        self.model: str = wanted["model"]
        self.place = self._server.base_url
        self.shows_emotion = "s1" in self.model.lower()  # older models read the markers out

    async def voices(self) -> list[str]:
        """The operator's list, else the references that the server has."""
        names = list(self._wanted["voices"]) or await self._listed()
        return list(dict.fromkeys([*filter(None, [self._wanted["voice"]]), *names]))

    async def _listed(self) -> list[str]:
        url = f"{self._server.root}/v1/references/list"
        try:
            told = json.loads(await self._server.asked("GET", url, headers={"Accept": "application/json"}))
        except (ProviderRefused, ProviderUnavailable) as error:
            if error.status in HAS_NO_LIST:
                return []
            raise
        except ValueError:
            return []
        found = told.get("reference_ids") if isinstance(told, dict) else None
        return [name for name in found or [] if isinstance(name, str)]

    async def speak(self, wanted: Wanted) -> bytes:
        return await self._server.asked("POST", f"{self._server.root}/v1/tts", json=self._body(wanted))

    def _body(self, wanted: Wanted) -> dict[str, Any]:
        voice = wanted.voice or self._wanted["voice"]
        body: dict[str, Any] = {
            "text": self._text(wanted),
            "format": "wav",  # of the others only mp3 works without streaming
            "references": [],
            "reference_id": None,
            "normalize": True,
            "streaming": False,
            "use_memory_cache": "on",
        }
        if wanted.reference is not None:
            sound = base64.b64encode(wanted.reference).decode()
            if len(sound) < LEAST_BASE64:
                raise ProviderRefused("The reference recording is too short")
            return body | {"references": [{"audio": sound, "text": wanted.reference_text}]}
        return body | ({"reference_id": voice} if voice else {})

    def _text(self, wanted: Wanted) -> str:
        marker = MARKERS.get(wanted.emotion, "") if wanted.intensity >= FAINT else ""
        return f"{marker} {wanted.text}" if self.shows_emotion and marker else wanted.text
