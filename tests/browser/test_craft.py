"""The talk's small deeds, in a browser: copying, quoting, keys."""

import pytest
from playwright.sync_api import expect

from tests.browser.person import Person
from tests.fixtures.live import Live

pytestmark = pytest.mark.browser

ANSWER = "Take **this**, with $x^2$:\n\n```python\n    if x:\n        print(x)\n```\n\nThat is all."


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
    page.wait_for_function("async () => (await navigator.clipboard.readText()).startsWith('    if x:')")
    expect(answer.get_by_role("group", name="Code python")).to_have_attribute("tabindex", "0")
    mine = page.locator(".said-by-person").last
    mine.get_by_label("More").click()
    mine.get_by_role("button", name="Copy", exact=True).click()
    page.wait_for_function("async () => (await navigator.clipboard.readText()).startsWith('How')")
    assert page.evaluate("navigator.clipboard.readText()") == "How is it written?\n  Say it in *code*."


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
