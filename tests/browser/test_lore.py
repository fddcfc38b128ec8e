"""A lorebook in a browser: made, written in, tried out, on a phone."""

import pytest
from playwright.sync_api import expect

from tests.browser.person import Person

pytestmark = pytest.mark.browser


def test_a_book_is_written_and_says_why_its_entry_is_read(person: Person) -> None:
    page = person.page
    page.set_viewport_size({"width": 390, "height": 844})
    person.visit(f"{person.create_companion()}lore/")
    page.get_by_text("Create a lorebook", exact=True).click()
    page.get_by_label("Name").fill("The realm")
    page.get_by_role("button", name="Create it").click()
    page.get_by_role("link", name="Add an entry").click()
    page.get_by_label("Name").fill("The dragon")
    page.get_by_label("Keys", exact=False).first.fill("dragon, /wyrms?/i")
    page.get_by_label("What is read").fill("It sleeps below the lake.")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="All lorebooks").click()
    page.get_by_label("What you might say").fill("Are there wyrms?")
    page.get_by_role("button", name="See what is read").click()
    expect(page.locator("#tried")).to_contain_text("“/wyrms?/i” appears in what was just said.")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
