"""Whose turn it is in a call, also when a voice fails: the page's own script, with a voice that a test plays."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser
SCRIPT = Path(__file__).resolve().parents[2] / "static/js/voice/turn_taking.js"
PLAY = """([source, steps]) => import(source).then(({ TurnTaking }) => {
  const told = [], texts = {};
  class Voice extends EventTarget {
    say(_kind, id, { from }) { told.push(`say ${id} from ${from}`); }
    stop() { return null; }
  }
  class Line extends EventTarget {
    isOpen = true;
    count = 0;
    say() { return `u${(this.count += 1)}`; }
    heard(id, until) { told.push(`heard ${id} to ${until}`); }
  }
  const transcript = {
    hears: (id, until) => until === Infinity && told.push(`show ${id}`), is: () => {}, textOf: (id) => texts[id] ?? "",
  };
  const voice = new Voice(), turns = new TurnTaking(voice, new Line(), transcript);
  turns.addEventListener("voiceless", ({ detail }) => told.push(`voiceless ${detail.detail ?? ""}`.trim()));
  window.turns = { told, play(steps) {
    for (const [name, detail] of steps) {
      if (name === "text") texts[detail[0]] = detail[1];
      else if (name === "answer") turns.say("replies", detail);
      else if (name === "interrupt") turns.begins();
      else if (name === "ends") turns.ends(null, "en");
      else if (name === "saved") turns.saved(detail[0], { id: detail[1] });
      else if (name === "nothing") turns.nothing(detail);
      else voice.dispatchEvent(new CustomEvent(name, { detail }));
    }
  } };
  window.turns.play(steps);
})"""
BEGUN_0 = ["sentence", {"number": 0, "start": 0, "end": 10}]
BEGUN_1 = ["sentence", {"number": 1, "start": 11, "end": 20}]
LATER_MS = 1_600


def fails(number: int) -> list[Any]:
    return ["failed", {"number": number, "code": "no_voice", "detail": "No voice."}]


@pytest.fixture
def page(browser: Browser) -> Any:
    """A page of nothing, whose clock a test turns."""
    context = browser.new_context()
    page = context.new_page()
    page.clock.install()
    page.goto("about:blank")
    yield page
    context.close()


def begin(page: Page, *steps: list[Any]) -> None:
    page.evaluate(PLAY, [f"data:text/javascript;charset=utf-8,{quote(SCRIPT.read_text())}", list(steps)])


def play(page: Page, *steps: list[Any]) -> None:
    page.evaluate("(steps) => window.turns.play(steps)", list(steps))


def told(page: Page) -> list[str]:
    found: list[str] = page.evaluate("window.turns.told.splice(0)")
    return found


def fail_four_times(page: Page, *before: list[Any], number: int) -> None:
    for _ in range(3):
        play(page, *before, fails(number))
        page.clock.run_for(LATER_MS)
    play(page, *before, fails(number))


def test_a_sentence_whose_sound_fails_is_tried_again_and_then_the_answer_is_shown(page: Page) -> None:
    begin(page, ["answer", "A"], BEGUN_0)
    fail_four_times(page, BEGUN_1, number=1)
    assert told(page) == ["say A from 0", *["say A from 1"] * 3, "show A", "voiceless No voice."]


def test_what_failed_to_sound_was_not_heard(page: Page) -> None:
    begin(page, ["answer", "A"], BEGUN_0, BEGUN_1, fails(1), ["interrupt", None])
    assert told(page) == ["say A from 0", "heard A to 11"]


def test_after_an_answer_without_a_voice_the_next_is_tried_once_until_one_sounds(page: Page) -> None:
    begin(page, ["answer", "A"])
    fail_four_times(page, number=0)
    told(page)
    play(page, ["answer", "B"], fails(0), ["answer", "C"], BEGUN_0, ["done", None], ["answer", "D"], fails(0))
    assert told(page) == [
        *("say B from 0", "show B", "voiceless No voice."),
        *("say C from 0", "show C", "say D from 0"),
    ]


def test_an_answer_with_nothing_to_say_is_shown_and_that_is_told(page: Page) -> None:
    begin(
        page,
        ["text", ["A", "```print(1)```"]],
        ["answer", "A"],
        ["done", None],
        ["answer", "B"],
        ["done", None],
    )
    assert told(page) == ["say A from 0", "show A", "voiceless", "say B from 0", "show B"]


def test_a_voice_that_keeps_one_waiting_for_its_failure_is_not_tried_again(page: Page) -> None:
    begin(page, ["answer", "A"], BEGUN_0)
    page.clock.run_for(60_000)
    play(page, ["failed", {"number": 1, "code": "network", "detail": ""}])
    page.clock.run_for(LATER_MS)
    assert told(page) == ["say A from 0", "say A from 1"]
    page.clock.run_for(60_000)
    play(page, fails(1))
    assert told(page) == ["show A", "voiceless No voice."]


def test_a_voice_whose_limit_is_reached_is_not_tried_again(page: Page) -> None:
    begin(page, ["answer", "A"], ["failed", {"number": 0, "code": "no_speech_left", "detail": "Used up."}])
    assert told(page) == ["say A from 0", "show A", "voiceless Used up."]


SPEAKS = [["interrupt", None], ["ends", None]]
PAUSES = {
    "understood only after the person went on": [
        *SPEAKS,
        ["interrupt", None],
        ["saved", ["u1", "A"]],
        ["ends", None],
    ],
    "understood after the rest was said": [*SPEAKS, *SPEAKS, ["saved", ["u1", "A"]]],
    "answered as the person went on": [*SPEAKS, ["saved", ["u1", "A"]], *SPEAKS],
}


@pytest.mark.parametrize("steps", PAUSES.values(), ids=PAUSES)
def test_who_pauses_for_thought_hears_one_answer_to_all_of_it(page: Page, steps: list[Any]) -> None:
    begin(page, *steps, ["saved", ["u2", "B"]], BEGUN_0, ["done", None])
    assert [one for one in told(page) if one != "say A from 0"] == ["heard A to 0", "say B from 0", "show B"]


@pytest.mark.parametrize("steps", PAUSES.values(), ids=PAUSES)
def test_a_cough_after_what_was_said_takes_nothing_from_its_answer(page: Page, steps: list[Any]) -> None:
    begin(page, *steps, ["nothing", "u2"], BEGUN_0, ["done", None])
    assert told(page)[-2:] == ["say A from 0", "show A"]
