"""A call in a browser whose microphone is a file: one speaks, is answered, breaks in, is answered again."""

import json
import time
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from playwright.sync_api import Browser, BrowserType, Page, WebSocketRoute, expect

from providers.selection import FRESH_SECONDS
from tests.browser.person import Person
from tests.fixtures.live import Live

pytestmark = pytest.mark.browser
RATE = 48_000
MARKER = "Zxqvorn"
SENTENCES = [
    "Your key lies on the old oak table in the hall.",
    "Beside it stands the blue vase with the dry flowers.",
    "I saw it there this morning as the sun came in.",
    "You had put it down to look for your umbrella.",
    f"The umbrella hangs on the {MARKER} behind the door.",
    "And the door is open, so mind the wind.",
    f"That is all that I know of the {MARKER}.",
]


VOICE = """
from providers.models import Provider
Provider.objects.create(name="Voice", capability="speech", base_url=URL, model="rehearsal")
"""
SILENCE = """
from providers.models import Provider
Provider.objects.filter(name="Voice").delete()
"""


def spoken(*parts: tuple[str, float]) -> np.ndarray:
    """Voices and silences of so many seconds: a buzz of changing pitch that swells as syllables do."""
    made = []
    for kind, seconds in parts:
        if kind == "silence":
            made.append(np.zeros(round(seconds * RATE)))
            continue
        times = np.arange(round(seconds * RATE)) / RATE
        pitch = 2 * np.pi * (120 * times - 30 / (2 * np.pi) * np.cos(2 * np.pi * times))
        buzz = sum(np.sin(pitch * n) / n for n in range(1, 20))
        swell = 0.55 + 0.45 * np.sin(2 * np.pi * 4 * times)
        made.append(buzz * swell * 0.25)
    return (np.concatenate(made) * 32_767 * 0.6).clip(-32_767, 32_767).astype("<i2")


def kept(path: Path, *parts: tuple[str, float]) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(spoken(*parts).tobytes())
    return path


@pytest.fixture(scope="module", autouse=True)
def _voice(live: Live) -> Iterator[None]:
    """Companions have the rehearsal's voice meanwhile, as where an operator adds one."""
    live.run(VOICE.replace("URL", repr(live.rehearsal.url)))
    time.sleep(FRESH_SECONDS + 0.5)  # by then the web process follows
    yield
    live.run(SILENCE)
    time.sleep(FRESH_SECONDS + 0.5)


@pytest.fixture
def microphone(
    browser_type: BrowserType,
    browser_type_launch_args: dict[str, Any],
    live: Live,
    tmp_path: Path,
) -> Iterator[Any]:
    """Gives the page of a companion to call, whose microphone hears these voices and silences once."""
    browsers, errors = [], []

    def hearing(*parts: tuple[str, float]) -> Person:
        file = kept(tmp_path / "microphone.wav", *parts)
        flags = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
        flags += [
            f"--use-file-for-fake-audio-capture={file}%noloop",
            "--autoplay-policy=no-user-gesture-required",
        ]
        given = {**browser_type_launch_args, "args": [*browser_type_launch_args["args"], *flags]}
        browser = browser_type.launch(**given)
        browsers.append(browser)
        page = browser.new_context(
            locale="en-GB", reduced_motion="reduce", service_workers="block"
        ).new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda line: errors.append(line.text) if "Security Policy" in line.text else None)
        page.set_default_timeout(30_000)
        live.rest()
        live.rehearsal.reset()
        return Person.signed_in(page, live)

    yield hearing
    for browser in browsers:
        browser.close()
    assert not errors, errors


def begin(person: Person) -> Page:
    """The page of the call, which has begun."""
    person.visit(f"{person.create_companion(greeting='')}call/")
    page = person.page
    page.get_by_role("button", name="Call", exact=True).click()
    return page


def hears(text: str, **step: Any) -> dict[str, Any]:
    return {"capability": "transcription", "text": text, **step}


def rows(live: Live, statement: str) -> list[Any]:
    with psycopg.connect(live.database_url, autocommit=True) as connection:
        return [row[0] for row in connection.execute(statement).fetchall()]


def test_one_speaks_is_answered_breaks_in_and_is_answered_again(microphone: Any, live: Live) -> None:
    person = microphone(("silence", 5), ("voice", 1.6), ("silence", 10), ("voice", 1.6), ("silence", 60))
    live.rehearsal.script_sound(hears("Where is my key?"), hears("Wait. Which table?"))
    pieces = [f"{word} " for one in SENTENCES for word in one.split()]
    live.rehearsal.script({"pieces": pieces, "delay_between": 0.3}, {"answer": "The one in the hall."})
    page = begin(person)
    lines, state = page.locator(".call-line"), page.locator("#call")
    expect(page.get_by_text("Mira is an AI, not a person.")).to_be_visible()
    expect(lines.nth(0)).to_contain_text("Where is my key?")
    expect(state).to_have_attribute("data-state", "speaking")
    expect(lines.nth(1)).to_contain_text(SENTENCES[0])
    expect(lines.nth(2)).to_contain_text("Wait. Which table?")
    cut = lines.nth(1).locator(".call-words").inner_text()
    expect(lines.nth(3)).to_contain_text("The one in the hall.")
    expect(state).to_have_attribute("data-state", "listening")

    # What was heard is what was said: a beginning, of whole words, with nothing added.
    full = " ".join(SENTENCES)
    assert full.startswith(cut)
    assert full[len(cut)] in " .,"
    assert MARKER not in cut
    messages = rows(live, "SELECT text FROM companions_message ORDER BY said_at, id")
    assert messages[-4:] == ["Where is my key?", cut, "Wait. Which table?", "The one in the hall."]
    states = rows(live, "SELECT state FROM companions_reply ORDER BY created_at")
    assert states[-2:] == ["stopped", "done"]
    for table in ("companions_message", "companions_reply", "memory_memory", "companions_prompt"):
        assert rows(live, f"SELECT 1 FROM {table} one WHERE one::text LIKE '%{MARKER}%'") == []

    # The model and the voice have stopped together, and the next turn knows no more than was heard.
    assert rows(live, "SELECT outcome FROM accounts_modelcall ORDER BY id")[-2:] == ["stopped", "done"]
    assert live.rehearsal.requests()[-1]["messages"][-2]["content"] == cut
    asked = live.rehearsal.sound_requests()
    assert len([one for one in asked if one["capability"] == "transcription"]) == 2
    said = [one["input"] for one in asked if one["capability"] == "speech"]
    assert said[0] == "Mira is an AI, not a person."
    assert said[-1] == "The one in the hall."
    assert SENTENCES[-1] not in said
    recorded = "SELECT count(*) FROM voice_recording WHERE message_id IS NOT NULL AND companion_id = "
    newest = "(SELECT id FROM companions_companion ORDER BY created_at DESC LIMIT 1)"
    assert rows(live, f"{recorded}{newest}") == [2]

    page.get_by_role("button", name="Hang up").click()
    expect(page.locator("#call-state")).to_contain_text("The call has ended")
    expect(page.locator("#call-trouble")).to_be_empty()
    page.goto(page.url.removesuffix("call/"))
    expect(person.answers.nth(-2)).to_have_text(cut)
    expect(person.last_answer).to_have_text("The one in the hall.")


def test_a_line_that_falls_is_taken_up_and_nothing_is_lost_or_said_twice(microphone: Any, live: Live) -> None:
    person = microphone(("silence", 5), ("voice", 1.6), ("silence", 60))
    live.rehearsal.script_sound(hears("Where is my key?"))
    live.rehearsal.script({"answer": " ".join(SENTENCES[:3])})
    fallen: list[str] = []

    def line(route: WebSocketRoute) -> None:
        """The first line falls just as what was said is on its way."""
        server = route.connect_to_server()

        def pass_on(message: str | bytes) -> None:
            if isinstance(message, bytes) and not fallen:
                fallen.append("line")
                route.close(code=1011)
                return
            server.send(message)

        route.on_message(pass_on)

    def sentence(route: Any) -> None:
        """The network is away as the second sentence is fetched."""
        if "sentence" in fallen:
            route.continue_()
        else:
            fallen.append("sentence")
            route.abort()

    person.page.route_web_socket("**/call/", line)
    person.page.route("**/speech/1/", sentence)
    page = begin(person)
    lines = page.locator(".call-line")
    expect(lines.nth(0)).to_contain_text("Where is my key?")
    expect(lines.nth(1)).to_have_text(f"Mira: {' '.join(SENTENCES[:3])}")
    expect(page.locator("#call")).to_have_attribute("data-state", "listening")
    assert fallen == ["line", "sentence"]
    assert lines.count() == 2
    said = [one["input"] for one in live.rehearsal.sound_requests() if one["capability"] == "speech"]
    assert sorted(said[1:]) == sorted(SENTENCES[:3])


def test_a_cough_takes_nothing_from_the_answer_that_has_not_begun(microphone: Any, live: Live) -> None:
    person = microphone(("silence", 4), ("voice", 1.2), ("silence", 2), ("voice", 0.5), ("silence", 60))
    live.rehearsal.script_sound(hears("Where is my key?"), hears(""))
    live.rehearsal.script({"answer": SENTENCES[0], "delay": 5.0})
    page = begin(person)
    lines = page.locator(".call-line")
    expect(lines.nth(1)).to_have_text(f"Mira: {SENTENCES[0]}")
    expect(page.locator("#call")).to_have_attribute("data-state", "listening")
    assert rows(live, "SELECT state FROM companions_reply ORDER BY created_at")[-1] == "done"


def test_an_answer_that_is_cut_off_on_the_way_is_told(microphone: Any) -> None:
    person = microphone(("silence", 60))
    cut = json.dumps({"type": "reply.interrupted", "id": "1", "message": None, "detail": "It was cut off."})
    person.page.route_web_socket("**/call/", lambda route: route.send(cut))
    expect(begin(person).locator("#call-trouble")).to_have_text("It was cut off.")


def test_what_was_refused_is_not_said_to_be_in_the_talk(microphone: Any) -> None:
    person = microphone(("silence", 3), ("voice", 1.2), ("silence", 60))

    def refuse(route: WebSocketRoute) -> None:
        def answer(message: str | bytes) -> None:
            if isinstance(message, str) and "call.utterance" in message:
                said = {"client_id": json.loads(message)["client_id"], "code": "no_tokens_left"}
                route.send(json.dumps({"type": "error", "detail": "The allowance is used up.", **said}))

        route.on_message(answer)

    person.page.route_web_socket("**/call/", refuse)
    page = begin(person)
    expect(page.locator("#call-trouble")).to_have_text("The allowance is used up.")
    expect(page.locator("#call")).to_have_attribute("data-state", "listening")
    page.get_by_role("button", name="Hang up").click()
    expect(page.locator("#call-state")).to_contain_text("except for what did not get through")


def test_without_a_microphone_it_is_said_what_to_do(browser: Browser, live: Live) -> None:
    context = browser.new_context(locale="en-GB", reduced_motion="reduce", service_workers="block")
    page = begin(Person.signed_in(context.new_page(), live))
    expect(page.locator("#call-state")).to_contain_text("microphone")
    expect(page.get_by_role("button", name="Call", exact=True)).to_be_enabled()
    page.evaluate(
        """() => {
          const busy = new DOMException("", "NotReadableError");
          navigator.mediaDevices.getUserMedia = () => Promise.reject(busy);
        }"""
    )
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.locator("#call-state")).to_contain_text("Another program is using the microphone.")
    context.close()


def test_a_call_begun_in_another_window_ends_this_one_and_lets_the_screen_sleep(
    microphone: Any, live: Live
) -> None:
    person = microphone(("silence", 60))
    person.page.add_init_script(
        """window.woken = [];
        const lock = { release: () => window.woken.push("off") };
        const request = async () => { window.woken.push("on"); return lock; };
        Object.defineProperty(navigator, "wakeLock", { value: { request } });"""
    )
    page = begin(person)
    expect(page.get_by_role("button", name="Hang up")).to_be_visible()
    page.get_by_role("button", name="Mute yourself").click()
    other = page.context.new_page()
    other.goto(page.url)
    other.get_by_role("button", name="Call", exact=True).click()
    expect(page.locator("#call-state")).to_contain_text("you began one in another window")
    assert page.evaluate("window.woken") == ["on", "off"]
    expect(other.get_by_role("button", name="Hang up")).to_be_visible()
    other.get_by_role("button", name="Hang up").click()
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.get_by_role("button", name="Mute yourself")).to_be_visible()


def test_a_call_begun_on_another_device_ends_this_one(microphone: Any, live: Live) -> None:
    page = begin(microphone(("silence", 60)))
    expect(page.get_by_role("button", name="Hang up")).to_be_visible()
    device = page.context.browser.new_context(locale="en-GB", storage_state=page.context.storage_state())
    other = device.new_page()
    other.goto(page.url)
    other.get_by_role("button", name="Call", exact=True).click()
    expect(page.locator("#call-state")).to_contain_text("or on another device")
    expect(page.get_by_role("button", name="Call", exact=True)).to_be_visible()
    expect(other.get_by_role("button", name="Hang up")).to_be_visible()
    device.close()


def test_who_hangs_up_while_still_speaking_finds_it_in_the_talk(microphone: Any, live: Live) -> None:
    person = microphone(("silence", 4), ("voice", 8), ("silence", 60))
    live.rehearsal.script_sound(hears("Good night, Mira.", delay=1.0))
    live.rehearsal.script({"answer": "Sleep well."})
    page = begin(person)
    expect(page.locator("#call")).to_have_attribute("data-state", "hearing")
    page.get_by_role("button", name="Hang up").click()
    expect(page.locator("#call-state")).to_have_text(
        "The call has ended. What you said last will be in the talk in a moment."
    )
    page.goto(page.url.removesuffix("call/"))
    expect(page.locator(".said-by-person .words").last).to_have_text("Good night, Mira.")
    expect(person.last_answer).to_have_text("Sleep well.")
    assert rows(live, "SELECT is_in_call FROM companions_reply ORDER BY created_at")[-1] is False


def test_who_hangs_up_on_a_fallen_line_is_told_what_did_not_get_through(microphone: Any, live: Live) -> None:
    person = microphone(("silence", 4), ("voice", 1.2), ("silence", 60))

    def line(route: WebSocketRoute) -> None:
        """The line falls as something is said, and does not come back."""
        if fallen:
            route.close(code=1011)
            return
        server = route.connect_to_server()

        def pass_on(message: str | bytes) -> None:
            if isinstance(message, bytes):
                fallen.append("line")
                route.close(code=1011)
            else:
                server.send(message)

        route.on_message(pass_on)

    fallen: list[str] = []
    person.page.route_web_socket("**/call/", line)
    page = begin(person)
    expect(page.locator("#call-trouble")).to_contain_text("Reconnecting")
    expect(page.locator("#call-state")).to_be_empty()
    page.get_by_role("button", name="Hang up").click()
    expect(page.locator("#call-state")).to_contain_text("What you said last did not get through")
    expect(page.locator("#call-trouble")).to_be_empty()
