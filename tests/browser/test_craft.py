"""The talk's small deeds, in a browser: copying, quoting, keys."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.person import Person
from tests.fixtures.live import Live

pytestmark = pytest.mark.browser

ANSWER = "קח **this**, with $x^2$:\n\n```python\n    if x:\n        print(x)\n```\n\nThat is all."


def wait_for_copy(page: Page, beginning: str) -> None:
    """Wait until such a text is on the clipboard; `wait_for_function` takes any promise for true."""
    for _ in range(100):
        if page.evaluate("navigator.clipboard.readText()").startswith(beginning):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"Not copied: {beginning}")


def test_words_and_code_are_copied_as_they_were_written(person: Person, live: Live) -> None:
    page = person.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    person.make_companion()
    live.rehearsal.script({"answer": ANSWER})
    person.write("How is it written?\n  Say it in *code*.")
    person.hears("That is all.")
    said = page.get_by_role("status").filter(has_text="Copied.")
    answer = page.locator(".said-by-companion").last
    answer.get_by_label("More").click()
    answer.get_by_role("button", name="Copy", exact=True).last.click()
    expect(said).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == ANSWER
    answer.locator("figure").get_by_role("button", name="Copy").click()
    wait_for_copy(page, "    if x:")
    expect(answer.get_by_role("group", name="Code python")).to_have_attribute("tabindex", "0")
    expect(answer.locator("pre")).to_have_css("direction", "ltr")  # in an answer from right to left, too
    mine = page.locator(".said-by-person").last
    mine.get_by_label("More").click()
    mine.get_by_role("button", name="Copy", exact=True).click()
    wait_for_copy(page, "How")
    assert page.evaluate("navigator.clipboard.readText()") == "How is it written?\n  Say it in *code*."


def test_a_touch_screen_with_keys_sends_with_ctrl_and_enter(
    person: Person, live: Live, browser: Browser
) -> None:
    path = person.create_companion()
    state = person.page.context.storage_state()
    given: dict[str, Any] = {"storage_state": state, "reduced_motion": "reduce", "service_workers": "block"}
    page = browser.new_context(**given, locale="en-GB", has_touch=True, is_mobile=True).new_page()
    page.goto(f"{live.url}{path}")
    expect(page.locator("#send")).to_be_enabled()
    live.rehearsal.script({"answer": "Two lines."})
    page.locator("#message").fill("One")
    page.locator("#message").press("End")
    page.locator("#message").press("Enter")
    page.locator("#message").press_sequentially("two")
    expect(page.locator("#message")).to_have_value("One\ntwo")
    page.locator("#message").press("Control+Enter")
    expect(page.locator(".said-by-person .words")).to_have_text("One two")
    expect(page.locator(".said-by-companion").last).to_contain_text("Two lines.")
    page.context.close()


def test_a_message_is_quoted_by_its_menu_and_leads_to_its_place(person: Person, live: Live) -> None:
    page = person.page
    person.make_companion()
    live.rehearsal.script({"answer": "One thing."})
    person.write("Tell me two things")
    person.hears("One thing.")

    def quote() -> None:
        answer = page.locator(".said-by-companion").filter(has_text="One thing.")
        answer.get_by_label("More").click()
        answer.get_by_role("button", name="Quote").click()
        expect(page.locator("#quoting")).to_have_text("In answer to Mira One thing. Do not quote")
        expect(page.locator("#message")).to_be_focused()

    quote()
    page.get_by_role("button", name="Do not quote").click()
    expect(page.locator("#quoting")).to_be_hidden()
    quote()
    page.reload()
    expect(page.locator("#quoting")).to_contain_text("One thing.")
    live.rehearsal.script({"answer": "Another."})
    person.write("And the other?")
    expect(page.locator("#quoting")).to_be_hidden()
    mine = page.locator(".said-by-person").last
    expect(mine.locator(".quoted")).to_contain_text("Mira One thing.")
    person.hears("Another.")
    expect(mine.locator(".quoted")).to_contain_text("Mira One thing.")
    mine.locator(".quoted").click()
    expect(page.locator(".said-by-companion.is-found")).to_be_focused()
    quote()
    person.visit("/accounts/logout/")  # who signs out leaves no words behind
    page.evaluate("localStorage.setItem('kith.theme', 'dark')")
    assert "One thing." in page.evaluate("JSON.stringify(localStorage)")
    # Its scripts alone: the others stay signed in.
    page.locator("form[data-forgets]").dispatch_event("submit")
    assert "One thing." not in page.evaluate("JSON.stringify(localStorage)")
    assert page.evaluate("localStorage.getItem('kith.theme')") == "dark"


def test_keys_stop_edit_and_show_themselves_but_not_amid_a_composition(person: Person, live: Live) -> None:
    page = person.page
    person.make_companion()
    box, keys = page.locator("#message"), page.locator("dialog#keys")
    live.rehearsal.script({"pieces": [f"word{number} " for number in range(400)], "delay_between": 0.05})
    person.write("Tell me a long story")
    expect(person.last_answer).to_contain_text("word5 ")
    page.evaluate(
        "document.activeElement.dispatchEvent("
        "new KeyboardEvent('keydown', {key: 'Escape', isComposing: true, bubbles: true}))"
    )
    expect(page.get_by_role("button", name="Stop the answer")).to_be_visible()
    box.press("?")
    expect(box).to_have_value("?")
    expect(keys).to_be_hidden()
    page.locator("#turns").click()
    page.keyboard.press("?")  # a key alone is no shortcut: it may be a word that somebody dictates
    expect(keys).to_be_hidden()
    page.keyboard.press("Control+/")
    expect(keys).to_be_visible()
    page.keyboard.press("Escape")  # closes what is open, and stops nothing
    expect(keys).to_be_hidden()
    expect(page.get_by_role("button", name="Stop the answer")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("You stopped this answer.")).to_be_visible()
    box.fill("")
    box.press("ArrowUp")
    expect(page.get_by_role("dialog").get_by_role("textbox")).to_have_value("Tell me a long story")
    page.keyboard.press("Escape")
    expect(box).to_be_focused()


def test_answers_are_chosen_by_arrows_and_by_a_swipe(person: Person, live: Live) -> None:
    page = person.page
    person.make_companion()
    live.rehearsal.script({"answer": "The first."})
    live.rehearsal.script({"answer": "The second."})
    person.write("Say something")
    person.hears("The first.")
    answer = page.locator(".said-by-companion").last
    answer.get_by_label("More").click()
    answer.get_by_role("button", name="Answer again").click()
    person.hears("The second.")
    expect(answer.locator(".alternatives .at")).to_have_text("2/2")
    page.locator("#message").press("ArrowLeft")  # there it moves the caret
    answer.focus()
    page.keyboard.press("ArrowLeft")
    person.hears("The first.")
    expect(answer).to_be_focused()
    page.keyboard.press("ArrowRight")
    person.hears("The second.")
    expect(answer).to_be_focused()
    answer.locator(".words").evaluate(
        """(words) => {
            const touch = (clientX) => [new Touch({identifier: 1, target: words, clientX, clientY: 300})];
            words.dispatchEvent(new TouchEvent("touchstart", {touches: touch(100), bubbles: true}));
            words.dispatchEvent(new TouchEvent("touchend", {changedTouches: touch(200), bubbles: true}));
        }"""
    )
    person.hears("The first.")
