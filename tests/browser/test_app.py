"""Kith as an app: its own page without a network, nothing of a person's in the browser's cache, and what is shared."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import WITH_SERVICE_WORKER
from tests.browser.line import Line
from tests.browser.person import Person

pytestmark = [pytest.mark.browser, WITH_SERVICE_WORKER]
KEPT = """async () => {
  const found = [];
  for (const name of await caches.keys()) {
    for (const { url } of await (await caches.open(name)).keys()) found.push(new URL(url).pathname);
  }
  return found;
}"""


def test_without_a_network_kiths_own_page_comes_and_no_page_was_kept(person: Person, page: Page) -> None:
    with Line(
        person.live.port
    ) as line:  # Playwright's set_offline hangs once the service worker has been stopped
        page.goto(f"{line.url}{person.create_companion()}")
        expect(page.locator("#send")).to_be_enabled()
        person.write("a word that stays here")
        person.hears("")
        page.evaluate("navigator.serviceWorker.ready.then(() => {})")
        page.wait_for_function("() => navigator.serviceWorker.controller !== null")
        talk = page.url
        page.reload()
        expect(page.locator("#send")).to_be_enabled()
        kept = page.evaluate(KEPT)
        assert any(path.endswith(".js") for path in kept)
        hashed = re.compile(r"/static/.+\.[0-9a-f]{12}\.\w+|/offline/")
        assert [path for path in kept if not hashed.fullmatch(path)] == []
        line.fall()
        page.goto(talk)
        expect(page.get_by_role("heading", name="You are offline")).to_be_visible()
        expect(page.get_by_text("现在没有网络")).to_be_visible()
        assert page.evaluate("getComputedStyle(document.querySelector('.button')).borderRadius") == "999px"
        line.is_down = False
        page.get_by_role("link", name="Try again").click()
        expect(page.locator("#send")).to_be_enabled()
        page.goto("about:blank")


def test_a_page_has_its_files_where_the_browser_can_keep_none(person: Person, page: Page) -> None:
    person.visit("/companions/new/own/")
    page.evaluate("navigator.serviceWorker.ready.then(() => {})")
    page.wait_for_function("() => navigator.serviceWorker.controller !== null")
    page.evaluate("caches.delete('files')")
    full = {"origin": person.live.url, "quotaSize": 1}
    page.context.new_cdp_session(page).send("Storage.overrideQuotaForOrigin", full)
    page.reload()
    files = "performance.getEntriesByType('resource').filter(({name}) => name.includes('/static/'))"
    statuses = page.evaluate(
        f"{files}.map(({{name, responseStatus}}) => [name.split('/').at(-1), responseStatus])"
    )
    assert [name for name, status in statuses if status != 200] == []
    assert not any("htmx" in path for path in page.evaluate(KEPT))


def test_what_is_shared_waits_in_the_composer(person: Person, page: Page) -> None:
    person.create_companion("Juno")
    person.visit("/share/?title=A+train&text=Look+%26+see&url=https%3A%2F%2Fexample.org%2F")
    page.get_by_role("link", name="Juno").click()
    expect(page.locator("#message")).to_have_value("A train\nLook & see\nhttps://example.org/")
    assert "#" not in page.url
    page.reload()  # it is a draft like any other, there once
    expect(page.locator("#message")).to_have_value("A train\nLook & see\nhttps://example.org/")
    expect(page.locator("#turns .said-by-person")).to_have_count(0)
