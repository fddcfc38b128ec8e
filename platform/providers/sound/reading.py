"""Sound out of a file: a few known containers and codecs, frame by frame, never more than was asked for."""

from io import BytesIO

import av
import numpy as np
from av.container import InputContainer

from providers.sound.decoding import Decoding
from providers.sound.errors import SoundError
from providers.sound.kinds import kind_of
from providers.sound.plain import plain
from providers.sound.sound import Samples, Sound

PCM = ("u8", "s16le", "s16be", "s24le", "s32le", "f32le", "f64le", "alaw", "mulaw")
CODECS = [
    "opus",
    "libopus",
    "vorbis",
    "aac",
    "mp3",
    "mp3float",
    "flac",
    "alac",
    *(f"pcm_{kind}" for kind in PCM),
]
OPTIONS = {
    "format_whitelist": "matroska,webm,mov,mp4,m4a,3gp,3g2,mj2,ogg,wav,mp3,flac,aac",
    "codec_whitelist": ",".join(CODECS),
    "max_streams": "16",
    "probesize": "1000000",
}


def read(content: bytes, most_seconds: float) -> Sound:
    """The first sound in it, as one channel of at most 48,000 samples a second.

    Webm, MP4, Ogg, WAV, MP3, FLAC and AAC, whatever its name or its headers say. SoundError: `empty` where it holds no
    samples, `no_sound` where nothing can be read, `too_long` past so many seconds. Broken frames are left out. What
    strangers send belongs into apart.read_apart.
    """
    if not content:
        raise SoundError("empty")
    if (sound := plain(content, most_seconds)) is not None:
        return sound
    if not (kind := kind_of(content)):
        raise SoundError("no_sound", "no container of sound")
    try:
        with av.open(BytesIO(content), "r", kind, metadata_errors="replace", options=OPTIONS) as container:
            return _first(container, most_seconds)
    except (av.FFmpegError, ValueError, MemoryError) as error:
        raise SoundError("no_sound", f"{type(error).__name__}: {error}"[:500]) from None


def _first(container: InputContainer, most_seconds: float) -> Sound:
    if not container.streams.audio:
        raise SoundError("no_sound", "no stream of sound")
    decoding = Decoding()
    parts: list[Samples] = []
    count = 0
    for part in decoding.samples(container.demux(container.streams.audio[0])):
        parts.append(part)
        count += len(part)
        if count > most_seconds * decoding.rate:
            raise SoundError("too_long")
    if not count:
        raise SoundError("no_sound" if decoding.broken else "empty", decoding.broken)
    return Sound(np.concatenate(parts), decoding.rate)
