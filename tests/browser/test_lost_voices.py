"""Lines that lead nowhere and microphones that are gone: the page's own scripts, with parts that a test plays."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route

pytestmark = pytest.mark.browser
STATIC = Path(__file__).resolve().parents[2] / "static"
CALL = """async () => {
  const { Line } = await import("/js/voice/call_connection.js");
  window.sockets = [];
  window.WebSocket = class {
    static OPEN = 1;
    readyState = 1;
    sent = [];
    constructor() { sockets.push(this); setTimeout(() => this.onopen()); }
    send(frame) {
      this.sent.push(typeof frame === "string" ? JSON.parse(frame).type : "sound");
      if (!window.isDead) this.onmessage({ data: JSON.stringify({ type: "call.begun", call: line.name }) });
    }
    close() { this.readyState = 2; }
  };
  window.line = new Line("1"), window.told = [];
  for (const name of ["up", "down"]) line.addEventListener(name, ({ detail }) => told.push(detail ?? name));
  line.open();
}"""


@pytest.fixture
def page(browser: Browser) -> Any:
    """A page of nothing beside Kith's scripts, whose clock a test turns."""
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(10_000)

    def serve(route: Route) -> None:
        path = route.request.url.removeprefix("https://kith.test")
        if path == "/":
            route.fulfill(body="", content_type="text/html")
        else:
            route.fulfill(path=STATIC / path[1:], content_type="text/javascript")

    page.route("https://kith.test/**", serve)
    page.clock.install()
    page.goto("https://kith.test/")
    yield page
    context.close()


@pytest.fixture
def call(page: Page) -> Page:
    page.evaluate(CALL)
    page.clock.run_for(1_000)
    return page


def test_a_line_that_answers_stays_and_one_that_leads_nowhere_is_given_up(call: Page) -> None:
    call.clock.run_for(60_000)
    assert call.evaluate("[told, sockets.length]") == [["up"], 1]
    call.evaluate("window.isDead = true; line.say(new ArrayBuffer(1000), 'en')")
    call.clock.run_for(21_000)
    assert call.evaluate("told") == ["up", "reconnecting", "up"]
    assert call.evaluate("sockets[1].sent.slice(0, 3)") == ["call.begin", "call.utterance", "sound"]
    assert call.evaluate("line.close(); sockets.length") == 2


def test_a_long_utterance_has_the_time_that_a_slow_line_needs(call: Page) -> None:
    call.evaluate("window.isDead = true; line.say(new ArrayBuffer(1_920_044), 'en')")
    call.clock.run_for(200_000)
    assert call.evaluate("[told, sockets.length]") == [["up"], 1]


def test_a_browser_that_is_offline_does_not_wait_for_the_line_to_fall(call: Page) -> None:
    call.evaluate("dispatchEvent(new Event('offline'))")
    assert call.evaluate("told") == ["up", "reconnecting"]
    call.clock.run_for(1_000)
    assert call.evaluate("[told, sockets.length]") == [["up", "reconnecting", "up"], 2]


def test_a_sentence_that_was_asked_for_on_a_dead_line_is_asked_for_anew(page: Page) -> None:
    page.evaluate(
        """async () => {
          const { Speaking } = await import("/js/voice/speaking.js");
          const { TurnTaking } = await import("/js/voice/turn_taking.js");
          let count = 0;
          window.fetch = (_url, { signal }) => {
            if ((count += 1) > 1) return Promise.resolve(new Response(null, { status: 204 }));
            return new Promise((_done, fail) => signal.addEventListener("abort", () => fail(signal.reason)));
          };
          const line = new EventTarget(), speaking = new Speaking("1");
          const turns = new TurnTaking(speaking, line, { hears() {}, textOf: () => "" });
          window.told = [];
          speaking.addEventListener("done", () => told.push("done"));
          turns.say("replies", "A");
          line.dispatchEvent(new Event("up"));
        }"""
    )
    page.wait_for_function("told.length === 1")


def test_an_answer_is_not_said_into_the_notice_of_the_call(page: Page) -> None:
    page.evaluate(
        """async () => {
          const { Speaking } = await import("/js/voice/speaking.js");
          const body = JSON.stringify({ code: "browser_speaks", text: "Hello." });
          const replies = [new Response(body, { status: 409 })];
          window.fetch = async () => replies.pop() ?? new Response(null, { status: 204 });
          window.told = [];
          const speaking = new Speaking("1");
          speaking.browser.play = async ({ text }) => told.push(text);
          speaking.before = new Promise((done) => (window.isNoticeSaid = done));
          speaking.addEventListener("done", () => told.push("done"));
          speaking.say("replies", "A");
        }"""
    )
    page.clock.run_for(1_000)
    assert page.evaluate("new Promise((later) => later(told))") == []
    page.evaluate("isNoticeSaid()")
    page.wait_for_function("told.length === 2")
    assert page.evaluate("told") == ["Hello.", "done"]


MICROPHONE = """async () => {
  const context = new AudioContext();
  window.streams = [];
  navigator.mediaDevices.getUserMedia = async () => {
    if (window.isGone) throw new DOMException("", "NotFoundError");
    const stream = context.createMediaStreamDestination().stream;
    streams.push(stream);
    return stream;
  };
  window.told = [];
  window.context = context;
}"""
LOSE = "streams.at(-1).getTracks()[0].dispatchEvent(new Event('ended'))"


def test_a_call_goes_on_with_another_microphone_and_ends_without_one(page: Page) -> None:
    page.evaluate(MICROPHONE)
    page.evaluate(
        """async () => {
          const { Microphone } = await import("/js/voice/microphone.js");
          const worklet = await (await fetch("/js/voice/microphone_worklet.js")).blob();
          window.microphone = new Microphone(URL.createObjectURL(worklet));
          for (const name of ["lost", "level"]) microphone.addEventListener(name, ({ detail }) => told.push(detail));
          await microphone.open(context);
          microphone.isMuted = true;
        }"""
    )
    assert page.evaluate("told") == [{"level": 0}]
    page.evaluate(LOSE)
    page.wait_for_function("streams.length === 2")
    assert page.evaluate("[told.length, streams[1].getTracks()[0].enabled]") == [1, False]
    page.evaluate(f"window.isGone = true; {LOSE}")
    page.wait_for_function("told.length === 2")
    assert page.evaluate("told[1]") == {"name": "NotFoundError"}
    page.evaluate(f"window.isGone = false; {LOSE}; microphone.close()")
    page.wait_for_function("streams.length === 3 && streams[2].getTracks()[0].readyState === 'ended'")


def test_a_recording_is_over_once_its_microphone_is_gone(page: Page) -> None:
    page.evaluate(MICROPHONE)
    page.evaluate(
        """async () => {
          const { Recorder } = await import("/js/voice/recordings.js");
          const recorder = new Recorder(300);
          recorder.addEventListener("over", () => told.push("over"));
          await recorder.start();
          streams[0].getTracks()[0].stop();
        }"""
    )
    page.wait_for_function("told.length === 1")
