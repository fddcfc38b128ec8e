"""A call's line that leads nowhere without saying so: the page's own scripts, with sockets that a test plays."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route

pytestmark = pytest.mark.browser
STATIC = Path(__file__).resolve().parents[2] / "static"
PLAY = """async () => {
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

    def serve(route: Route) -> None:
        path = route.request.url.removeprefix("http://kith.test")
        if path == "/":
            route.fulfill(body="", content_type="text/html")
        else:
            route.fulfill(path=STATIC / path[1:], content_type="text/javascript")

    page.route("http://kith.test/**", serve)
    page.clock.install()
    page.goto("http://kith.test/")
    page.evaluate(PLAY)
    page.clock.run_for(1_000)
    yield page
    context.close()


def test_a_line_that_answers_stays_and_one_that_leads_nowhere_is_given_up(page: Page) -> None:
    page.clock.run_for(60_000)
    assert page.evaluate("[told, sockets.length]") == [["up"], 1]
    page.evaluate("window.isDead = true; line.say(new ArrayBuffer(1000), 'en')")
    page.clock.run_for(21_000)
    assert page.evaluate("told") == ["up", "reconnecting", "up"]
    assert page.evaluate("sockets[1].sent.slice(0, 3)") == ["call.begin", "call.utterance", "sound"]
    assert page.evaluate("line.close(); sockets.length") == 2


def test_a_long_utterance_has_the_time_that_a_slow_line_needs(page: Page) -> None:
    page.evaluate("window.isDead = true; line.say(new ArrayBuffer(1_920_044), 'en')")
    page.clock.run_for(200_000)
    assert page.evaluate("[told, sockets.length]") == [["up"], 1]


def test_a_browser_that_is_offline_does_not_wait_for_the_line_to_fall(page: Page) -> None:
    page.evaluate("dispatchEvent(new Event('offline'))")
    assert page.evaluate("told") == ["up", "reconnecting"]
    page.clock.run_for(1_000)
    assert page.evaluate("[told, sockets.length]") == [["up", "reconnecting", "up"], 2]
