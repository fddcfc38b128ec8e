import pytest

from providers.sound import encode_mp3, encode_wav, read
from providers.sound.codecs import is_cut
from tests.fixtures.sound import hum
from tests.providers.sound.containers import written

SOUNDS = {
    "mp3": written("mp3", 3.0),
    "mp3 of 8,000": encode_mp3(hum(3.0, rate=8_000), {}),
    "mp3 with tags": encode_mp3(hum(3.0), {"comment": "x" * 9_000}),
    "wav": encode_wav(hum(3.0)),
    "wav of 24 bits": written("wav of 24 bits", 3.0),
}


@pytest.mark.parametrize("name", SOUNDS)
def test_a_whole_sound_is_whole_and_half_a_one_is_cut(name: str) -> None:
    whole = SOUNDS[name]
    half = whole[: len(whole) // 2 + 4_000]
    assert not is_cut(whole, read(whole, 10))
    assert is_cut(half, read(half, 10))


def test_a_stream_that_counts_no_frames_is_never_cut() -> None:
    counted = written("mp3", 3.0)
    stream = counted.replace(b"Xing", b"XXXX").replace(b"Info", b"XXXX")[: len(counted) // 2]
    assert not is_cut(stream, read(stream, 10))
