"""WAV files of 16 bits and one channel, read and written without a decoder; and what a file is by its first bytes."""

import struct
import wave
from dataclasses import dataclass
from io import BytesIO

import numpy as np

from providers.sound.errors import SoundError
from providers.sound.sound import MAX_RATE, MIN_RATE, Sound

PCM, MONO, BITS = 1, 1, 16
PART, FORMAT = struct.Struct("<4sI"), struct.Struct("<HHIIHH")
HEAD_BYTES = 12
MAX_PARTS = 64
# Whoever writes before they know the size writes about as much as there can be, or none.
UNKNOWN_SIZE_FROM = 0x7FFF_0000
STARTS = {b"OggS": "ogg", b"fLaC": "flac", b"\x1aE\xdf\xa3": "matroska", b"ID3": "mp3"}


def detect_container(content: bytes) -> str:
    """Return FFmpeg's name of the container by its first bytes: matroska, mov, ogg, wav, mp3, flac, aac; or nothing.

    Neither names nor headers of HTTP are asked, nor FFmpeg's own guess: it knows playlists and scripts too, which make
    it open other files.
    """
    if content[:4] in (b"RIFF", b"RF64") and content[8:12] == b"WAVE":
        return "wav"
    if named := next((kind for start, kind in STARTS.items() if content.startswith(start)), ""):
        return named
    if content[4:8] == b"ftyp":
        return "mov"
    if len(content) < 4 or content[0] != 0xFF or content[1] & 0xE0 != 0xE0:
        return ""
    if content[1] & 0x06:  # the layer of a frame of MPEG; AAC's frames have none
        return "mp3"
    return "aac" if content[1] & 0xF0 == 0xF0 else ""


@dataclass(frozen=True, slots=True)
class WavParts:
    """Where the samples of a WAV lie, how many bytes it says that they are, and what they are."""

    form: tuple[int, ...]
    begin: int
    declared_bytes: int

    @property
    def is_size_known(self) -> bool:
        return 0 < self.declared_bytes < UNKNOWN_SIZE_FROM


def find_parts(content: bytes) -> WavParts | None:
    """Return the parts of a RIFF WAV; None for anything else, or where one is missing."""
    if content[:4] != b"RIFF" or content[8:12] != b"WAVE":
        return None
    at, form = HEAD_BYTES, None
    for _ in range(MAX_PARTS):
        if at + PART.size > len(content):
            return None
        name, size = PART.unpack_from(content, at)
        at += PART.size
        if name == b"fmt " and at + FORMAT.size <= len(content):
            form = FORMAT.unpack_from(content, at)
        if name == b"data":
            return WavParts(form, at, size) if form else None
        at += size + size % 2
    return None


def is_short(content: bytes) -> bool:
    """Return whether a WAV says that it holds more than came; not where it was written before its size was known."""
    parts = find_parts(content)
    return bool(parts and parts.is_size_known and parts.begin + parts.declared_bytes > len(content))


def read_plain_wav(content: bytes, max_seconds: float) -> Sound | None:
    """Return the sound of a plain WAV; None where it takes a decoder. SoundError as of `decoding.read`."""
    parts = find_parts(content)
    if parts is None or (parts.form[0], parts.form[1], parts.form[5]) != (PCM, MONO, BITS):
        return None
    rate = parts.form[2]
    if not MIN_RATE <= rate <= MAX_RATE:
        return None
    size = parts.declared_bytes if parts.is_size_known else len(content)
    count = len(content[parts.begin : parts.begin + size]) // 2
    if not count:
        raise SoundError("empty")
    if count > max_seconds * rate:
        raise SoundError("too_long")
    return Sound(np.frombuffer(content, dtype="<i2", count=count, offset=parts.begin).astype(np.int16), rate)


def wav(sound: Sound) -> bytes:
    """Return the sound as a plain WAV."""
    file = BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(MONO)
        writer.setsampwidth(BITS // 8)
        writer.setframerate(sound.rate)
        writer.writeframes(sound.samples.astype("<i2").tobytes())
    return file.getvalue()
