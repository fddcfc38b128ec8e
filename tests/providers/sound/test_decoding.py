import numpy as np
import pytest

from providers.sound import Sound, SoundError, encode_wav, read, read_isolated
from tests.fixtures.sound import hum
from tests.providers.sound.containers import FORMS, same, written


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_read_as_it_was(form: str) -> None:
    sound = read(written(form, 2.0), 10)
    assert same(sound, 2.0)
    assert sound.rate == 48_000
    assert sound.samples.dtype == np.int16
    assert sound.samples.ndim == 1


@pytest.mark.parametrize("form", ["webm", "mp4", "wav of 24 bits"])
def test_it_is_read_the_same_in_a_process_of_its_own(form: str) -> None:
    content = written(form, 2.0)
    assert read_isolated(content, 10).samples.tobytes() == read(content, 10).samples.tobytes()


@pytest.mark.parametrize("channels", [2, 6])
def test_channels_become_one(channels: int) -> None:
    assert read(written("flac", 1.0, channels=channels), 10).seconds == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("rate", "kept"),
    [(8_000, 8_000), (22_050, 22_050), (44_100, 44_100), (96_000, 48_000), (192_000, 48_000)],
)
def test_rates_are_kept_up_to_48_000(rate: int, kept: int) -> None:
    sound = read(written("wav of 24 bits", 1.0, rate=rate), 10)
    assert (sound.rate, sound.seconds) == (kept, pytest.approx(1.0, abs=0.01))


@pytest.mark.parametrize("form", FORMS)
def test_what_is_longer_than_wanted_is_told_so(form: str) -> None:
    content = written(form, 3.0)
    assert same(read(content, 3.1), 3.0)
    with pytest.raises(SoundError) as caught:
        read(content, 2.0)
    assert caught.value.code == "too_long"


def test_a_wav_comes_back_as_it_was_written() -> None:
    sound = hum(0.5, rate=22_050)
    again = read(encode_wav(sound), 1)
    assert again.rate == 22_050
    assert again.samples.tolist() == sound.samples.tolist()


@pytest.mark.parametrize(
    ("loud", "is_silent"), [(0.0, True), (0.001, True), (0.003, True), (0.02, False), (0.5, False)]
)
def test_silence_is_what_nobody_hears(loud: float, is_silent: bool) -> None:
    assert hum(1.0, loud=loud).is_silent is is_silent


def test_one_word_in_a_long_silence_is_heard() -> None:
    word, silence = hum(0.2).samples, np.zeros(16_000 * 20, dtype=np.int16)
    assert not Sound(np.concatenate([silence, word, silence]), 16_000).is_silent


def test_a_sound_of_no_samples_has_no_level() -> None:
    nothing = Sound(np.zeros(0, dtype=np.int16), 16_000)
    assert (nothing.seconds, nothing.level, nothing.is_silent) == (0, 0, True)


def test_the_loudest_sound_has_the_highest_level() -> None:
    assert Sound(np.full(16_000, -32_768, dtype=np.int16), 16_000).level == pytest.approx(1.0)
