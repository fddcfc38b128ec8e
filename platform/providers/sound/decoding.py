"""Packets of one stream as samples of one channel and one rate."""

from collections.abc import Iterable, Iterator
from typing import cast

import av
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.packet import Packet

from providers.sound.errors import SoundError
from providers.sound.rates import FASTEST, MOST_DECLARED, SLOWEST
from providers.sound.sound import Samples

MOST_CHANNELS = 16


class Decoding:
    """Gives what can be decoded; knows the rate, after the first samples, and what was broken."""

    def __init__(self) -> None:
        self.rate = 0
        self.broken = ""
        self._form: tuple[object, ...] = ()
        self._resampler: AudioResampler | None = None

    def samples(self, packets: Iterable["Packet[AudioStream]"]) -> Iterator[Samples]:
        for packet in packets:
            for frame in self._frames(packet):
                yield from self._resampled(frame)
        if self._resampler is not None:
            yield from self._taken(self._resampler, None)

    def _frames(self, packet: "Packet[AudioStream]") -> list[AudioFrame]:
        try:
            return packet.decode()
        except av.FFmpegError as error:  # one broken packet is no reason to lose the others
            self.broken = str(error)
            return []

    def _resampled(self, frame: AudioFrame) -> Iterator[Samples]:
        form = (frame.format.name, frame.layout.name, frame.sample_rate)
        if self._resampler is None or form != self._form:
            if self._resampler is not None:
                yield from self._taken(self._resampler, None)
            self._form, self._resampler = form, self._made(frame)
        yield from self._taken(self._resampler, frame)

    def _made(self, frame: AudioFrame) -> AudioResampler:
        if not SLOWEST <= frame.sample_rate <= MOST_DECLARED or frame.layout.nb_channels > MOST_CHANNELS:
            raise SoundError("no_sound", f"{frame.sample_rate} Hz, {frame.layout.nb_channels} channels")
        self.rate = self.rate or min(frame.sample_rate, FASTEST)
        return AudioResampler(format="s16", layout="mono", rate=self.rate)

    def _taken(self, resampler: AudioResampler, frame: AudioFrame | None) -> Iterator[Samples]:
        for part in resampler.resample(frame):
            yield cast(Samples, part.to_ndarray().reshape(-1))
