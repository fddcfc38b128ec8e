"""From "make an account" to the first answer: at most four taps and two fields; and by the keyboard alone."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.person import PASSWORD, Person
from tests.fixtures.live import Live

pytestmark = pytest.mark.browser


class Hand:
    """A person's hand, which counts its taps and the fields that it fills in."""

    def __init__(self) -> None:
        self.taps = self.fields = 0

    def tap(self, place: Locator) -> None:
        self.taps += 1
        place.click()

    def fill(self, field: Locator, text: str) -> None:
        self.fields += 1
        field.fill(text)


def test_the_first_answer_is_four_taps_and_two_fields_away(page: Page, live: Live) -> None:
    person, hand = Person(page, live), Hand()
    live.rehearsal.script({"answer": "Then let us look at it together."})
    person.visit("/")
    hand.tap(page.get_by_role("link", name="Create an account"))
    hand.fill(page.locator("input[name=email]"), person.email)
    hand.fill(page.locator("input[name=password1]"), PASSWORD)
    hand.tap(page.get_by_role("button", name="Create the account"))
    hand.tap(page.get_by_role("button", name="Start · Wren"))
    expect(person.last_answer).to_contain_text("Wren")
    expect(page.locator("#send")).to_be_enabled()
    hand.tap(page.get_by_role("button", name="I saw something small today."))
    expect(page.locator(".said-by-person .words").last).to_have_text("I saw something small today.")
    person.hears("Then let us look at it together.")
    expect(page.locator("#suggestions")).to_have_count(0)
    assert (hand.taps, hand.fields) <= (4, 2)


def test_the_keyboard_alone_leads_to_the_first_answer(page: Page, live: Live) -> None:
    person = Person(page, live)
    live.rehearsal.script({"answer": "Good that you told me."})
    person.visit("/")
    press_until(page, "Create an account", "Enter")
    page.wait_for_url("**/accounts/signup/")
    tab_to(page, "input[name=email]")
    page.keyboard.type(person.email)
    tab_to(page, "input[name=password1]")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/companions/new/")
    press_until(page, "Start · Ruth", "Enter")
    expect(page.locator("#send")).to_be_enabled()
    press_until(page, "I have to decide something.", "Enter")
    expect(page.locator("#message")).to_be_focused()
    person.hears("Good that you told me.")


def test_one_of_ones_own_is_made_by_its_form(person: Person) -> None:
    page = person.page
    person.visit("/companions/new/own/")
    page.get_by_label("Name").fill("Ada")
    page.get_by_label("Who are they to you?").fill("A neighbour.")
    page.get_by_text("Advanced").click()
    page.get_by_label("Greeting").fill("Well met, I am {{char}}.")
    page.locator("#companion-form button").click()
    expect(page.locator("#send")).to_be_enabled()
    expect(person.last_answer).to_have_text("Well met, I am Ada.")


def press_until(page: Page, name: str, key: str) -> None:
    """Go on by Tab until what has that text has the focus; then press the key."""
    shown = re.sub(r"\s+", " ", name)
    for _ in range(60):
        page.keyboard.press("Tab")
        text = str(page.evaluate("document.activeElement.textContent"))
        if re.sub(r"\s+", " ", text).strip() == shown:
            break
    else:
        pytest.fail(f"Tab does not come to {name}")
    page.keyboard.press(key)


def tab_to(page: Page, selector: str) -> None:
    """Go on by Tab until that element has the focus."""
    for _ in range(30):
        if page.locator(f"{selector}:focus").count():
            return
        page.keyboard.press("Tab")
    pytest.fail(f"Tab does not come to {selector}")
