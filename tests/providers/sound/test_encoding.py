from io import BytesIO

import av
import pytest

from providers.sound import GENERATED, encode_mp3, read
from tests.fixtures.sound import hum
from tests.providers.sound.containers import same


def test_a_generated_sound_says_so_in_its_tags() -> None:
    content = encode_mp3(hum(1.0), GENERATED)
    with av.open(BytesIO(content)) as container:
        marks = dict(container.metadata)
    assert marks.items() >= GENERATED.items()
    assert content.startswith(b"ID3")
    assert b"TXXX" in content[:400]
    assert b"AI-generated" in content[:400]
    assert b"trainedAlgorithmicMedia" in content[:600]


def test_a_persons_sound_is_not_marked_as_generated() -> None:
    assert b"AI-generated" not in encode_mp3(hum(1.0), {})


@pytest.mark.parametrize(
    ("rate", "kept"),
    [
        (4_000, 8_000),
        (8_000, 8_000),
        (16_000, 16_000),
        (22_050, 22_050),
        (24_000, 24_000),
        (44_100, 24_000),
        (48_000, 24_000),
    ],
)
def test_it_is_no_finer_than_24_000_and_sounds_the_same(rate: int, kept: int) -> None:
    sound = hum(2.0, rate=rate)
    again = read(encode_mp3(sound, GENERATED), 10)
    assert again.rate == kept
    assert same(again, 2.0)


@pytest.mark.parametrize("seconds", [0.001, 0.05, 7.3])
def test_its_length_is_that_of_the_sound(seconds: float) -> None:
    assert read(encode_mp3(hum(seconds), {}), 10).seconds == pytest.approx(seconds, abs=0.08)
