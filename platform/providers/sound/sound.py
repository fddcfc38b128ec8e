"""Sound as samples, errors of reading it, and plain WAV files of 16 bits and one channel, which need no decoder."""

import struct
import wave
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from django.utils.functional import Promise

Samples = NDArray[np.int16]

MIN_RATE, MAX_RATE = 4_000, 48_000  # samples per second; sound with a higher rate is resampled to MAX_RATE
FULL_SCALE = 32_768.0
SILENT_BELOW = 0.003  # of full scale, about -50 dB: the hum of a quiet room without a voice
WINDOW_SECONDS = 0.05
PCM, MONO, BITS = 1, 1, 16
PART, FORMAT = struct.Struct("<4sI"), struct.Struct("<HHIIHH")
HEAD_BYTES = 12
MAX_PARTS = 64
# A program that writes a WAV before it knows the size declares about the largest possible size, or 0.
UNKNOWN_SIZE_FROM = 0x7FFF_0000
STARTS = {b"OggS": "ogg", b"fLaC": "flac", b"\x1aE\xdf\xa3": "matroska", b"ID3": "mp3"}
_ = str  # marks texts for translation, without loading Django into the process that reads untrusted files
SENTENCES: Mapping[str, str] = MappingProxyType(
    {
        "empty": _("The recording is empty."),
        "no_sound": _("This recording cannot be read. Try another format, such as MP3 or WAV."),
        "too_long": _("The recording is too long."),
    }
)


@dataclass(frozen=True, eq=False)
class Sound:
    """One channel of samples, with `rate` samples per second."""

    samples: Samples
    rate: int

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.rate

    @cached_property
    def level(self) -> float:
        """Return the loudness of the loudest twentieth of a second, as root mean square: 0 to 1."""
        width = max(1, int(self.rate * WINDOW_SECONDS))
        windows = (self.samples[at : at + width] for at in range(0, len(self.samples), width))
        squares = (float(np.mean(np.square(window, dtype=np.float32))) for window in windows)
        return float(max(squares, default=0.0) ** 0.5 / FULL_SCALE)

    @property
    def is_silent(self) -> bool:
        """Return whether nothing can be heard in the whole sound."""
        return self.level < SILENT_BELOW


class SoundError(Exception):
    """A sound cannot be read. `code` is `empty`, `no_sound` or `too_long`; `sentence` is for the person who sent it.

    `said` is for logs: it holds the decoder's words, never anything from the sound.
    """

    def __init__(self, code: str, said: str = "") -> None:
        self.code, self.said = code, said
        super().__init__(f"{code}: {said}" if said else code)

    @property
    def sentence(self) -> "Promise":
        from django.utils.translation import gettext_lazy  # takes as long to load as all other modules

        return gettext_lazy(SENTENCES[self.code])


def detect_container(content: bytes) -> str:
    """Return FFmpeg's name of the file's container, by its first bytes: matroska, mov, ogg, wav, mp3, flac or aac.

    Return an empty string for any other. FFmpeg's own guess is not used, since it also accepts playlists and scripts,
    which make it open other files; file names and HTTP headers are not used either.
    """
    if content[:4] in (b"RIFF", b"RF64") and content[8:12] == b"WAVE":
        return "wav"
    if named := next((kind for start, kind in STARTS.items() if content.startswith(start)), ""):
        return named
    if content[4:8] == b"ftyp":
        return "mov"
    if len(content) < 4 or content[0] != 0xFF or content[1] & 0xE0 != 0xE0:
        return ""
    if content[1] & 0x06:  # the layer of an MPEG frame, which is 0 for AAC
        return "mp3"
    return "aac" if content[1] & 0xF0 == 0xF0 else ""


@dataclass(frozen=True, slots=True)
class WavParts:
    """Where a WAV's samples begin, how many bytes of them it declares, and their format (the `fmt ` chunk's fields)."""

    form: tuple[int, ...]
    begin: int
    declared_bytes: int

    @property
    def is_size_known(self) -> bool:
        return 0 < self.declared_bytes < UNKNOWN_SIZE_FROM


def find_parts(content: bytes) -> WavParts | None:
    """Return the parts of a RIFF WAV, or None if the file is none or its format or samples are missing."""
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
    """Return whether a WAV declares more samples than it holds; False if it was written before its size was known."""
    parts = find_parts(content)
    return bool(parts and parts.is_size_known and parts.begin + parts.declared_bytes > len(content))


def read_plain_wav(content: bytes, max_seconds: float) -> Sound | None:
    """Return the sound of a plain WAV, or None if it takes a decoder. Raise SoundError as `codecs.read` does."""
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


def encode_wav(sound: Sound) -> bytes:
    """Return the sound as a plain WAV."""
    file = BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(MONO)
        writer.setsampwidth(BITS // 8)
        writer.setframerate(sound.rate)
        writer.writeframes(sound.samples.astype("<i2").tobytes())
    return file.getvalue()
