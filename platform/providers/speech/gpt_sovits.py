"""GPT-SoVITS behind its api_v2 (`POST /tts`): it imitates a recording that lies on its own machine."""

from collections.abc import Mapping
from typing import Any

from providers.asking_sound import Server
from providers.errors import ProviderRefused
from providers.speech.engine import Wanted
from providers.speech.languages import language_of
from providers.speech.references import references

LANGUAGES = {"zh", "en", "ja", "ko", "yue"}
ANY = "auto"


class GptSovits:
    name = "gpt-sovits"
    model = ""
    shows_emotion = False
    takes_reference = False  # a path of the server's, so only those that the operator has named

    def __init__(self, wanted: Mapping[str, Any]) -> None:
        self._server, self._references = Server.of(wanted), references(wanted)
        self._voice: str = wanted["voice"]
        self.place = self._server.base_url

    async def voices(self) -> list[str]:
        return list(self._references)

    async def speak(self, wanted: Wanted) -> bytes:
        named = self._references.get(wanted.voice) or self._references.get(self._voice)
        reference = named or next(iter(self._references.values()), None)
        if reference is None:
            raise ProviderRefused("GPT-SoVITS needs a recording, and there is none in SPEECH_REFERENCES")
        body = {
            "text": wanted.text,
            "text_lang": _known(language_of(wanted.text, wanted.language)),
            "ref_audio_path": reference.path,
            "prompt_text": reference.text,
            "prompt_lang": _known(reference.language or language_of(reference.text, "")),
            "text_split_method": "cut5",
            "batch_size": 1,
            "speed_factor": wanted.speed,
            "media_type": "wav",
            "streaming_mode": False,
        }
        # In the address, as a GET, it would stand in the server's log.
        return await self._server.asked("POST", f"{self.place}/tts", json=body)


def _known(language: str) -> str:
    return language if language in LANGUAGES else ANY
