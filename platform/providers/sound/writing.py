"""Sound as a file."""

from collections.abc import Mapping
from io import BytesIO

import av
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler

from providers.sound.plain import wav
from providers.sound.rates import OF_MP3
from providers.sound.sound import Sound

BITS_A_SECOND = 64_000
FRAME_SAMPLES = 9_600
QUICK = {
    "compression_level": "7"
}  # 20 ms of processor time for three seconds, in place of 37: somebody waits

__all__ = ["mp3", "wav"]


def mp3(sound: Sound, marks: Mapping[str, str]) -> bytes:
    """The sound as an MP3 of one channel, of 24,000 samples a second or the sound's own where they are fewer.

    The marks stand in its ID3 tags, in those of their name where ID3 has one.
    """
    rate = max((rate for rate in OF_MP3 if rate <= sound.rate), default=OF_MP3[0])
    file = BytesIO()
    with av.open(file, "w", format="mp3") as container:
        container.metadata.update(marks)
        stream = container.add_stream(
            "libmp3lame", rate=rate, layout="mono", bit_rate=BITS_A_SECOND, options=QUICK
        )
        resampler = AudioResampler(format="s16p", layout="mono", rate=rate)
        for frame in [*_frames(sound), None]:
            for part in resampler.resample(frame):
                container.mux(stream.encode(part))
        container.mux(stream.encode(None))
    return file.getvalue()


def _frames(sound: Sound) -> list[AudioFrame]:
    parts = [sound.samples[at : at + FRAME_SAMPLES] for at in range(0, len(sound.samples), FRAME_SAMPLES)]
    frames = [AudioFrame.from_ndarray(part.reshape(1, -1), format="s16", layout="mono") for part in parts]
    for frame in frames:
        frame.sample_rate = sound.rate
    return frames
