"""Plain WAV, of 16 bits and one channel, read and written without a decoder."""

import struct
from dataclasses import dataclass

import numpy as np

from providers.sound.errors import SoundError
from providers.sound.rates import FASTEST, SLOWEST
from providers.sound.sound import Sound

PCM, MONO, BITS = 1, 1, 16
HEAD, PART = struct.Struct("<4sI4s"), struct.Struct("<4sI")
FORMAT = struct.Struct("<HHIIHH")
MOST_PARTS = 64
UNKNOWN_FROM = (
    0x7FFF_0000  # whoever writes before they know the size writes about as much as there can be, or none
)


@dataclass(frozen=True, slots=True)
class Parts:
    """Where the samples of a WAV lie, how many bytes it says that they are, and what they are."""

    form: tuple[int, ...]
    begin: int
    declared: int


def parts_of(content: bytes) -> Parts | None:
    """The parts of a RIFF WAV; None for anything else, or where one is missing."""
    if content[:4] != b"RIFF" or content[8:12] != b"WAVE":
        return None
    at, form = HEAD.size, None
    for _ in range(MOST_PARTS):
        if at + PART.size > len(content):
            return None
        name, size = PART.unpack_from(content, at)
        at += PART.size
        if name == b"fmt " and at + FORMAT.size <= len(content):
            form = FORMAT.unpack_from(content, at)
        if name == b"data":
            return Parts(form, at, size) if form else None
        at += size + size % 2
    return None


def is_short(content: bytes) -> bool:
    """Whether a WAV says that it holds more than came; not where it was written before its size was known."""
    parts = parts_of(content)
    if parts is None or not 0 < parts.declared < UNKNOWN_FROM:
        return False
    return parts.begin + parts.declared > len(content)


def plain(content: bytes, most_seconds: float) -> Sound | None:
    """The sound of a plain WAV; None where it takes a decoder. SoundError as for reading.read."""
    parts = parts_of(content)
    if parts is None or (parts.form[0], parts.form[1], parts.form[5]) != (PCM, MONO, BITS):
        return None
    rate = parts.form[2]
    if not SLOWEST <= rate <= FASTEST:
        return None
    size = parts.declared if 0 < parts.declared < UNKNOWN_FROM else len(content)
    count = len(content[parts.begin : parts.begin + size]) // 2
    if not count:
        raise SoundError("empty")
    if count > most_seconds * rate:
        raise SoundError("too_long")
    return Sound(np.frombuffer(content, dtype="<i2", count=count, offset=parts.begin).astype(np.int16), rate)


def wav(sound: Sound) -> bytes:
    """The sound as a plain WAV."""
    data = sound.samples.astype("<i2").tobytes()
    form = FORMAT.pack(PCM, MONO, sound.rate, 2 * sound.rate, 2, BITS)
    head = HEAD.pack(b"RIFF", HEAD.size + 2 * PART.size + len(form) + len(data) - 8, b"WAVE")
    return head + PART.pack(b"fmt ", len(form)) + form + PART.pack(b"data", len(data)) + data
