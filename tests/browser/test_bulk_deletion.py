"""Deleting many memories in a browser: chosen by the keyboard, all of a kind by the name; and on a phone."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.person import Person

pytestmark = pytest.mark.browser
FACTS = ("The harbour freezes", "The cat is called Pebble", "The train leaves at six")


def add_facts(person: Person) -> None:
    """To the memory of a new companion, by its page."""
    page = person.page
    person.visit(f"{person.create_companion()}memories/")
    for text in FACTS:
        page.get_by_text("Add a fact").click()
        page.get_by_label("What is remembered").fill(text)
        page.get_by_role("button", name="Remember this").click()
        expect(page.locator(".memory", has_text=text)).to_have_count(1)


def shot(person: Person, name: str) -> None:
    """A picture for whoever wants to look at it."""
    if folder := os.environ.get("KITH_SHOTS"):
        person.page.screenshot(path=Path(folder) / f"{name}.png")


def test_chosen_memories_are_deleted_by_the_keyboard(person: Person) -> None:
    add_facts(person)
    page = person.page
    page.get_by_text("Delete several").focus()
    page.keyboard.press("Enter")
    for text in FACTS[:2]:
        page.locator(".memory", has_text=text).get_by_label("Choose this memory").focus()
        page.keyboard.press("Space")
    shot(person, "choosing")
    page.get_by_role("button", name="Delete the chosen").press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Delete 2 memories?")
    expect(dialog.get_by_role("link", name="Keep them")).to_be_focused()
    shot(person, "sure")
    dialog.get_by_role("button", name="Delete").press("Enter")
    expect(page.locator(".memory", has_text=FACTS[0])).to_have_count(0)
    expect(page.locator(".memory", has_text=FACTS[1])).to_have_count(0)
    expect(page.locator(".memory", has_text=FACTS[2])).to_have_count(1)


def test_all_of_a_kind_goes_by_the_name_on_a_phone(person: Person) -> None:
    add_facts(person)
    page = person.page
    page.set_viewport_size({"width": 390, "height": 844})
    with page.expect_response("**/memories/?*kind=fact*"):
        page.get_by_label("Which memories").select_option("fact")
    expect(page.locator(".memory")).to_have_count(3)
    page.get_by_text("Delete several").click()
    page.get_by_role("button", name="Choose all shown").click()
    expect(page.get_by_label("Choose this memory").first).to_be_checked()
    shot(person, "phone")
    page.get_by_role("button", name="Delete all of this kind").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("3 memories")
    dialog.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("dialog")).to_contain_text("To confirm, type its name.")
    expect(page.get_by_role("dialog").get_by_label("Its name")).to_be_focused()
    expect(page.locator(".memory")).to_have_count(3)
    page.get_by_role("dialog").get_by_label("Its name").fill("Mira")
    shot(person, "phone-sure")
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.locator(".memory")).to_have_count(0)
    page.get_by_label("Which memories").select_option("all")
    expect(page.locator(".memory")).to_have_count(1)  # the greeting, which was said
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
