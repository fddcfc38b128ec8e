"""Whether somebody speaks, told from how loud it is: the page's own script, run over sounds of known times."""

import base64
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Page

pytestmark = pytest.mark.browser
RATE, FRAME = 16_000, 320
SCRIPT = Path(__file__).resolve().parents[2] / "static/js/voice/activity.js"
LISTEN = """([source, packed, raised]) => import(source).then(({ Activity }) => {
  const bytes = Uint8Array.from(atob(packed), (one) => one.charCodeAt(0));
  const samples = new Float32Array(bytes.buffer);
  const activity = new Activity(), found = [];
  for (let at = 0; at + 320 <= samples.length; at += 320) {
    const time = at / 16000;
    const isRaised = raised.some(([from, to]) => from <= time && time < to);
    const happened = activity.hear(samples.subarray(at, at + 320), isRaised);
    if (happened) found.push([happened, time]);
  }
  return found;
})"""


def noise(seconds: float, decibels: float, seed: int = 1) -> NDArray[np.float32]:
    """A room of that loudness, by root mean square against full scale."""
    samples = np.random.default_rng(seed).standard_normal(round(seconds * RATE))
    return (samples * 10 ** (decibels / 20)).astype(np.float32)


def voice(seconds: float, decibels: float = -20) -> NDArray[np.float32]:
    """Something like a voice: a buzz that swells and falls four times a second, and never quite ends."""
    times = np.arange(round(seconds * RATE)) / RATE
    buzz = sum(np.sin(2 * np.pi * 130 * n * times) / n for n in range(1, 12))
    swell = 0.55 + 0.45 * np.sin(2 * np.pi * 4 * times)
    return (buzz * swell * 10 ** (decibels / 20)).astype(np.float32)


def heard(page: Page, *parts: NDArray[np.float32], raised: Any = (), room: float = -62) -> list[Any]:
    """What happened, and when, in these sounds one after another in a room."""
    samples = np.concatenate(parts)
    packed = base64.b64encode((samples + noise(len(samples) / RATE, room)).astype("<f4").tobytes()).decode()
    source = f"data:text/javascript;charset=utf-8,{quote(SCRIPT.read_text())}"
    found: list[Any] = page.evaluate(LISTEN, [source, packed, list(raised)])
    return found


def silence(seconds: float) -> NDArray[np.float32]:
    return np.zeros(round(seconds * RATE), dtype=np.float32)


@pytest.mark.parametrize("room", [-75, -62, -48, -40])
def test_one_who_speaks_is_heard_from_the_beginning_to_the_end(blank: Page, room: float) -> None:
    found = heard(blank, silence(2), voice(1.5), silence(2), room=room)
    assert [one for one, _ in found] == ["begins", "ends"]
    begins, ends = (time for _, time in found)
    assert begins == pytest.approx(2.15, abs=0.15)
    assert ends == pytest.approx(3.5 + 0.7, abs=0.15)


def test_a_pause_within_a_sentence_is_no_end(blank: Page) -> None:
    found = heard(blank, silence(1), voice(1), silence(0.5), voice(1), silence(2))
    assert [one for one, _ in found] == ["begins", "ends"]


def test_two_sentences_apart_are_two(blank: Page) -> None:
    found = heard(blank, silence(1), voice(1), silence(1.5), voice(1), silence(2))
    assert [one for one, _ in found] == ["begins", "ends"] * 2


@pytest.mark.parametrize("room", [-70, -50, -35, -30])
def test_a_room_alone_is_nobody(blank: Page, room: float) -> None:
    assert heard(blank, silence(10), room=room) == []


def test_a_knock_is_nobody(blank: Page) -> None:
    knock = np.concatenate([noise(0.04, -10), silence(1)])
    assert heard(blank, silence(1), knock, knock, knock, silence(1)) == []


def test_a_quiet_voice_is_heard_in_a_quiet_room(blank: Page) -> None:
    found = heard(blank, silence(2), voice(1.5, -38), silence(2), room=-72)
    assert [one for one, _ in found] == ["begins", "ends"]


def test_what_is_left_of_its_own_voice_is_not_taken_for_the_persons(blank: Page) -> None:
    echo = voice(4, -42)
    assert heard(blank, silence(1), echo, silence(1), raised=[(0.9, 5.1)]) == []
    assert [one for one, _ in heard(blank, silence(1), echo, silence(1))] == ["begins", "ends"]


def test_who_breaks_in_is_heard_while_it_speaks(blank: Page) -> None:
    both = voice(4, -42)
    both[2 * RATE : 3 * RATE] += voice(1, -18)
    found = heard(blank, silence(1), both, silence(2), raised=[(0.9, 3.3)])
    assert found[0][0] == "begins"
    assert found[0][1] == pytest.approx(3.3, abs=0.2)


def test_a_fan_that_is_switched_on_is_soon_the_rooms(blank: Page) -> None:
    found = heard(blank, silence(2), noise(40, -32, seed=3))
    assert [one for one, _ in found] == ["begins", "ends"]
    assert found[1][1] < 5


def test_a_microphone_that_becomes_more_sensitive_to_a_quiet_voice_hears_its_end(blank: Page) -> None:
    found = heard(blank, silence(2), voice(1.5, -34) + noise(1.5, -45), noise(10, -45, seed=3), room=-66)
    assert [one for one, _ in found] == ["begins", "ends"]
    assert found[1][1] < 6


def test_nobody_speaks_for_more_than_a_minute_at_once(blank: Page) -> None:
    found = heard(blank, silence(1), voice(70))
    assert [one for one, _ in found][:2] == ["begins", "ends"]
    assert found[1][1] - found[0][1] < 60
