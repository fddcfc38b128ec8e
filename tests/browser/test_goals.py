"""Goals and ideas in a browser: on a phone, by keyboard alone, and without any script."""

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.person import Person
from tests.fixtures.live import Live

pytestmark = pytest.mark.browser

PURSUE = """
from django.utils import timezone
from companions.models import Companion
from memory.models import Memory, Pursuit
from memory.goals import begin_goal, update_goal
now, mira = timezone.now(), Companion.objects.get(pk="{pk}")
def pursue(kind, text, parent=None, **stands):
    one = begin_goal(mira.pk, kind, text, now, [], mira.user.zone)
    Pursuit.objects.filter(pk=one.pk).update(parent=parent and parent.memory)
    update_goal(one, now, **stands)
    return one
whole = pursue("goal", "Run the marathon of Lisbon", status="under_way", progress=40)
part = pursue("goal", "Run half of one, in the spring, with Ana, by the river, whatever the weather may be like", whole)
pursue("goal", "Find shoes that fit: " + "x" * 120, part, status="done")
pursue("idea", "A garden on the roof", excitement=9)
pursue("idea", "A diary of clouds", excitement=4)
"""


def goals_of(person: Person, live: Live) -> str:
    """The address of the page of a companion that has some."""
    path = person.create_companion(name="Mira Lindqvist")
    live.run(PURSUE.format(pk=path.strip("/").split("/")[-1]))
    return f"{live.url}{path}pursuits/"


def test_on_a_phone_a_goal_is_moved_on_by_keyboard_alone(person: Person, live: Live) -> None:
    address, page = goals_of(person, live), person.page
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(address)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    goal = page.locator(".pursuit").first
    expect(goal.locator("progress")).to_have_attribute("value", "40")
    goal.get_by_role("link", name="Change").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Progress in per cent").focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("55")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.keyboard.press("Enter")
    expect(page.locator(".notices")).to_contain_text("Saved.")
    expect(goal.locator("progress")).to_have_attribute("value", "55")
    expect(page.locator(".pursuit-form")).to_have_count(0)


def test_without_script_a_goal_becomes_a_part_of_another(
    person: Person, live: Live, browser: Browser
) -> None:
    address = goals_of(person, live)
    context = browser.new_context(java_script_enabled=False, color_scheme="dark")
    context.add_cookies(person.page.context.cookies())  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(address)
    page.locator(".pursuit", has_text="Find shoes").get_by_role("link", name="Change").click()
    page.get_by_label("Part of").select_option("Run the marathon of Lisbon")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".notices")).to_contain_text("Saved.")
    expect(page.locator(".pursuit.depth-2")).to_have_count(0)
    expect(page.locator(".pursuit.depth-1")).to_have_count(2)
    context.close()
