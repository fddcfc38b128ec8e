"""The five places of a companion on small screens and large ones."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.person import Person

pytestmark = pytest.mark.browser
PLACES = ("Talk", "About", "Memory", "Together", "Settings")
SMALL = [(320, 568), (568, 320), (844, 390)]
# How much of the window's height belongs to the talk: between the header and what one writes in.
TALK = """() => document.querySelector(".composer").getBoundingClientRect().top
    - Math.max(0, document.querySelector(".top").getBoundingClientRect().bottom,
        ...[...document.querySelectorAll(".places")].map((nav) => nav.getBoundingClientRect())
            .filter((box) => box.top < innerHeight / 2).map((box) => box.bottom))"""


def current(page: Page) -> list[str]:
    return [link.strip() for link in page.locator(".places [aria-current]:visible").all_inner_texts()]


def test_the_bar_and_the_tabs_lead_everywhere_by_keyboard(person: Person) -> None:
    person.make_companion(name="Mira Lindqvist " * 5)
    page = person.page
    for width, height in ((390, 844), (1280, 800)):
        page.set_viewport_size({"width": width, "height": height})
        for place in PLACES:
            link = page.locator(".places").get_by_role("link", name=place)
            link.focus()
            box = link.bounding_box()
            assert box
            assert min(box["width"], box["height"]) >= 44, (place, box)
            with page.expect_navigation():  # of the first place the page says so before it is there anew
                page.keyboard.press("Enter")
            expect(page.locator(".places [aria-current]")).to_contain_text(place)
            assert current(page)[0].startswith(place)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        bar = page.locator(".places").bounding_box()
        assert bar
        assert (bar["y"] + bar["height"] == height) == (width == 390)
    # Nothing lies under the bar at the end of a page.
    page.set_viewport_size({"width": 390, "height": 844})
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    last, bar = page.locator(".bottom").bounding_box(), page.locator(".places").bounding_box()
    assert last
    assert bar
    assert last["y"] + last["height"] <= bar["y"] + 1
    # The tabs are one row: the current one is in view, and any comes into view that has the focus.
    person.go("Memory", "All messages")
    tabs = page.locator(".tabs a")
    assert len({box["y"] for link in tabs.all() if (box := link.bounding_box())}) == 1
    expect(page.locator(".tabs [aria-current]", has_text="All messages")).to_be_in_viewport(ratio=1)
    tabs.first.focus()
    expect(tabs.first).to_be_in_viewport(ratio=1)


def test_the_talk_keeps_half_and_every_menu_is_within_reach(person: Person) -> None:
    path = person.create_companion(greeting="Hello, I am Mira. " * 3)
    page = person.page
    for width, height in SMALL:
        page.set_viewport_size({"width": width, "height": height})
        person.visit(path)
        expect(page.locator("#send")).to_be_visible()
        assert page.evaluate(TALK) >= height / 2, (width, height)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for menu in page.locator("details.menu").all():
            menu.locator("summary").press("Enter")
            for entry in menu.locator(".menu-list .button:visible").all():
                entry.focus()
                box = entry.bounding_box()
                assert box
                middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
                hit = page.evaluate("([x, y]) => document.elementFromPoint(x, y)?.innerText", middle)
                assert hit == entry.inner_text(), (width, height, entry.inner_text(), hit)
            menu.locator("summary").press("Escape")


def test_the_list_of_companions_stands_beside_the_talk_on_wide_screens(person: Person) -> None:
    person.create_companion(name="Robin")
    page = person.page
    page.set_viewport_size({"width": 1280, "height": 800})
    person.make_companion(name="Juniper Anastasia von Hohenstein-Wackerbarth")
    path = page.url
    beside = page.locator(".beside-list")
    expect(beside.locator(".person[aria-current]")).to_contain_text("Juniper")
    box, talk = beside.bounding_box(), page.locator("#talk").bounding_box()
    assert box
    assert talk
    assert box["x"] + box["width"] <= talk["x"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    page.evaluate("document.body.dispatchEvent(new CustomEvent('outreach'))")
    page.wait_for_timeout(500)
    assert page.url == path  # the list came anew, and the page stayed
    expect(beside.locator(".people")).to_have_count(1)
    person.write("I planted lilies.")
    person.hears("listening")
    expect(beside.locator(".person[aria-current]")).to_contain_text("listening")
    beside.locator(".person", has_text="Robin").first.click()
    expect(page.locator(".who h1")).to_have_text("Robin")
    page.set_viewport_size({"width": 1000, "height": 800})
    expect(beside).to_be_hidden()


def test_a_form_that_comes_back_shows_what_is_to_be_corrected(person: Person) -> None:
    person.visit(f"{person.create_companion()}settings/")
    page = person.page
    name = page.get_by_label("Its name")
    name.fill("Robin")
    page.get_by_role("button", name="Delete for good").click()
    expect(page.locator(".field-error")).to_be_in_viewport()
    expect(name).to_be_focused()
