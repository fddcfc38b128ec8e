"""Files of sound in every container, made here."""

from collections.abc import Mapping
from io import BytesIO
from types import MappingProxyType

import av
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler

from providers.sound import Sound

FORMS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "webm": ("webm", "libopus"),
        "mp4": ("mp4", "aac"),
        "ogg": ("ogg", "libopus"),
        "ogg of flac": ("ogg", "flac"),
        "wav": ("wav", "pcm_s16le"),
        "wav of 24 bits": ("wav", "pcm_s24le"),
        "wav of numbers": ("wav", "pcm_f32le"),
        "mp3": ("mp3", "libmp3lame"),
        "flac": ("flac", "flac"),
        "aac": ("adts", "aac"),
        "mka": ("matroska", "flac"),
    }
)


def written(form: str, seconds: float, *, rate: int = 48_000, channels: int = 1, loud: float = 0.3) -> bytes:
    """A hum of that length in that form."""
    container_name, codec = FORMS[form]
    layout = {1: "mono", 2: "stereo", 6: "5.1"}[channels]
    file = BytesIO()
    with av.open(file, "w", format=container_name) as container:
        stream = container.add_stream(codec, rate=rate, layout=layout)
        resampler = AudioResampler(
            stream.codec_context.format, layout, rate, frame_size=stream.codec_context.frame_size or 1_024
        )
        for frame in [*frames(seconds, rate, loud), None]:
            for part in resampler.resample(frame):
                container.mux(stream.encode(part))
        container.mux(stream.encode(None))
    return file.getvalue()


def frames(seconds: float, rate: int, loud: float) -> list[AudioFrame]:
    made = []
    for at in range(0, round(seconds * rate), rate):
        times = np.arange(at, min(at + rate, round(seconds * rate))) / rate
        wave = (loud * 32_767 * np.sin(2 * np.pi * 220 * times)).astype(np.int16)
        frame = AudioFrame.from_ndarray(wave.reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate, frame.pts = rate, at
        made.append(frame)
    return made


def same(sound: Sound, seconds: float, loud: float = 0.3, within: float = 0.08) -> bool:
    """Whether it is that hum, so long and so loud."""
    return abs(sound.seconds - seconds) < within and abs(sound.level - loud / 2**0.5) < 0.1 * loud
