"""Notifications in a real browser: asked for by the button, shown by the worker, and leading to the talk."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserType, CDPSession, Page, expect
from playwright.sync_api import Worker as BrowserWorker

from tests.browser.chromium import WITH_WINDOWS
from tests.browser.conftest import WITH_SERVICE_WORKER
from tests.browser.person import Person

pytestmark = [pytest.mark.browser, WITH_SERVICE_WORKER]
# Asking Chromium for its notifications while it shows one may delete that one: the worker notes what the browser took.
NOTE_SHOWN = """() => {
  const show = registration.showNotification.bind(registration);
  self.shown = [];
  registration.showNotification = async (title, options) => {
    await show(title, options);
    shown.push({ title, body: options.body, tag: options.tag ?? "", data: options.data });
  };
}"""
REGISTER = """async () => {
  await navigator.serviceWorker.register("/service-worker.js");
  await navigator.serviceWorker.ready;
}"""


class Worker:
    """The page's service worker, to which the browser delivers pushes as a push service would."""

    def __init__(self, page: Page, url: str) -> None:
        self._page, self._url = page, url
        self._registrations: list[str] = []
        self._session: CDPSession = page.context.new_cdp_session(page)
        self._session.on("ServiceWorker.workerRegistrationUpdated", self._note)
        self._session.send("ServiceWorker.enable")

    def _note(self, event: dict[str, Any]) -> None:
        found = event["registrations"]
        self._registrations += [one["registrationId"] for one in found if self._url in one["scopeURL"]]

    def delivers(self, told: str) -> None:
        sent = {"origin": self._url, "registrationId": self._registrations[-1], "data": told}
        self._session.send("ServiceWorker.deliverPushMessage", sent)


@pytest.fixture(scope="session")
def browser(browser_type: BrowserType, browser_type_launch_args: dict[str, Any]) -> Iterator[Browser]:
    """Only a Chromium with windows shows notifications."""
    assert WITH_WINDOWS, "Chromium is not installed."
    browser = browser_type.launch(**{**browser_type_launch_args, "executable_path": WITH_WINDOWS})
    loop = asyncio._get_running_loop()
    yield browser
    # After another test it is not running, and Playwright's connection would break with every other browser's.
    before = asyncio._get_running_loop()
    asyncio._set_running_loop(loop)
    browser.close()
    asyncio._set_running_loop(before)


@pytest.fixture
def worker(person: Person) -> Iterator[Worker]:
    """The worker of somebody who lets this browser notify."""
    page = person.page
    page.context.grant_permissions(["notifications"], origin=person.live.url)
    person.visit("/companions/")
    worker = Worker(page, person.live.url)
    page.evaluate(REGISTER)
    yield worker
    page.context.clear_permissions()


def told(path: str, **more: Any) -> str:
    mute = {"title": "Mute", "url": f"{path}life/mute/"}
    return json.dumps(
        {"title": "Mira", "body": "Hello", "url": path, "mute": mute, "life": f"{path}life/settings/", **more}
    )


def shown(inside: BrowserWorker, page: Page, many: int) -> dict[str, dict[str, Any]]:
    """The notifications that the browser has shown, by tag, once there are so many."""
    for _ in range(400):
        if inside.evaluate("shown.length") >= many:
            break
        page.wait_for_timeout(50)
    return {one["tag"]: one for one in inside.evaluate("shown")}


def test_a_push_is_shown_and_leads_nowhere_else(worker: Worker, page: Page) -> None:
    inside = page.context.service_workers[0]
    inside.evaluate(NOTE_SHOWN)
    worker.delivers(told("/companions/x/", tag="companion-x"))
    worker.delivers(told("https://elsewhere.example.org/x", tag="elsewhere"))
    worker.delivers("no JSON")
    found = shown(inside, page, 3)
    hers = found["companion-x"]
    assert (hers["title"], hers["body"], hers["data"]["url"]) == ("Mira", "Hello", "/companions/x/")
    assert found["elsewhere"]["data"]["url"] == "/companions/"
    assert (found[""]["title"], found[""]["data"]["url"]) == ("Kith", "/companions/")


# Only a real press of a real notification may open or focus a page: here the worker says what it would do.
SAYS = """() => {
  self.went = [];
  clients.openWindow = async (url) => went.push(`opens ${url}`);
  WindowClient.prototype.focus = async function () { went.push(`focuses ${new URL(this.url).pathname}`); };
}"""


def test_a_press_goes_to_the_talk_and_mute_mutes(worker: Worker, person: Person, page: Page) -> None:
    person.make_companion()
    path = urlsplit(page.url).path
    inside = page.context.service_workers[0]
    inside.evaluate(SAYS)
    inside.evaluate("url => open(url)", path)
    inside.evaluate("url => open(url)", "/companions/other/")
    inside.evaluate("told => mute(told)", json.loads(told(path)))
    assert inside.evaluate("went") == [f"focuses {path}", "opens /companions/other/"]
    person.visit(f"{path}life/settings/")
    expect(page.get_by_text("Mira is muted")).to_be_visible()
    page.context.clear_cookies()
    inside.evaluate("told => mute(told)", json.loads(told(path)))
    assert inside.evaluate("went")[2:] == [f"focuses {path}life/settings/"]


DENIED = "Object.defineProperty(Notification, 'permission', { get: () => 'denied' });"
LACKING = "delete window.PushManager;"


def test_the_settings_say_what_stands_in_the_way_and_ask_for_nothing(person: Person, page: Page) -> None:
    button = page.get_by_role("button", name="Notify me on this device", exact=True)
    page.add_init_script("Notification.requestPermission = () => { throw new Error('asked') };")
    person.visit("/settings/")
    expect(page.get_by_text("This device does not get notifications.")).to_be_visible()
    expect(button).to_be_visible()
    page.add_init_script(DENIED)
    person.visit("/settings/")
    expect(page.get_by_text("This browser blocks notifications from Kith.")).to_be_visible()
    expect(button).to_be_hidden()
    page.add_init_script(LACKING)
    person.visit("/settings/")
    expect(page.get_by_text("This browser cannot show notifications here.")).to_be_visible()
    expect(button).to_be_hidden()


SUBSCRIBED = """
Object.defineProperty(Notification, "permission", { get: () => "granted" });
const endpoint = "https://push.example.org/1";
const unsubscribe = async () => { document.cookie = "unsubscribed=yes; path=/"; };
PushManager.prototype.getSubscription = async () => ({ endpoint, toJSON: () => ({ endpoint, keys: {} }), unsubscribe });
"""


@pytest.mark.usefixtures("worker")
def test_a_browser_that_notifies_is_told_to_kith_again_and_stops_with_signing_out(
    person: Person, page: Page
) -> None:
    page.add_init_script(SUBSCRIBED)
    with page.expect_request("**/notifications/subscribe/") as again:
        person.visit("/settings/")
    assert "push.example.org" in (again.value.post_data or "")
    page.locator("form[data-forgets]").get_by_role("button", name="Sign out").click()
    expect(page.locator("[data-push]")).to_have_count(0)
    assert "unsubscribed" in {cookie.get("name") for cookie in page.context.cookies()}


LONG = "document.dispatchEvent(new CustomEvent('answer-done', { detail: { seconds: 30 } }))"
QUICK = LONG.replace("30", "3")


def test_the_talk_offers_notifications_after_a_long_answer_and_once(person: Person, page: Page) -> None:
    page.add_init_script("Notification.requestPermission = () => { throw new Error('asked') };")
    person.make_companion()
    offer = page.locator("[data-push-offer]")
    expect(offer).to_be_hidden()
    person.write("Hello")
    person.hears("")
    page.evaluate(QUICK)
    expect(offer).to_be_hidden()
    page.evaluate(LONG)
    expect(offer).to_be_visible()
    offer.get_by_role("button", name="Not now").click()
    expect(offer).to_have_count(0)
    page.reload()
    expect(page.locator("#send")).to_be_enabled()
    page.evaluate(LONG)
    expect(offer).to_be_hidden()
