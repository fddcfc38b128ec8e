"""An utterance as it comes over a socket: plain samples, so that nothing of a stranger's has to be decoded for it."""

import struct

import numpy as np
from django.utils.translation import gettext as _

from providers.sound import Sound
from voice.errors import HearingError

MAX_SECONDS = 60
RATES = (8_000, 48_000)
MAX_BYTES = MAX_SECONDS * RATES[1] * 2 + 1024
PCM, MONO, BITS = 1, 1, 16
MAX_PARTS = 32


def read_wav(content: bytes) -> Sound:
    """Return the sound of a WAV file of one channel with 16 bits a sample, 8,000 to 48,000 a second; raise HearingError.

    Its lengths are taken from what is there, not from what its headers say.
    """
    if len(content) > MAX_BYTES:
        raise _too_long()
    rate, samples = _find_samples(content)
    sound = Sound(np.frombuffer(samples[: len(samples) // 2 * 2], dtype="<i2").astype(np.int16), rate)
    if not len(sound.samples):
        raise HearingError("empty", _("The recording is empty."))
    if sound.seconds > MAX_SECONDS:
        raise _too_long()
    return sound


def _find_samples(content: bytes) -> tuple[int, bytes]:
    if content[:4] != b"RIFF" or content[8:12] != b"WAVE":
        raise _no_sound()
    rate, at = 0, 12
    for _part in range(MAX_PARTS):
        if at + 8 > len(content):
            break
        name, length = struct.unpack_from("<4sI", content, at)
        if name == b"fmt ":
            rate = _read_rate(content[at + 8 : at + 24])
        if name == b"data":
            if not rate:
                break
            return rate, content[at + 8 : at + 8 + length]
        at += 8 + length + length % 2
    raise _no_sound()


def _read_rate(fields: bytes) -> int:
    if len(fields) < 16:
        raise _no_sound()
    coding, channels, rate, _bytes, _block, bits = struct.unpack("<HHIIHH", fields)
    if (coding, channels, bits) != (PCM, MONO, BITS) or not RATES[0] <= rate <= RATES[1]:
        raise _no_sound()
    return int(rate)


def _no_sound() -> HearingError:
    detail = _(
        "A call takes WAV files of one channel, with 16 bits a sample and 8,000 to 48,000 samples a second."
    )
    return HearingError("no_sound", detail)


def _too_long() -> HearingError:
    detail = _("What you say at once can last %(seconds)s seconds.")
    return HearingError("too_long", detail % {"seconds": MAX_SECONDS})
