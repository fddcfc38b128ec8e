"""What people may send in place of a recording: refused or made harmless, within bounds of memory and time."""

import sys

import pytest

from providers.sound import SoundError, encode_wav, read_isolated
from tests.fixtures.sound import hum
from tests.providers.sound.containers import written
from tests.providers.sound.hostile import HARMLESS, REFUSED, mutants

MOST_SECONDS = 300


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(name: str) -> None:
    code, make = REFUSED[name]
    with pytest.raises(SoundError) as caught:
        read_isolated(make(), MOST_SECONDS)
    assert caught.value.code == code
    assert str(caught.value.sentence)


@pytest.mark.parametrize("name", HARMLESS)
def test_it_is_read_as_what_it_is(name: str) -> None:
    seconds, make = HARMLESS[name]
    sound = read_isolated(make(), MOST_SECONDS)
    assert sound.seconds == pytest.approx(seconds, abs=0.15)
    assert sound.rate <= 48_000
    assert sound.is_silent is (name == "silence")


def test_broken_sounds_are_read_or_refused() -> None:
    outcomes = []
    for _, content in mutants():
        try:
            sound = read_isolated(content, MOST_SECONDS)
            outcomes.append("read")
            assert 0 < sound.seconds <= MOST_SECONDS
        except SoundError as error:
            outcomes.append(error.code)
    assert set(outcomes) <= {"read", "no_sound", "empty", "too_long"}
    assert outcomes.count("read") > len(outcomes) / 3


CONTENT = written("flac", 0.5)
LIES = {
    "nothing": "",
    "no JSON": "print('hello')",
    "another thing": "print('[1]')",
    "an unknown code": """print('{"code": "<script>"}')""",
    "no rate": """print('{"rate": 0}'); print('xx')""",
    "a rate below nothing": """print('{"rate": -8000}'); print('xx')""",
    "half a sample": """print('{"rate": 8000}'); print('xx')""",
    "no samples": """print('{"rate": 8000}')""",
    "more than was wanted": """print('{"rate": 100}'); print('x' * 99999, end='x')""",
    "a long first line": "print('x' * 10_000_000)",
    "a death": "import os; os.kill(os.getpid(), 9)",
    "a broken one": "raise SystemExit(1)",
}


@pytest.mark.parametrize("lie", LIES)
def test_a_process_that_was_taken_over_is_not_believed(lie: str) -> None:
    with pytest.raises(SoundError) as caught:
        read_isolated(CONTENT, 10, command=[sys.executable, "-c", LIES[lie]])
    assert caught.value.code == "no_sound"


def test_a_process_that_hangs_is_ended() -> None:
    with pytest.raises(SoundError, match="too long"):
        read_isolated(
            CONTENT, 10, command=[sys.executable, "-c", "import time; time.sleep(60)"], timeout_seconds=0.5
        )


LIMITED = "from providers.sound.__main__ import limit_resources; limit_resources(); "
BEYOND = {
    "memory": "x = bytearray(2 * 1024**3); print('{\"rate\": 8000}'); print('xxx')",
    "what is written": "import os; [os.write(1, bytes(1024**2)) for _ in range(99)]; os.write(1, b'')",
    "open files": "x = [open('/dev/null') for _ in range(99)]; print('{\"rate\": 8000}'); print('xxx')",
}


@pytest.mark.parametrize("what", BEYOND)
def test_the_limits_hold(what: str) -> None:
    with pytest.raises(SoundError, match="died"):
        read_isolated(CONTENT, 10, command=[sys.executable, "-c", LIMITED + BEYOND[what]])


def test_processor_time_is_limited() -> None:
    told = "import resource; n, _ = resource.getrlimit(resource.RLIMIT_CPU); "
    told += """print('{"rate": 8000}'); print('x' * (2 * n - 1))"""
    sound = read_isolated(CONTENT, 10, command=[sys.executable, "-c", LIMITED + told])
    assert len(sound.samples) == 20


def test_no_secret_goes_into_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "of-the-platform")
    told = (
        """import os; print('{"rate": 8000}'); print('x' * (99 if 'SECRET_KEY' not in os.environ else 1))"""
    )
    assert len(read_isolated(CONTENT, 10, command=[sys.executable, "-c", told]).samples) == 50


def test_five_minutes_of_the_finest_sound_fit() -> None:
    sound = read_isolated(written("flac", 299.0), MOST_SECONDS)
    assert (sound.rate, sound.seconds) == (48_000, pytest.approx(299.0, abs=0.1))


def test_a_plain_wav_takes_no_process() -> None:
    sound = read_isolated(encode_wav(hum(0.5)), 10, command=["/nowhere"])
    assert sound.seconds == pytest.approx(0.5)
