"""A real browser before a real Kith. Chromium comes from the system, never from a download."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.chromium import CHROMIUM
from tests.browser.person import Person
from tests.fixtures.counters import forget_rates
from tests.fixtures.live import Live

PATIENCE_MS = 45_000
expect.set_options(timeout=PATIENCE_MS)
WITH_SERVICE_WORKER = pytest.mark.browser_context_args(service_workers="allow")


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """How Chromium is started: the system's, without a sandbox, and quiet."""
    assert CHROMIUM, "Chromium is not installed."
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    return {**browser_type_launch_args, "executable_path": CHROMIUM, "args": flags}


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    """How a page is opened.

    A face that breathes would be drawn sixty times a second; its own tests let it. A service worker would be installed
    for each test; tests of the talk, of the app and of notifications have one (WITH_SERVICE_WORKER).
    """
    args = {"locale": "en-GB", "timezone_id": "Europe/Berlin"}
    return {**browser_context_args, **args, "reduced_motion": "reduce", "service_workers": "block"}


@pytest.fixture(scope="session", autouse=True)
def _loop_of_the_browser(browser: Browser) -> Iterator[None]:
    """What closes the browser after another test finds its loop running again."""
    loop = asyncio._get_running_loop()
    yield
    asyncio._set_running_loop(loop)


@pytest.fixture(scope="package")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A running Kith, one for each process of the test run."""
    with Live(tmp_path_factory.mktemp("kith"), "browser") as running:
        yield running


@pytest.fixture(scope="module")
def blank(browser: Browser) -> Iterator[Page]:
    """A page of nothing, in which scripts run."""
    context = browser.new_context()
    page = context.new_page()
    page.goto("about:blank")
    yield page
    context.close()


@pytest.fixture
def page(page: Page, live: Live) -> Iterator[Page]:
    """A page that fails the test on any script error and on anything that the content policy stopped.

    It comes once no reply of an earlier test is under way, which would use up what this test tells the model to say, and
    as after an hour in which nobody did anything.
    """
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on(
        "console", lambda line: errors.append(line.text) if "Content Security Policy" in line.text else None
    )
    page.set_default_timeout(PATIENCE_MS)
    live.rest()
    forget_rates()
    live.rehearsal.reset()
    yield page
    assert not errors, errors


@pytest.fixture
def person(page: Page, live: Live) -> Person:
    """Someone signed in; a companion that a test needs it makes itself."""
    return Person.signed_in(page, live)
