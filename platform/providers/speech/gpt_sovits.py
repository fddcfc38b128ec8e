"""GPT-SoVITS behind its api_v2 (`POST /tts`): it imitates a recording that lies on its own machine."""

from collections.abc import Mapping
from typing import Any

from providers.errors import ProviderRefused
from providers.sound_server import SoundServer
from providers.speech.engine import SpeechRequest, choose_reference, read_references
from providers.speech.language import detect_language

LANGUAGES = {"zh", "en", "ja", "ko", "yue"}
ANY_LANGUAGE = "auto"


class GptSovits:
    name = "gpt-sovits"
    model = ""
    shows_emotion = False
    takes_reference = False  # a path of the server's, so only those that the operator has named

    def __init__(self, wanted: Mapping[str, Any]) -> None:
        self._server, self._references = SoundServer.from_settings(wanted), read_references(wanted)
        self._voice: str = wanted["voice"]
        self.place = self._server.base_url

    async def voices(self) -> list[str]:
        return list(self._references)

    async def speak(self, request: SpeechRequest) -> bytes:
        reference = choose_reference(self._references, request.voice, self._voice)
        if reference is None:
            raise ProviderRefused("GPT-SoVITS needs a recording, and there is none in SPEECH_REFERENCES")
        language = detect_language(request.text, request.language)
        reference_language = reference.language or detect_language(reference.text, "")
        body = {
            "text": request.text,
            "text_lang": language if language in LANGUAGES else ANY_LANGUAGE,
            "ref_audio_path": reference.path,
            "prompt_text": reference.text,
            "prompt_lang": reference_language if reference_language in LANGUAGES else ANY_LANGUAGE,
            "text_split_method": "cut5",
            "batch_size": 1,
            "speed_factor": request.speed,
            "media_type": "wav",
            "streaming_mode": False,
        }
        # In the address, as a GET, it would stand in the server's log.
        return await self._server.request("POST", f"{self.place}/tts", json=body)
