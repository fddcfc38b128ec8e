"""Speech from servers: OpenAI's API (Kokoro, proxies of Edge, hosted services), Fish Speech, F5-TTS, GPT-SoVITS."""

import base64
import json
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from providers.errors import ProviderError, ProviderRefused
from providers.sound_server import SoundServer
from providers.speech.engine import (
    Reference,
    SpeechRequest,
    choose_reference,
    detect_language,
    read_references,
)

NO_LIST_STATUSES = {404, 405, 501}  # answered by servers that do not list their voices

OPENAI_MODEL, OPENAI_VOICE = "tts-1", "alloy"
TAKES_INSTRUCTIONS = re.compile(r"^gpt-.*tts|^qwen3?-?tts.*instruct", re.IGNORECASE)
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

FISH_MIN_BASE64_CHARACTERS = 256  # the server takes a shorter text for the bytes themselves
FISH_MIN_SHOWN_INTENSITY = 0.35
FISH_MARKERS = MappingProxyType(  # the words that Fish Audio's S1 models were trained on
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

F5_BRACKETED = re.compile(r"\[[^\]]*\]")  # the server takes [word] for the name of a voice

SOVITS_LANGUAGES = {"zh", "en", "ja", "ko", "yue"}


class OpenAI:
    """Any server with OpenAI's /v1/audio/speech."""

    name = "openai"
    takes_reference = False

    def __init__(self, wanted: Mapping[str, Any]) -> None:
        self._server, self._wanted = SoundServer.from_settings(wanted), wanted
        self.model: str = wanted["model"] or OPENAI_MODEL
        self.place = self._server.base_url
        self.shows_emotion = bool(TAKES_INSTRUCTIONS.match(self.model))

    async def voices(self) -> list[str]:
        """Return the operator's list of voices, else the server's own, else the one voice that is used by default."""
        own: str = self._wanted["voice"] or OPENAI_VOICE
        names = list(self._wanted["voices"]) or await self._list_voices()
        first = own if self._wanted["voice"] or not names else names[0]
        return list(dict.fromkeys([first, *names]))

    async def _list_voices(self) -> list[str]:
        """Return the names of the server's voices, in any of the forms in which servers list them."""
        answer = await _request_list(self._server, f"{self.place}/audio/voices")
        listed = answer.get("voices", answer.get("data")) if isinstance(answer, dict) else answer
        names = []
        for voice in listed if isinstance(listed, list) else []:
            fields = voice if isinstance(voice, dict) else {"name": voice}
            found = (fields.get(key) for key in ("id", "voice_id", "name"))
            names.append(next((name for name in found if isinstance(name, str)), ""))
        return [name for name in names if name]

    async def speak(self, request: SpeechRequest) -> bytes:
        body: dict[str, Any] = {
            "model": self.model,
            "input": request.text,
            "voice": request.voice or self._wanted["voice"] or OPENAI_VOICE,
            "response_format": self._wanted["format"],
        }
        if request.speed != 1.0:
            body["speed"] = request.speed
        instruction = describe_manner(request.emotion, request.intensity)
        if self.shows_emotion and instruction:
            body["instructions"] = instruction
        return await self._server.request_by_sdk(
            lambda audio: audio.speech.with_streaming_response.create(**body)
        )


def describe_manner(emotion: str, intensity: float) -> str:
    """Return an instruction for a model how to speak; empty if there is no emotion to show."""
    manner = MANNERS.get(emotion, "")
    degree = "slightly " if intensity < FAINT_BELOW else "very " if intensity > STRONG_ABOVE else ""
    return f"Sound {degree}{manner}." if manner and intensity > 0 else ""


class Fish:
    """Fish Speech's own server (`POST /v1/tts`)."""

    name = "fish"
    takes_reference = True

    def __init__(self, wanted: Mapping[str, Any]) -> None:
        self._server, self._wanted = SoundServer.from_settings(wanted), wanted
        self.model: str = wanted["model"]
        self.place = self._server.base_url
        self.shows_emotion = "s1" in self.model.lower()  # older models read the markers aloud

    async def voices(self) -> list[str]:
        """Return the operator's list of voices, else the references that the server has."""
        names: Iterable[Any] = list(self._wanted["voices"])
        if not names:
            answer = await _request_list(self._server, f"{self._server.root}/v1/references/list")
            listed = answer.get("reference_ids") if isinstance(answer, dict) else None
            names = [name for name in listed or [] if isinstance(name, str)]
        return list(dict.fromkeys([*filter(None, [self._wanted["voice"]]), *names]))

    async def speak(self, request: SpeechRequest) -> bytes:
        url = f"{self._server.root}/v1/tts"
        return await self._server.request("POST", url, json=self._build_body(request))

    def _build_body(self, request: SpeechRequest) -> dict[str, Any]:
        is_shown = self.shows_emotion and request.intensity >= FISH_MIN_SHOWN_INTENSITY
        marker = FISH_MARKERS.get(request.emotion, "") if is_shown else ""
        body: dict[str, Any] = {
            "text": f"{marker} {request.text}" if marker else request.text,
            "format": "wav",  # without streaming, only this and mp3 work
            "references": [],
            "reference_id": None,
            "normalize": True,
            "streaming": False,
            "use_memory_cache": "on",
        }
        if request.reference is not None:
            sound = base64.b64encode(request.reference).decode()
            if len(sound) < FISH_MIN_BASE64_CHARACTERS:
                raise ProviderRefused("The reference recording is too short")
            return body | {"references": [{"audio": sound, "text": request.reference_text}]}
        voice = request.voice or self._wanted["voice"]
        return body | ({"reference_id": voice} if voice else {})


async def _request_list(server: SoundServer, url: str) -> Any:
    """Return the JSON that the server answers with, or None if it has no such list or answers with something else."""
    try:
        return json.loads(await server.request("GET", url, headers={"Accept": "application/json"}))
    except ProviderError as error:
        if error.status not in NO_LIST_STATUSES:
            raise
    except ValueError:
        pass
    return None


class _Imitator:
    """A server that imitates recordings; its voices are those of SPEECH_REFERENCES."""

    def __init__(self, wanted: Mapping[str, Any]) -> None:
        self._server, self._references = SoundServer.from_settings(wanted), read_references(wanted)
        self._voice: str = wanted["voice"]
        self.place = self._server.base_url

    async def voices(self) -> list[str]:
        return list(self._references)


class F5(_Imitator):
    """F5-TTS behind jianchang512's f5-tts-api (`POST /api`). It imitates a recording and has no voices of its own."""

    name = "f5"
    model = "f5-tts"
    shows_emotion = False
    takes_reference = True

    async def speak(self, request: SpeechRequest) -> bytes:
        if request.reference is not None:
            reference = Reference(request.reference_text, content=request.reference)
        elif chosen := choose_reference(self._references, request.voice, self._voice):
            reference = chosen.open()
        else:
            raise ProviderRefused(
                "F5-TTS needs a reference recording, and there is none in SPEECH_REFERENCES"
            )
        fields = {
            "ref_text": reference.text,
            "gen_text": F5_BRACKETED.sub("", request.text).strip(),
            "model": self.model,
            "speed": f"{request.speed:g}",
        }
        # The name is fixed, since the server saves the file under whatever name it is given.
        files = {"audio": ("ref.wav", reference.content, "audio/wav")}
        return await self._server.request("POST", f"{self._server.root}/api", data=fields, files=files)


class GptSovits(_Imitator):
    """GPT-SoVITS behind its api_v2 (`POST /tts`). It imitates a recording that is on the server's machine."""

    name = "gpt-sovits"
    model = ""
    shows_emotion = False
    takes_reference = False  # it takes a path on the server, so only recordings that the operator has named

    async def speak(self, request: SpeechRequest) -> bytes:
        reference = choose_reference(self._references, request.voice, self._voice)
        if reference is None:
            raise ProviderRefused("GPT-SoVITS needs a recording, and there is none in SPEECH_REFERENCES")
        language = detect_language(request.text, request.language)
        reference_language = reference.language or detect_language(reference.text, "")
        body = {
            "text": request.text,
            "text_lang": language if language in SOVITS_LANGUAGES else "auto",
            "ref_audio_path": reference.path,
            "prompt_text": reference.text,
            "prompt_lang": reference_language if reference_language in SOVITS_LANGUAGES else "auto",
            "text_split_method": "cut5",
            "batch_size": 1,
            "speed_factor": request.speed,
            "media_type": "wav",
            "streaming_mode": False,
        }
        # A POST, since the address of a GET, with the text in it, would be logged by the server.
        return await self._server.request("POST", f"{self.place}/tts", json=body)
