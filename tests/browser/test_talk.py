"""The main job, in a browser: talk, and come back."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import WITH_SERVICE_WORKER
from tests.browser.person import Person
from tests.fixtures.live import Live

pytestmark = [pytest.mark.browser, WITH_SERVICE_WORKER]
# Notes that an answer was said to wait, which it may do for an instant.
WAITED = """turns => {
  const told = [];
  const look = () => turns.textContent.includes("waiting for the previous answer") && told.push(true);
  new MutationObserver(look).observe(turns, { childList: true, characterData: true, subtree: true });
  return told;
}"""


def test_a_reload_in_mid_answer_shows_the_rest(person: Person, live: Live) -> None:
    person.make_companion()
    parts, words = (
        [f"*Part {number}*\n\n" for number in range(30)],
        [f"word{number} " for number in range(60)],
    )
    live.rehearsal.script({"pieces": [*parts, *words], "delay_between": 0.05})
    person.write("Tell me a long story")
    expect(person.last_answer).to_contain_text("word5 ")
    formatted: list[str] = []
    person.page.on(
        "request", lambda request: formatted.append(request.url) if "/markdown/" in request.url else None
    )
    person.page.reload()
    expect(person.last_answer.locator("em")).to_have_count(30)
    person.hears("word59")
    expect(person.last_answer.locator("p").last).to_have_text("".join(words).strip())
    assert len(formatted) < 10


def test_a_model_that_does_not_begin_is_told_until_it_does(person: Person, live: Live) -> None:
    person.make_companion()
    person.page.clock.install()
    live.rehearsal.script({"answer": "Here I am.", "delay": 5.0})
    with person.page.expect_websocket(lambda socket: "/ws/companions/" in socket.url) as socket:
        person.page.reload()
    with socket.value.expect_event("framereceived", lambda frame: "reply.recalled" in str(frame)):
        person.write("Are you there?")
    waiting = person.page.locator("[data-reply] .trace")
    expect(waiting).to_have_text("")
    person.page.clock.fast_forward(12_000)
    expect(waiting).to_contain_text("The model has not begun to answer. Kith waits up to")
    person.hears("Here I am.")
    expect(person.page.get_by_text("has not begun")).to_have_count(0)


def test_a_device_whose_clock_is_far_ahead_shows_no_second_day(person: Person, live: Live) -> None:
    person.make_companion()
    person.page.clock.install(time="2029-01-01T12:00:00Z")
    live.rehearsal.script({"answer": "Here I am.", "delay": 5.0})
    person.page.reload()
    person.write("Which day is it?")
    expect(person.page.locator(".said-by-person")).to_be_visible()
    # At once: when it has been answered, the turn is the server's.
    assert person.page.locator(".day:visible").count() == 1


def test_a_model_that_falls_silent_in_its_answer_is_told_until_it_is_stopped(
    person: Person, live: Live
) -> None:
    person.make_companion()
    person.page.clock.install()
    live.rehearsal.script({"pieces": ["So far ", "so good."], "hang_after": 1})
    person.page.reload()
    person.write("How is it?")
    expect(person.last_answer).to_contain_text("So far")
    person.page.clock.fast_forward(12_000)
    silent = person.page.get_by_text("Nothing more of the answer has come for a while")
    expect(silent).to_be_visible()
    person.page.get_by_role("button", name="Stop the answer").click()
    expect(person.page.get_by_text("You stopped this answer.")).to_be_visible()
    expect(silent).to_have_count(0)


def test_an_answer_is_stopped_and_goes_on(person: Person, live: Live) -> None:
    person.make_companion()
    live.rehearsal.script({"pieces": [f"word{number} " for number in range(200)], "delay_between": 0.05})
    live.rehearsal.script({"answer": "and that was the end."})
    person.write("Tell me a long story")
    expect(person.last_answer).to_contain_text("word5 ")
    person.page.get_by_role("button", name="Stop the answer").click()
    expect(person.page.get_by_text("You stopped this answer.")).to_be_visible()
    said = person.last_answer.inner_text()
    assert "word5" in said
    assert "word199" not in said
    person.page.get_by_role("button", name="Continue").click()
    person.hears("and that was the end.")
    assert person.last_answer.inner_text().startswith(said.strip()[:20])
    expect(person.answers).to_have_count(2)


def test_a_second_tap_on_stop_chooses_no_file(person: Person, live: Live) -> None:
    person.make_companion()
    live.rehearsal.script({"pieces": [f"word{number} " for number in range(200)], "delay_between": 0.05})
    person.write("Tell me a long story")
    stop = person.page.get_by_role("button", name="Stop the answer")
    box = stop.bounding_box()
    assert box
    stop.click()
    expect(stop).to_be_hidden()
    beneath = "([x, y]) => document.elementFromPoint(x, y).closest('label, button, textarea').id"
    place = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
    assert person.page.evaluate(beneath, place) == "message"


def test_the_draft_outlives_a_reload(person: Person) -> None:
    person.make_companion()
    person.page.locator("#message").fill("I was just about to say")
    person.page.reload()
    expect(person.page.locator("#message")).to_have_value("I was just about to say")
    # WebKit empties a form with `autocomplete="off"` when one comes back to its page
    assert person.page.locator("#composer").evaluate("form => form.autocomplete") == "on"


def test_a_pasted_text_that_is_too_long_is_not_cut_in_silence(person: Person) -> None:
    person.make_companion()
    paste = """(area, length) => {
        const clipboardData = new DataTransfer();
        clipboardData.setData("text/plain", "a".repeat(length));
        area.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
    }"""
    person.page.locator("#message").fill("Read this: ")
    person.page.locator("#message").evaluate(paste, 31_989)
    expect(person.page.locator("#connection")).to_be_empty()
    person.page.locator("#message").evaluate(paste, 31_990)
    expect(person.page.locator("#connection")).to_contain_text("the end of what you pasted is missing")


def test_shift_enter_makes_a_line_and_enter_sends(person: Person) -> None:
    person.make_companion()
    box = person.page.locator("#message")
    box.press_sequentially("one")
    box.press("Shift+Enter")
    box.press_sequentially("two")
    box.press("Enter")
    expect(person.page.locator(".said-by-person .words").last).to_have_text("one\ntwo", use_inner_text=True)
    expect(box).to_have_value("")
    person.hears("I am listening")


def test_without_the_model_the_page_says_so_and_a_retry_works(person: Person, live: Live) -> None:
    person.make_companion()
    live.rehearsal.script({"error": {"status": 503, "message": "overloaded"}})
    person.write("Are you there?")
    trouble = person.page.locator(".trouble-failed")
    expect(trouble).to_contain_text("Your message is kept")
    live.rehearsal.script({"answer": "Here again."})
    trouble.get_by_role("button", name="Try again").click()
    person.hears("Here again.")
    expect(trouble).to_have_count(0)


def test_a_retry_that_leads_nowhere_can_be_asked_for_again(person: Person, live: Live) -> None:
    person.make_companion()
    page = person.page
    live.rehearsal.script({"error": {"status": 503, "message": "overloaded"}}, {"answer": "Here again."})
    person.write("Are you there?")
    retry = page.locator(".trouble-failed").get_by_role("button", name="Try again")
    expect(retry).to_be_visible()
    page.route("**/retry/", lambda route: None, times=1)
    # Nobody waits for half a minute here.
    page.evaluate(
        "window.inTime = AbortSignal.timeout; AbortSignal.timeout = () => inTime.call(AbortSignal, 100)"
    )
    retry.click()
    expect(page.locator("#connection")).to_have_text("That did not work. Try again in a moment.")
    page.evaluate("AbortSignal.timeout = inTime")
    retry.click()
    person.hears("Here again.")


def test_two_messages_are_answered_in_their_order(person: Person, live: Live) -> None:
    person.make_companion(greeting="")
    live.rehearsal.script(
        {"pieces": [f"first{n} " for n in range(20)], "delay_between": 0.05, "when": "one"},
        {"answer": "second", "when": "two"},
    )
    waited = person.page.locator("#turns").evaluate_handle(WAITED)
    person.write("one")
    person.write("two")
    person.hears("second")
    assert waited.evaluate("told => told.length") > 0
    expect(person.answers).to_have_count(2)
    expect(person.answers.first).to_contain_text("first19")


def test_markdown_is_shown_safely_and_reasoning_is_folded(person: Person, live: Live) -> None:
    person.make_companion()
    answer = "**bold** <script>alert(1)</script> [go](javascript:alert(1)) [home](https://example.org)"
    live.rehearsal.script({"answer": answer, "thought": "Let me think."})
    person.write("Show me")
    person.hears("bold")
    expect(person.last_answer.locator("strong")).to_have_text("bold")
    expect(person.last_answer.locator("a[href]")).to_have_count(1)
    expect(person.page.get_by_text("Let me think.")).to_be_hidden()
    person.page.get_by_text("What it thought before answering").click()
    expect(person.page.get_by_text("Let me think.")).to_be_visible()


def test_markdown_is_shown_while_an_answer_is_being_made(person: Person, live: Live) -> None:
    person.make_companion()
    pieces = [
        "Take **this** <img src=x onerror=alert(1)>:\n\n| a | b |\n| --- | --- |\n| *one* | two |\n\nAnd then:\n",
        "```python\r\nif x:\r\n\r\n    y()\r\n```\r\n\r\n1. **First**\n2. Sec",
        "ond",
    ]
    live.rehearsal.script({"pieces": pieces, "hang_after": 2})
    person.write("Show me")
    answer = person.open_replies.locator(".words")
    expect(answer.locator("strong").first).to_have_text("this")
    expect(answer).to_contain_text("<img src=x onerror=alert(1)>")
    expect(answer.locator("td em")).to_have_text("one")
    # No word is cut to fit a phone.
    expect(answer.locator("td").first).to_have_css("overflow-wrap", "break-word")
    expect(answer.locator("figure code")).to_have_text("if x:\n\n    y()", use_inner_text=True)
    expect(answer.locator("ol > li")).to_have_text(["First", "Sec"])
    expect(answer.get_by_text("```")).to_have_count(0)
    person.page.get_by_role("button", name="Stop the answer").click()
    expect(person.open_replies).to_have_count(0)
    expect(person.last_answer.locator("ol > li")).to_have_text(["First", "Sec"])
    live.rehearsal.script(
        {"pieces": ["*Smiles* It is **so** warm, `2*3*4`, 2 * 3, and **very", "!"], "hang_after": 1}
    )
    person.write("And now?")
    expect(answer.locator("p")).to_have_text("Smiles It is so warm, 2*3*4, 2 * 3, and very")
    expect(answer.locator("strong")).to_have_text(["so", "very"])
    person.page.get_by_role("button", name="Stop the answer").click()
    live.rehearsal.script({"pieces": ["> Said:\n> 1. One\n>    - in **it", "**"], "hang_after": 1})
    person.write("And then?")
    expect(answer.locator("blockquote > ol > li > ul > li strong")).to_have_text("it")
    person.page.get_by_role("button", name="Stop the answer").click()
    expect(person.open_replies).to_have_count(0)
    rows = "".join(f"|{number}\n" for number in range(60))
    table = "".join(f"|a{number}" for number in range(100)) + "|\n" + "|-" * 100 + f"|\n{rows}"
    live.rehearsal.script({"pieces": [table, "!"], "hang_after": 1})
    person.write("And a table that would take a phone's breath?")
    expect(answer.locator("p")).to_contain_text("|58")
    expect(answer.locator("table")).to_have_count(0)
    person.page.get_by_role("button", name="Stop the answer").click()
    expect(person.open_replies).to_have_count(0)


def test_a_formula_with_an_empty_line_is_one_while_the_answer_is_made(person: Person, live: Live) -> None:
    person.make_companion()
    live.rehearsal.script({"pieces": ["$$\na\n\n", "b\n$$\n\n", "It is", " so."], "hang_after": 3})
    person.write("What is it?")
    words = person.page.locator(".said-by-companion .words").last
    expect(words).to_contain_text("It is")
    expect(words.locator("math")).to_have_count(1)
    expect(words).not_to_contain_text("$$")


def test_a_tap_on_a_number_in_a_crisis_notice_calls_it(person: Person) -> None:
    person.make_companion()
    person.write("I want to kill myself")
    line = person.page.locator(".arrival").get_by_role("link", name="116 123")
    expect(line).to_have_attribute("href", "tel:116123")
    person.page.set_viewport_size({"width": 320, "height": 568})
    person.page.reload()
    expect(line).to_have_attribute("href", "tel:116123")
    expect(line).to_be_in_viewport()
    notices = person.page.locator("#arrivals").bounding_box()
    assert notices is not None
    assert notices["height"] <= 568 * 0.31, "it leaves little of the talk on a small phone"
