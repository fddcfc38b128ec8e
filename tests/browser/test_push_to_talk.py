"""Push to talk in a browser whose microphone is a file, before a transcription that is scripted."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserType, Page, WebSocketRoute, expect

from providers.sound import encode_wav
from tests.browser.conftest import PATIENCE_MS
from tests.browser.person import Person
from tests.fixtures.live import Live
from tests.fixtures.sound import hum

pytestmark = pytest.mark.browser
SECONDS = """
from voice.models import Recording
print(int(Recording.objects.latest("created_at").seconds))
"""
SAID = "My sister Ada lives in Lisbon"
RECORDS = "Recording. Press again to end."
LISTENS = "Listening. Press again to end."
PRESSED = """button => {
  const told = [];
  new MutationObserver(() => told.push(button.ariaPressed)).observe(button, { attributeFilter: ["aria-pressed"] });
  return told;
}"""


@pytest.fixture(scope="module")
def speaking_browser(
    browser_type: BrowserType,
    browser_type_launch_args: dict[str, Any],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Browser]:
    """A browser that hears a hum, again and again, and lets pages hear it."""
    sound: Path = tmp_path_factory.mktemp("sound") / "hum.wav"
    sound.write_bytes(encode_wav(hum(5.0, rate=48_000)))
    flags = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
    flags += [f"--use-file-for-fake-audio-capture={sound}", "--autoplay-policy=no-user-gesture-required"]
    given = {**browser_type_launch_args, "args": [*browser_type_launch_args["args"], *flags]}
    browser = browser_type.launch(**given)
    yield browser
    browser.close()


@pytest.fixture
def errors() -> list[str]:
    return []


@pytest.fixture
def speaker(speaking_browser: Browser, live: Live, errors: list[str]) -> Iterator[Person]:
    """Someone signed in, with a microphone and a companion."""
    context = speaking_browser.new_context(
        locale="en-GB", permissions=["microphone"], reduced_motion="reduce", service_workers="block"
    )
    page = context.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda line: errors.append(line.text) if "Content Security" in line.text else None)
    page.set_default_timeout(PATIENCE_MS)
    live.rest()
    live.rehearsal.reset()
    person = Person.signed_in(page, live)
    person.make_companion()
    yield person
    context.close()
    assert not errors, errors


def line(page: Page) -> Any:
    return page.locator("#hearing-line")


def record(person: Person, seconds: float = 1.2) -> None:
    """Press, speak, press again."""
    button = person.page.locator("#speak")
    button.click()
    expect(line(person.page)).to_have_text(RECORDS)
    expect(button).to_have_attribute("aria-pressed", "true")
    person.page.wait_for_timeout(seconds * 1000)
    button.click()


def heard(live: Live, *texts: str) -> None:
    live.rehearsal.script_sound(*[{"capability": "transcription", "text": text} for text in texts])


def test_what_is_said_aloud_is_read_through_sent_answered_and_played_again(
    speaker: Person, live: Live
) -> None:
    page = speaker.page
    heard(live, f"{SAID}, I think")
    record(speaker)
    box = page.locator("#message")
    expect(box).to_have_value(f"{SAID}, I think")
    expect(line(page)).to_have_text("Read it through, then send it.")
    assert live.rehearsal.sound_requests()[-1]["language"] == "en"  # the page's
    box.fill(SAID)
    box.press("Enter")
    speaker.hears("sister")
    answer = page.locator(".said-by-companion").last
    expect(answer.get_by_role("button", name="Read aloud")).to_be_visible()  # the turn is not swapped again
    said = page.locator(".said-by-person").last
    expect(said.locator(".words")).to_have_text(SAID)
    expect(page.locator("#hearing")).to_be_hidden()
    play = said.get_by_role("button", name="Play what you said")
    expect(play).to_contain_text(f"0:0{live.run(SECONDS).strip()}")
    pressed = play.evaluate_handle(PRESSED)
    play.click()
    # It has begun, and ended.
    page.wait_for_function("pressed => String(pressed) === 'true,false'", arg=pressed)


def test_the_button_held_records_until_it_is_let_go(speaker: Person, live: Live) -> None:
    page = speaker.page
    heard(live, SAID)
    page.locator("#message").fill("Listen:")
    page.locator("#speak").hover()
    page.mouse.down()
    expect(line(page)).to_have_text(RECORDS)
    page.wait_for_timeout(900)
    page.mouse.up()
    expect(page.locator("#message")).to_have_value(f"Listen: {SAID}")


def test_a_key_begins_and_ends_it(speaker: Person, live: Live) -> None:
    heard(live, SAID)
    speaker.page.locator("#speak").focus()
    speaker.page.keyboard.press("Enter")
    expect(line(speaker.page)).to_have_text(RECORDS)
    speaker.page.wait_for_timeout(800)
    speaker.page.keyboard.press("Enter")
    expect(speaker.page.locator("#message")).to_have_value(SAID)


def test_what_was_misheard_is_put_right(speaker: Person, live: Live) -> None:
    page = speaker.page
    heard(live, "My sister Aida lives in Lisbon")
    record(speaker)
    expect(page.locator("#message")).to_have_value("My sister Aida lives in Lisbon")
    page.locator("#send").click()
    speaker.hears("sister")
    page.get_by_role("link", name="Misheard?").click()
    page.get_by_label("What you said").fill(SAID)
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".said-by-person .words").last).to_have_text(SAID)
    page.reload()
    expect(page.locator(".said-by-person .words").last).to_have_text(SAID)


def test_where_it_cannot_be_heard_it_waits_and_is_tried_again(speaker: Person, live: Live) -> None:
    page = speaker.page
    live.rehearsal.script_sound({"capability": "transcription", "error": {"status": 503}})
    heard(live, SAID)
    page.locator("#message").fill("Kept.")
    record(speaker)
    expect(line(page)).to_contain_text("Your recording is kept")
    expect(page.locator("#message")).to_have_value("Kept.")
    page.reload()
    expect(line(page)).to_contain_text("Your recording is kept")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#message")).to_have_value(f"Kept. {SAID}")


def test_what_takes_long_to_be_heard_can_be_discarded(speaker: Person, live: Live) -> None:
    page = speaker.page
    page.route("**/recordings/", lambda _route: None)  # no answer comes
    record(speaker)
    expect(line(page)).to_have_text("Finding the words…")
    page.get_by_role("button", name="Discard").click(timeout=5_000)
    expect(page.locator("#hearing")).to_be_hidden()
    page.unroute("**/recordings/")
    heard(live, "Hello.")
    record(speaker)
    expect(page.locator("#message")).to_have_value("Hello.")


def test_a_recording_waits_over_a_reload_and_can_be_left_out(speaker: Person, live: Live) -> None:
    page = speaker.page
    heard(live, SAID)
    record(speaker)
    expect(page.locator("#message")).to_have_value(SAID)
    page.reload()
    expect(line(page)).to_have_text("Read it through, then send it.")
    page.get_by_role("button", name="Remove the recording").click()
    expect(page.locator("#hearing")).to_be_hidden()
    expect(page.locator("#message")).to_have_value(SAID)
    page.locator("#message").press("Enter")
    speaker.hears("sister")
    expect(page.get_by_role("button", name="Play what you said")).to_have_count(0)


def test_words_whose_recording_is_gone_are_sent_all_the_same(speaker: Person, live: Live) -> None:
    page = speaker.page
    heard(live, SAID)
    record(speaker)
    expect(page.locator("#message")).to_have_value(SAID)
    live.run("from voice.models import Recording; Recording.objects.filter(message=None).delete()")
    page.locator("#message").press("Enter")
    speaker.hears("sister")
    expect(page.locator(".said-by-person .words").last).to_have_text(SAID)
    expect(page.locator(".trouble")).to_have_count(0)


def test_words_that_go_out_on_a_line_that_leads_nowhere_go_out_again(speaker: Person, live: Live) -> None:
    page = speaker.page
    sockets = list[WebSocketRoute]()

    def pass_on(socket: WebSocketRoute) -> None:
        socket.connect_to_server()
        sockets.append(socket)

    page.route_web_socket(re.compile("/ws/companions/"), pass_on)
    page.route("**/send/", lambda route: None, times=1)
    page.reload()
    heard(live, SAID)
    record(speaker)
    expect(page.locator("#message")).to_have_value(SAID)
    with page.expect_request("**/send/"):
        page.locator("#message").press("Enter")
    speaker.write("Are you there?")
    sockets[-1].close(code=1012)
    said = page.locator(".turn[data-turn] .said-by-person .words")
    expect(said).to_have_text([SAID, "Are you there?"])


def test_escape_discards_it(speaker: Person) -> None:
    page = speaker.page
    page.locator("#speak").click()
    expect(line(page)).to_have_text(RECORDS)
    page.keyboard.press("Escape")
    expect(page.locator("#hearing")).to_be_hidden()
    expect(page.locator("#speak")).to_have_attribute("aria-pressed", "false")


def test_without_a_microphone_it_says_so(person: Person) -> None:
    """The browser of the other tests has none."""
    person.make_companion()
    person.page.locator("#speak").click()
    expect(line(person.page)).to_contain_text("icrophone")
    expect(person.page.locator("#speak")).to_be_enabled()


# -- the browser's own recognition: its engine is one of this file's, driven from here --

ENGINE = """
window.engines = [];
class Engine {
  constructor() { window.engines.push(this); }
  start() { this.isOn = true; }
  stop() { this.isOn = false; setTimeout(() => this.onend()); }
  say(from, ...said) {
    const results = said.map(([transcript, isFinal]) => Object.assign([{ transcript }], { isFinal }));
    this.onresult({ resultIndex: from, results });
  }
  fail(error) { this.onerror({ error }); this.isOn = false; this.onend(); }
}
window.SpeechRecognition = window.webkitSpeechRecognition = Engine;
"""
BY_BROWSER = "delete document.getElementById('hearing').dataset.transcribes"


def listening(person: Person, engine: str = ENGINE, agrees: bool = True) -> Page:
    """The page of a Kith without a transcription, in a browser with that engine."""
    page = person.page
    page.add_init_script(engine)
    person.make_companion()
    page.evaluate(BY_BROWSER)
    page.locator("#speak").click()
    if agrees:
        expect(line(page)).to_contain_text("send the sound to their maker")
        page.get_by_role("button", name="Continue").click()
        expect(line(page)).to_have_text(LISTENS)
    return page


def say(page: Page, since: int, *said: tuple[str, bool]) -> None:
    page.evaluate("([from, said]) => window.engines.at(-1).say(from, ...said)", [since, list(said)])


def test_what_was_final_stays_whatever_comes_after(person: Person) -> None:
    page = listening(person)
    box = page.locator("#message")
    say(page, 0, ("my sister", False))
    expect(box).to_have_value("my sister")
    say(page, 0, ("My sister Ada", True))
    say(page, 1, ("My sister Ada", True), ("lives in", False))
    expect(box).to_have_value("My sister Ada lives in")
    say(page, 1, ("My sister Ada", True), ("lives in Lisbon.", True))
    say(page, 2, ("My sister Ada", True), ("lives in Lisbon.", True), ("She", False), ("sings", False))
    expect(box).to_have_value("My sister Ada lives in Lisbon. She sings")
    page.locator("#speak").click()
    expect(box).to_have_value("My sister Ada lives in Lisbon. She sings")
    expect(page.locator("#hearing")).to_be_hidden()
    box.press("Enter")
    person.hears("sister")


def test_it_goes_on_where_the_browser_ends_by_itself(person: Person) -> None:
    page = listening(person)
    say(page, 0, ("My sister", True))
    page.wait_for_timeout(400)
    page.evaluate("window.engines.at(-1).onend()")
    assert page.evaluate("window.engines.length") == 2
    say(page, 0, ("sings.", True))
    expect(page.locator("#message")).to_have_value("My sister sings.")
    page.evaluate("window.engines.at(-1).fail('network')")
    expect(page.locator("#message")).to_have_value("My sister sings.")
    expect(line(page)).to_contain_text("What was heard is kept")


def test_an_engine_that_ends_whatever_is_begun_is_let_be(person: Person) -> None:
    dead = ENGINE.replace("start() { this.isOn = true; }", "start() { setTimeout(() => this.onend()); }")
    page = listening(person, dead, agrees=False)
    page.get_by_role("button", name="Continue").click()
    expect(line(page)).to_contain_text("cannot be reached")
    assert page.evaluate("window.engines.length") < 6


def test_it_listens_in_the_persons_own_language(person: Person) -> None:
    page = listening(person)
    assert page.evaluate("window.engines[0].lang") == "en-GB"
    languages = """async () => {
      const { languageOf } = await import(document.querySelector('script[src*="talk/talk"]').src.replace(
        /talk\\/talk[^/]*$/, "voice/recognition.js"));
      return [languageOf("zh-hans", ["en-US", "zh-TW", "zh-CN"]), languageOf("zh-hans", ["de-DE"]),
              languageOf("en", ["de-DE", "en"]), languageOf("en", ["en-IE", "en-GB"])];
    }"""
    assert page.evaluate(languages) == ["zh-CN", "zh-CN", "en-US", "en-IE"]


def test_nothing_is_heard_before_one_agrees_and_nothing_is_asked_twice(person: Person) -> None:
    page = listening(person, agrees=False)
    expect(line(page)).to_contain_text("send the sound to their maker")
    assert page.evaluate("window.engines.length") == 0
    page.get_by_role("button", name="Continue").click()
    expect(line(page)).to_have_text(LISTENS)
    page.locator("#speak").click()
    page.locator("#speak").click()
    expect(line(page)).to_have_text(LISTENS)
    assert page.evaluate("window.engines.length") == 2


def test_a_browser_that_recognises_by_itself_is_not_asked_about(person: Person) -> None:
    at_home = "Engine.available = async () => 'available'; Engine.prototype.processLocally = false;"
    page = listening(person, ENGINE + at_home, agrees=False)
    expect(line(page)).to_have_text(LISTENS)
    assert page.evaluate("window.engines[0].processLocally") is True


def test_a_browser_without_recognition_says_so(person: Person) -> None:
    without = "delete window.SpeechRecognition; delete window.webkitSpeechRecognition;"
    page = listening(person, without, agrees=False)
    expect(line(page)).to_contain_text("This browser cannot recognise speech")


def test_discarded_words_go_and_what_was_written_before_stays(person: Person) -> None:
    page = listening(person, agrees=False)
    page.locator("#message").fill("Before.")
    page.get_by_role("button", name="Continue").click()
    say(page, 0, ("never mind", True))
    expect(page.locator("#message")).to_have_value("Before. never mind")
    page.get_by_role("button", name="Discard").click()
    expect(page.locator("#message")).to_have_value("Before.")
