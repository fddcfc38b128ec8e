"""F5-TTS behind jianchang512's f5-tts-api (`POST /api`): it imitates a recording and knows no voice by itself."""

import re
from collections.abc import Mapping
from typing import Any

from providers.asking_sound import Server
from providers.errors import ProviderRefused
from providers.speech.engine import Wanted
from providers.speech.references import Reference, references

BRACKETED = re.compile(r"\[[^\]]*\]")  # the server takes [word] for the name of a voice


class F5:
    name = "f5"
    model = "f5-tts"
    shows_emotion = False
    takes_reference = True

    def __init__(self, wanted: Mapping[str, Any]) -> None:
        self._server, self._references = Server.of(wanted), references(wanted)
        self._voice: str = wanted["voice"]
        self.place = self._server.base_url

    async def voices(self) -> list[str]:
        return list(self._references)

    async def speak(self, wanted: Wanted) -> bytes:
        reference = self._reference(wanted)
        fields = {
            "ref_text": reference.text,
            "gen_text": BRACKETED.sub("", wanted.text).strip(),
            "model": self.model,
            "speed": f"{wanted.speed:g}",
        }
        # A fixed name: the server writes its file under whatever name it is given.
        files = {"audio": ("ref.wav", reference.content, "audio/wav")}
        return await self._server.asked("POST", f"{self._server.root}/api", data=fields, files=files)

    def _reference(self, wanted: Wanted) -> Reference:
        if wanted.reference is not None:
            return Reference(wanted.reference_text, content=wanted.reference)
        named = self._references.get(wanted.voice) or self._references.get(self._voice)
        given = named or next(iter(self._references.values()), None)
        if given is None:
            raise ProviderRefused(
                "F5-TTS needs a reference recording, and there is none in SPEECH_REFERENCES"
            )
        return given.opened()
