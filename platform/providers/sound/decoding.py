"""Sound out of a file: a few known containers and codecs, frame by frame, never more than was asked for."""

import re
import struct
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import TYPE_CHECKING, cast

import numpy as np

from providers.sound.errors import SoundError
from providers.sound.sound import MAX_RATE, MIN_RATE, Samples, Sound
from providers.sound.wav import detect_container, is_short, read_plain_wav

if TYPE_CHECKING:
    from av.audio.frame import AudioFrame
    from av.audio.resampler import AudioResampler
    from av.audio.stream import AudioStream
    from av.container import InputContainer
    from av.packet import Packet

MAX_DECLARED_RATE = 768_000
MAX_CHANNELS = 16
PCM = ("u8", "s16le", "s16be", "s24le", "s32le", "f32le", "f64le", "alaw", "mulaw")
CODECS = ["opus", "libopus", "vorbis", "aac", "mp3", "mp3float", "flac", "alac"]
OPTIONS = {
    "format_whitelist": "matroska,webm,mov,mp4,m4a,3gp,3g2,mj2,ogg,wav,mp3,flac,aac",
    "codec_whitelist": ",".join([*CODECS, *(f"pcm_{kind}" for kind in PCM)]),
    "max_streams": "16",
    "probesize": "1000000",
}
# An MP3 written to a file counts its frames in its first one; the flags before the count say whether it stands there.
MP3_COUNT = re.compile(rb"(?:Xing|Info)(....)(....)", re.DOTALL)
MP3_HAS_COUNT = 1
MP3_SEARCHED_BYTES = 65_536
MP3_FINE_RATE, MP3_FINE_SAMPLES, MP3_COARSE_SAMPLES = 32_000, 1_152, 576  # a frame
MIN_LOST_SECONDS = 0.25


def read(content: bytes, max_seconds: float) -> Sound:
    """Return the first sound in it, as one channel of at most 48,000 samples a second.

    Webm, MP4, Ogg, WAV, MP3, FLAC and AAC, whatever its name or its headers say. SoundError: `empty` where it holds no
    samples, `no_sound` where nothing can be read, `too_long` past so many seconds. Broken frames are left out. What
    strangers send belongs into isolated.read_isolated.
    """
    import av  # 23 MB, for those alone who decode

    if not content:
        raise SoundError("empty")
    if (sound := read_plain_wav(content, max_seconds)) is not None:
        return sound
    if not (kind := detect_container(content)):
        raise SoundError("no_sound", "no container of sound")
    try:
        with av.open(BytesIO(content), "r", kind, metadata_errors="replace", options=OPTIONS) as container:
            return _read_first_stream(container, max_seconds)
    except (av.FFmpegError, ValueError, MemoryError) as error:
        raise SoundError("no_sound", f"{type(error).__name__}: {error}"[:500]) from None


def is_cut(content: bytes, sound: Sound) -> bool:
    """Return whether the file says that it is longer than what was read of it; where it says nothing, it is not."""
    if detect_container(content) != "mp3":
        return is_short(content)
    count = MP3_COUNT.search(content[:MP3_SEARCHED_BYTES])
    if count is None:
        return False
    flags, frames = (struct.unpack(">I", part)[0] for part in count.groups())
    frame_samples = MP3_FINE_SAMPLES if sound.rate >= MP3_FINE_RATE else MP3_COARSE_SAMPLES
    declared_seconds = frames * frame_samples / sound.rate if flags & MP3_HAS_COUNT else 0.0
    return bool(sound.seconds < declared_seconds - MIN_LOST_SECONDS)


def _read_first_stream(container: "InputContainer", max_seconds: float) -> Sound:
    if not container.streams.audio:
        raise SoundError("no_sound", "no stream of sound")
    decoder = _Decoder()
    parts: list[Samples] = []
    count = 0
    for part in decoder.decode(container.demux(container.streams.audio[0])):
        parts.append(part)
        count += len(part)
        if count > max_seconds * decoder.rate:
            raise SoundError("too_long")
    if not count:
        raise SoundError("no_sound" if decoder.broken else "empty", decoder.broken)
    return Sound(np.concatenate(parts), decoder.rate)


class _Decoder:
    """Gives what can be decoded; knows the rate, after the first samples, and what was broken."""

    def __init__(self) -> None:
        self.rate = 0
        self.broken = ""
        self._form: tuple[object, ...] = ()
        self._resampler: AudioResampler | None = None

    def decode(self, packets: "Iterable[Packet[AudioStream]]") -> Iterator[Samples]:
        """Yield the samples of one stream's packets, as one channel of one rate."""
        import av

        for packet in packets:
            try:
                frames = packet.decode()
            except av.FFmpegError as error:  # one broken packet is no reason to lose the others
                self.broken = str(error)
                continue
            for frame in frames:
                yield from self._resample(frame)
        yield from self._flush()

    def _resample(self, frame: "AudioFrame") -> Iterator[Samples]:
        form = (frame.format.name, frame.layout.name, frame.sample_rate)
        if form != self._form:
            yield from self._flush()
            self._form, self._resampler = form, self._make_resampler(frame)
        yield from self._feed(frame)

    def _make_resampler(self, frame: "AudioFrame") -> "AudioResampler":
        from av.audio.resampler import AudioResampler

        channels = frame.layout.nb_channels
        if not MIN_RATE <= frame.sample_rate <= MAX_DECLARED_RATE or channels > MAX_CHANNELS:
            raise SoundError("no_sound", f"{frame.sample_rate} Hz, {channels} channels")
        self.rate = self.rate or min(frame.sample_rate, MAX_RATE)
        return AudioResampler(format="s16", layout="mono", rate=self.rate)

    def _flush(self) -> Iterator[Samples]:
        return self._feed(None)

    def _feed(self, frame: "AudioFrame | None") -> Iterator[Samples]:
        for part in self._resampler.resample(frame) if self._resampler else ():
            yield cast(Samples, part.to_ndarray().reshape(-1))
