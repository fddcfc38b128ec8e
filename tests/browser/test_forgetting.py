"""Forgetting and feeling in a browser: a slider, time ahead, recalls in thought, and a rule that is saved at the end."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.person import Person

pytestmark = pytest.mark.browser

AGED = """
from datetime import timedelta
from django.utils import timezone
from memory.store import keep_fact
now = timezone.now()
for days, text in ((1, "The cat is called Pebble"), (40, "The lake freezes in winter"), (200, "We met in Turin")):
    keep_fact("{pk}", text, now - timedelta(days=days), now - timedelta(days=days))
"""


@pytest.fixture
def there(person: Person) -> Person:
    """On the page of a companion that has three old facts."""
    path = person.create_companion()
    person.live.run(AGED.format(pk=path.strip("/").rpartition("/")[2]))
    person.visit(f"{path}forgetting/")
    expect(person.page.locator(".strength")).to_have_count(4)  # and the greeting
    return person


def summary(person: Person) -> Locator:
    return person.page.locator("#forgetting-summary")


def test_a_slider_moves_the_curve_by_keyboard_and_keeps_the_focus(there: Person) -> None:
    page = there.page
    slider = page.get_by_label("Half-life in days")
    expect(summary(there)).to_contain_text("half is gone after 30 days")
    before = page.locator(".chart-line").first.get_attribute("points")
    expect(slider).to_be_visible()  # what is folded away, until the page's module has run, takes no key
    slider.focus()
    for _ in range(5):
        slider.press("ArrowLeft")
    expect(page.locator("output[for='kith-month_days']")).to_have_text("25")
    expect(summary(there)).to_contain_text("half is gone after 25 days")
    expect(slider).to_be_focused()
    assert page.locator(".chart-line").first.get_attribute("points") != before
    expect(page.get_by_role("button", name="Save this rule")).to_be_enabled()


def test_time_moves_and_recalls_in_thought_lift_the_curve_and_leave_no_trace(there: Person) -> None:
    page = there.page
    page.get_by_role("link", name="The lake freezes").click()
    expect(page.locator("#curve-heading")).to_contain_text("The lake freezes")
    expect(summary(there)).to_contain_text("Today, 43")
    page.get_by_role("button", name="+ 1 month").click()
    expect(page.locator("#days")).to_have_value("30")
    expect(summary(there)).to_contain_text(re.compile(r", 30\s% of it would be left"))
    for times in ("1", "2"):
        page.get_by_role("button", name="Imagine recalling it").click()
        expect(page.locator(".state dd").nth(1)).to_have_text(times)
    expect(summary(there)).to_contain_text(re.compile(r", 100\s% of it would be left"))
    expect(page.locator(".chart-again")).to_have_count(1)
    page.get_by_role("button", name="Take back the last one").click()
    expect(page.locator(".state dd").nth(1)).to_have_text("1")
    page.reload()
    expect(page.locator(".chart-again")).to_have_count(0)
    expect(page.locator(".strength", has_text="The lake freezes")).to_contain_text("never recalled")


def test_another_rule_shows_its_effect_and_is_saved_or_left(there: Person) -> None:
    page = there.page
    page.get_by_label("The rule").select_option("memory_bank")
    expect(page.get_by_text("Under the rule you are trying, ")).to_be_visible()
    page.get_by_label("What would come to mind?").fill("a lake in winter")
    page.get_by_role("button", name="See what comes to mind").click()
    expect(page.get_by_role("heading", name="Under the current rule")).to_be_visible()
    expect(page.locator(".comes").first).to_contain_text("The lake freezes")
    page.get_by_role("link", name="Leave as is").click()
    expect(page.get_by_label("The rule")).to_have_value("kith")
    page.get_by_label("The rule").select_option("memory_bank")
    expect(page.get_by_text("Under the rule you are trying, ")).to_be_visible()
    slider = page.get_by_label("Unit of time in days")
    slider.fill("10")
    expect(summary(there)).to_contain_text("half is gone after 6.9 days")
    page.get_by_role("button", name="Save this rule").click()
    expect(page.get_by_text("Saved. From now on, Mira remembers by this rule.")).to_be_visible()
    expect(page.get_by_label("The rule")).to_have_value("memory_bank")
    expect(page.locator("output[for='memory_bank-unit_days']")).to_have_text("10")
    expect(page.locator("#save")).to_have_count(0)


def test_on_a_phone_all_is_folded_and_what_somebody_opens_stays_open(there: Person) -> None:
    page = there.page
    page.set_viewport_size({"width": 390, "height": 844})
    page.reload()
    move, recall = (page.get_by_role("button", name=name) for name in ("+ 1 week", "Imagine recalling it"))
    expect(move).to_be_hidden()
    expect(page.locator(".strength").first).to_be_hidden()
    for heading in ("Imagine a recall", "Days from now", "By strength, today"):
        page.get_by_role("heading", name=heading).click()
    move.click()
    expect(page.locator("#days")).to_have_value("7")
    expect(recall).to_be_visible()
    expect(page.locator(".strength")).to_have_count(4)
    expect(page.locator(".strength").first).to_be_visible()
    page.get_by_role("heading", name="Imagine a recall").click()
    expect(recall).to_be_hidden()
    move.click()
    expect(page.locator("#days")).to_have_value("14")
    expect(recall).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
