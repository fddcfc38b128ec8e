"""espeak-ng, a program on this machine: small, fast, with a hundred languages, and without a model."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any

from providers.errors import ProviderUnavailable
from providers.speech.engine import SpeechRequest, detect_language
from text.strings import storable

PROGRAM = "espeak-ng"
VOICES = ("f3", "f1", "f2", "f4", "f5", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8")
RENAMED_LANGUAGES = MappingProxyType({"zh": "cmn", "yue": "yue", "en": "en-us", "pt": "pt-br", "no": "nb"})
LANGUAGES = "ja ko ru uk bg sr el he ar fa hi de fr es it nl pl tr sv"  # espeak has the usual names for these
WORDS_A_MINUTE, PITCH = 170, 50
EMOTIONS = MappingProxyType(  # the change of pitch (of 99) and the factor of speed at full intensity
    {
        "happy": (14, 1.1),
        "sad": (-16, 0.8),
        "angry": (-6, 1.18),
        "think": (-6, 0.86),
        "surprised": (22, 1.08),
        "awkward": (8, 0.88),
        "question": (10, 0.95),
        "curious": (12, 1.06),
    }
)
MAX_SOUND_BYTES, MAX_ERROR_BYTES = 50_000_000, 10_000


class Espeak:
    name = "espeak"
    model = ""
    place = PROGRAM
    shows_emotion = True
    takes_reference = False

    def __init__(self, wanted: Mapping[str, Any]) -> None:
        self._voice = wanted["voice"] if wanted["voice"] in VOICES else VOICES[0]
        self._seconds: float = wanted["seconds"]

    async def voices(self) -> list[str]:
        return list(dict.fromkeys([self._voice, *VOICES]))

    async def speak(self, request: SpeechRequest) -> bytes:
        pitch, pace = EMOTIONS.get(request.emotion, (0, 1.0))
        speed = request.speed * (1 + (pace - 1) * request.intensity)
        voice = request.voice if request.voice in VOICES else self._voice
        language = detect_language(request.text, request.language)
        name = RENAMED_LANGUAGES.get(language) or (language if language in LANGUAGES.split() else "en-us")
        arguments = [
            *("-v", f"{name}+{voice}"),
            *("-s", str(round(WORDS_A_MINUTE * speed))),
            *("-p", str(round(PITCH + pitch * request.intensity))),
            *("-b", "1", "--stdin", "--stdout"),
        ]
        text = request.text.replace("[[", "[ [").replace("\0", " ")  # espeak reads [[ ]] as phonemes
        try:
            async with asyncio.timeout(self._seconds):
                return await run_program(PROGRAM, arguments, text)
        except TimeoutError:
            raise ProviderUnavailable(f"{PROGRAM} took longer than {self._seconds:g} seconds") from None


async def run_program(program: str, arguments: Sequence[str], text: str) -> bytes:
    """Run the program with the text as its input, and return its output. It is killed if the call is cancelled.

    Raise ProviderUnavailable, with the program's error output, if it fails.
    """
    pipe = asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(
            program, *arguments, stdin=pipe, stdout=pipe, stderr=pipe
        )
    except OSError as error:
        raise ProviderUnavailable(f"{program} does not start: {error}") from error
    assert process.stdin and process.stdout and process.stderr  # noqa: S101, PT018
    try:
        process.stdin.write(text.encode(errors="replace"))
        process.stdin.close()
        outputs = await asyncio.gather(
            *(_read_bounded(stream, process) for stream in (process.stdout, process.stderr))
        )
        await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await asyncio.shield(process.communicate())  # also closes the pipes
    sound, words = outputs
    if len(sound) > MAX_SOUND_BYTES:
        raise ProviderUnavailable(f"More than {MAX_SOUND_BYTES} bytes were written")
    if process.returncode:
        said = storable(words[:MAX_ERROR_BYTES].decode(errors="replace")).strip()
        raise ProviderUnavailable(said or f"{program} failed")
    return sound


async def _read_bounded(stream: asyncio.StreamReader, process: asyncio.subprocess.Process) -> bytes:
    """Return all that the stream gives, but kill the process once that is more than MAX_SOUND_BYTES."""
    read = bytearray()
    while part := await stream.read(65_536):
        read += part
        if len(read) > MAX_SOUND_BYTES:
            with suppress(ProcessLookupError):
                process.kill()
    return bytes(read)
