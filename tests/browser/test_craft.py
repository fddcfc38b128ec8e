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
