"""Pages on a slow line: while their scripts are on the way, when one never comes, and when somebody taps twice."""

import re
import time

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.person import Person

pytestmark = pytest.mark.browser
NOTE = ".incomplete"
SLOW_SECONDS = 0.8
NEAR = 96  # pixels: the note itself takes some
TO_END = "document.documentElement.scrollHeight - innerHeight - scrollY"


def test_a_talk_stands_at_its_end_before_its_scripts_come_and_tells_if_one_does_not(
    person: Person, page: Page
) -> None:
    path = person.create_companion(greeting="A line.\n\n" * 60)
    page.route(re.compile(r"/static/js/talk/outbox\."), lambda route: route.abort())
    person.visit(path)
    assert page.evaluate(TO_END) < NEAR
    expect(page.locator(NOTE)).to_be_in_viewport()
    page.unroute_all()
    page.get_by_role("link", name="Load it again").click()
    expect(page.locator("#send")).to_be_enabled()
    expect(page.locator(NOTE)).to_be_hidden()


def test_a_talk_whose_script_neither_comes_nor_fails_says_so_until_it_has_come(
    person: Person, page: Page
) -> None:
    path = person.create_companion()
    held: list[Route] = []
    page.route(re.compile(r"/static/js/talk/talk\."), lambda route: held.append(route))
    page.clock.install()
    page.goto(f"{person.live.url}{path}", wait_until="commit")
    expect(page.locator("#message")).to_be_in_viewport()
    expect(page.locator(NOTE)).to_be_hidden()
    page.clock.fast_forward("00:30")
    expect(page.locator(NOTE)).to_be_in_viewport()
    held[0].continue_()
    expect(page.locator("#send")).to_be_enabled()
    expect(page.locator(NOTE)).to_be_hidden()


def test_who_scrolls_back_before_the_scripts_come_stays_there(person: Person, page: Page) -> None:
    path = person.create_companion(greeting="A line.\n\n" * 60)
    held: list[Route] = []
    page.route(re.compile(r"/static/js/talk/talk\."), lambda route: held.append(route))
    page.goto(f"{person.live.url}{path}", wait_until="commit")
    expect(page.locator("#message")).to_be_in_viewport()
    page.mouse.move(200, 300)
    page.mouse.wheel(0, -600)
    page.wait_for_function(f"() => {TO_END} > 500")
    held[0].continue_()
    expect(page.locator("#send")).to_be_enabled()
    expect(page.locator("#latest")).to_be_visible()
    assert page.evaluate(TO_END) > 500


def test_a_suggestion_that_is_tapped_before_the_script_has_come_is_sent_then(
    person: Person, page: Page
) -> None:
    path = person.create_companion(greeting="")
    held: list[Route] = []
    page.route(re.compile(r"/static/js/talk/talk\."), lambda route: held.append(route))
    page.goto(f"{person.live.url}{path}", wait_until="commit")
    page.locator("[data-says]").first.click()
    expect(page.locator("[data-says]").first).to_have_attribute("aria-busy", "true")
    held[0].continue_()
    expect(page.locator(".said-by-person .words")).to_have_count(1)
    person.hears("")


def _delay(route: Route) -> None:
    if route.request.method == "POST":
        time.sleep(SLOW_SECONDS)
    route.continue_()


def test_a_button_that_is_tapped_twice_does_its_work_once(person: Person, page: Page) -> None:
    posts: list[str] = []
    page.on("request", lambda request: posts.append(request.url) if request.method == "POST" else None)
    page.route(re.compile(r"/(new/own|edit)/$"), _delay)
    person.visit("/companions/new/own/")
    page.locator("input[name=name]").fill("Juno")
    page.get_by_role("button", name="Start").dblclick()
    expect(page.locator("#send")).to_be_enabled()
    assert len([url for url in posts if "/new/own/" in url]) == 1
    person.write("I have an exam on Friday")
    person.hears("")
    page.locator(".said-by-person .menu > summary").click()
    page.get_by_role("link", name="Edit").click()
    page.locator("dialog textarea").fill("I have an exam on Monday")
    page.get_by_role("button", name="Resend").dblclick()
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.wait_for_timeout(1000 * SLOW_SECONDS)  # a second form would have waited for the first
    assert len([url for url in posts if url.endswith("/edit/")]) == 1
