"""Whether all of a sound came."""

import re
import struct

from providers.sound.kinds import kind_of
from providers.sound.plain import is_short
from providers.sound.sound import Sound

# An MP3 written to a file counts its frames in its first one; the flags before the count say whether it stands there.
COUNT = re.compile(rb"(?:Xing|Info)(....)(....)", re.DOTALL)
HAS_COUNT = 1
SEARCHED_BYTES = 65_536
FINE_RATE, FINE_SAMPLES, COARSE_SAMPLES = 32_000, 1_152, 576
LEAST_LOST_SECONDS = 0.25


def is_cut(content: bytes, sound: Sound) -> bool:
    """Whether the file says that it is longer than what was read of it; where it says nothing, it is not."""
    if kind_of(content) != "mp3":
        return is_short(content)
    return sound.seconds < _declared_seconds(content, sound.rate) - LEAST_LOST_SECONDS


def _declared_seconds(content: bytes, rate: int) -> float:
    told = COUNT.search(content[:SEARCHED_BYTES])
    if told is None:
        return 0.0
    flags, frames = (struct.unpack(">I", part)[0] for part in told.groups())
    samples = FINE_SAMPLES if rate >= FINE_RATE else COARSE_SAMPLES
    return float(frames * samples / rate) if flags & HAS_COUNT else 0.0
