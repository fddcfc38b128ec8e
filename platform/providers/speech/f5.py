"""F5-TTS behind jianchang512's f5-tts-api (`POST /api`): it imitates a recording and knows no voice by itself."""

import re
from collections.abc import Mapping
from typing import Any

from providers.errors import ProviderRefused
from providers.sound_server import SoundServer
from providers.speech.engine import Reference, SpeechRequest, choose_reference, read_references

BRACKETED = re.compile(r"\[[^\]]*\]")  # the server takes [word] for the name of a voice


class F5:
    name = "f5"
    model = "f5-tts"
    shows_emotion = False
    takes_reference = True

    def __init__(self, wanted: Mapping[str, Any]) -> None:
        self._server, self._references = SoundServer.from_settings(wanted), read_references(wanted)
        self._voice: str = wanted["voice"]
        self.place = self._server.base_url

    async def voices(self) -> list[str]:
        return list(self._references)

    async def speak(self, request: SpeechRequest) -> bytes:
        reference = self._choose_reference(request)
        fields = {
            "ref_text": reference.text,
            "gen_text": BRACKETED.sub("", request.text).strip(),
            "model": self.model,
            "speed": f"{request.speed:g}",
        }
        # A fixed name: the server writes its file under whatever name it is given.
        files = {"audio": ("ref.wav", reference.content, "audio/wav")}
        return await self._server.request("POST", f"{self._server.root}/api", data=fields, files=files)

    def _choose_reference(self, request: SpeechRequest) -> Reference:
        if request.reference is not None:
            return Reference(request.reference_text, content=request.reference)
        reference = choose_reference(self._references, request.voice, self._voice)
        if reference is None:
            raise ProviderRefused(
                "F5-TTS needs a reference recording, and there is none in SPEECH_REFERENCES"
            )
        return reference.open()
