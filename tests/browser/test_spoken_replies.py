"""A companion's answers are heard in a real browser: sentence by sentence, in order, and stopped at a word."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.person import Person
from tests.fixtures.live import Live

pytestmark = pytest.mark.browser
PATIENCE_SECONDS = 60.0
# What the page's voice tells, kept for the test: the sentences as they begin, how loud it was, whether it ended.
LISTEN = """
window.heard = {begun: [], loudest: 0, ended: 0, fetched: []};
document.addEventListener("kith:speaking", ({detail}) => (heard.loudest = Math.max(heard.loudest, detail.level)));
document.addEventListener("kith:said", () => (heard.ended += 1));
const real = window.fetch;
window.fetch = async (...asked) => {
  const number = String(asked[0]).match(/speech.(\\d+)/);
  const fetched = number && [number[1], 0];
  if (fetched) heard.fetched.push(fetched);
  const response = await real(...asked);
  if (fetched) fetched[1] = response.status;
  return response;
};
const create = AudioContext.prototype.createBufferSource;
AudioContext.prototype.createBufferSource = function () {
  const source = create.call(this);
  const start = source.start.bind(source);
  source.start = () => {
    heard.begun.push(source.buffer.duration);
    start();
  };
  return source;
};
"""

# Sound as Safari allows it: it begins only if that is asked for while an action of the user is being handled.
SAFARI = """
window.AudioContext = class extends AudioContext {
  constructor(...given) {
    super(...given);
    this.suspend();
  }

  resume() {
    return window.event?.isTrusted ? super.resume() : new Promise(() => {});
  }
};
"""


@pytest.fixture
def listening(person: Person) -> Iterator[Person]:
    person.page.add_init_script(LISTEN)
    yield person
    person.visit("/companions/")


def heard(page: Page) -> dict[str, Any]:
    told: dict[str, Any] = page.evaluate("heard")
    return told


def until(page: Page, claim: str) -> None:
    """Wait for it to be true; the content policy keeps the browser itself from waiting for a string's truth."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not page.evaluate(claim):
        assert time.monotonic() < deadline, f"{claim}: {heard(page)}"
        page.wait_for_timeout(50)


def ended(page: Page) -> None:
    until(page, "heard.ended > 0")


def test_an_answer_is_read_aloud_while_it_comes(listening: Person, live: Live) -> None:
    listening.make_companion()
    page = listening.page
    page.get_by_role("button", name="Read answers aloud").click()
    pieces = ["Good evening", ". I was ", "waiting for you. ", "你好，", "朋友。", "再见！"]
    live.rehearsal.script({"pieces": pieces, "delay_between": 0.3})
    listening.write("Hello")
    until(page, "heard.begun.length > 0")
    expect(listening.open_replies).to_have_count(1)  # it speaks before all is there
    ended(page)
    told = heard(page)
    assert len(told["begun"]) == 4
    assert told["loudest"] > 0.05
    assert [number for number, status in told["fetched"] if status == 200] == ["0", "1", "2", "3"]
    page.reload()
    expect(page.get_by_role("button", name="Read answers aloud")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Read answers aloud").click()
    expect(page.get_by_role("button", name="Read answers aloud")).to_have_attribute("aria-pressed", "false")


def test_a_message_is_read_again_and_stopped_half_way(listening: Person, live: Live) -> None:
    listening.make_companion()
    page = listening.page
    live.rehearsal.script({"answer": "One two three four five six seven eight nine ten. " * 4})
    listening.write("Count")
    listening.hears("ten")
    assert heard(page)["begun"] == []
    button = page.locator(".said-by-companion").last.get_by_role("button", name="Read aloud")
    button.click()
    until(page, "heard.begun.length > 0")
    expect(button).to_have_attribute("aria-pressed", "true")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    assert heard(page)["ended"] == 1
    assert len(heard(page)["begun"]) == 1


def test_it_is_heard_where_sound_may_begin_only_within_an_action(listening: Person, live: Live) -> None:
    page = listening.page
    page.add_init_script(SAFARI)
    listening.make_companion()
    live.rehearsal.script({"answer": "Good evening."}, {"answer": "Come in."})
    listening.write("Hello")
    listening.hears("evening")
    page.locator(".said-by-companion").last.get_by_role("button", name="Read aloud").click()
    until(page, "heard.begun.length === 1")
    page.get_by_role("button", name="Read answers aloud").click()
    page.reload()
    listening.write("May I?")
    until(page, "heard.begun.length === 1")
    page.goto(page.url + "voice/")
    page.get_by_role("button", name="Hear it").click()
    until(page, "heard.begun.length === 1")


def test_what_was_heard_is_known_to_the_word(listening: Person, live: Live) -> None:
    listening.make_companion()
    page = listening.page
    live.rehearsal.script({"answer": "First I counted every single sheep on the hill. Then I slept."})
    listening.write("Tell me")
    listening.hears("slept")
    answer = page.locator(".said-by-companion").last
    expect(
        answer.get_by_role("button", name="Read aloud")
    ).to_be_visible()  # it has ended, and can be read aloud
    told = page.evaluate(
        """async () => {
          const { Speaking } = await import("/static/js/voice/speaking.js");
          const talk = document.getElementById("talk");
          const speaking = new Speaking(talk.dataset.companion);
          const message = [...talk.querySelectorAll("[data-speaks]")].at(-1).dataset.speaks;
          const nothing = speaking.stop();
          const told = new Promise((done) => speaking.addEventListener("sentence", ({ detail }) => done(detail)));
          speaking.say("messages", message);
          const sentence = await told;
          await new Promise((done) => setTimeout(done, 700));
          const heard = speaking.stop();
          const ended = [];
          for (const name of ["done", "failed", "sentence"]) speaking.addEventListener(name, () => ended.push(name));
          await new Promise((done) => setTimeout(done, 500));
          return { nothing, sentence, heard, ended };
        }"""
    )
    assert told["nothing"] is None
    assert (told["sentence"]["number"], told["sentence"]["start"], told["sentence"]["end"]) == (0, 0, 47)
    assert told["heard"]["number"] == 0
    assert 0 < told["heard"]["fraction"] < 1
    assert told["heard"]["seconds"] > 0
    assert told["ended"] == []


def test_the_answer_is_stopped_with_its_voice(listening: Person, live: Live) -> None:
    listening.make_companion()
    page = listening.page
    page.get_by_role("button", name="Read answers aloud").click()
    pieces = [f"This is the sentence with the number {number}. " for number in range(60)]
    live.rehearsal.script({"pieces": pieces, "delay_between": 0.3})
    listening.write("Tell me a long story")
    until(page, "heard.begun.length > 0")
    page.get_by_role("button", name="Stop the answer").click()
    ended(page)
    expect(page.get_by_text("You stopped this answer.")).to_be_visible()
    count = len(heard(page)["begun"])
    page.wait_for_timeout(1500)
    assert len(heard(page)["begun"]) == count
    page.get_by_role("button", name="Read answers aloud").click()


def test_a_voice_is_tried_and_chosen(listening: Person) -> None:
    listening.make_companion()
    page = listening.page
    page.goto(f"{page.url}voice/")
    expect(page.get_by_text("made by espeak-ng, on this server")).to_be_visible()
    page.get_by_label("Voice", exact=True).select_option("m3")
    page.get_by_label("Speed").fill("1.5")
    expect(page.locator("#speed-shown")).to_have_text("1.5×")
    page.get_by_role("button", name="Hear it").click()
    until(page, "heard.begun.length > 0")
    expect(page.get_by_role("button", name="Hear it")).to_have_attribute("aria-pressed", "false")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(page.get_by_label("Voice", exact=True)).to_have_value("m3")
    expect(page.get_by_label("Speed")).to_have_value("1.5")
