"""What a call takes for an utterance: sound as browsers send it, however short it is cut."""

import struct

import pytest

from config.up.web import FRAME_BYTES
from providers.sound import encode_wav
from tests.fixtures.sound import hum
from voice.call import read_utterance
from voice.errors import HearingError

WAV = encode_wav(hum(1.0))


def header(
    coding: int = 1, channels: int = 1, rate: int = 16_000, bits: int = 16, length: int = 32_000
) -> bytes:
    """What stands before the samples, and may be a lie."""
    told = struct.pack("<HHIIHH", coding, channels, rate, rate * 2 % 2**32, 2, bits)
    return b"RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0" + told + b"data" + struct.pack("<I", length)


def test_a_header_that_promises_more_than_there_is_takes_what_is_there() -> None:
    sound = read_utterance(header(length=2**32 - 1) + b"\0\x40" * 8_000 + b"\1")
    assert (sound.seconds, sound.rate) == (0.5, 16_000)


@pytest.mark.parametrize("rate", [8_000, 16_000, 44_100, 48_000])
def test_every_usual_rate_is_taken(rate: int) -> None:
    assert read_utterance(encode_wav(hum(0.5, rate=rate))).seconds == pytest.approx(0.5)


def test_the_longest_utterance_fits_into_a_frame() -> None:
    """The server closes a socket that sends a larger frame, and with it the call."""
    longest = encode_wav(hum(60.0, rate=48_000))
    assert read_utterance(longest).seconds == pytest.approx(60)
    assert len(longest) <= FRAME_BYTES


@pytest.mark.parametrize("cut", range(0, len(header()) + 1, 4))
def test_a_file_cut_before_its_first_sample_is_refused(cut: int) -> None:
    with pytest.raises(HearingError) as refused:
        read_utterance(WAV[:cut])
    assert refused.value.code in ("no_sound", "empty")
