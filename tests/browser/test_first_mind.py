"""From a start to a real answer: `make up`, the page that it names, a model's file, Kith's own engine, the talk."""

import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import redis
from playwright.sync_api import Browser, Locator, Page, expect

from tests.fixtures.databases import address_of, copy_database, drop_database
from tests.fixtures.model_files import find_model
from tests.fixtures.up import Up

pytestmark = [pytest.mark.browser, pytest.mark.timeout(1800)]

SLOW_SECONDS = 600.0
SLOW_MS = SLOW_SECONDS * 1000
ANSWERED = "SELECT model, outcome FROM accounts_modelcall WHERE purpose = 'answer'"
DATABASE = "first_mind"
REDIS_NUMBER = 15  # that no process of the test run has


@pytest.fixture
def up() -> Iterator[Up]:
    """Kith on a bare folder, with tables that are there already: that it makes its own is told in tests/up."""
    copy_database(DATABASE)
    cache = urlsplit(os.environ["REDIS_URL"])._replace(path=f"/{REDIS_NUMBER}").geturl()
    with redis.Redis.from_url(cache) as client:
        client.flushdb()
    with tempfile.TemporaryDirectory(prefix="kith-") as folder:
        made = Up(Path(folder).resolve() / "home")
        made.environment |= {"DATABASE_URL": address_of(DATABASE), "REDIS_URL": cache}
        made.environment |= {"LLM_FIRST_PIECE_SECONDS": str(SLOW_SECONDS), "LLM_SILENCE_SECONDS": "300"}
        made.environment |= {"LLM_ANSWER_TOKENS": "64"}  # small models often know no end
        try:
            yield made.start(SLOW_SECONDS)
        finally:
            for process in made.left():
                process.kill()
            drop_database(DATABASE)


class Hand:
    """A person's hand, which counts its taps."""

    def __init__(self, page: Page) -> None:
        self.page, self.taps = page, 0

    def tap(self, place: Locator) -> None:
        self.taps += 1
        place.click()


def test_a_model_file_is_chosen_and_answers_in_the_talk(up: Up, browser: Browser) -> None:
    page = browser.new_page(locale="en-GB", reduced_motion="reduce")
    page.set_default_timeout(SLOW_MS)
    hand, began = Hand(page), time.monotonic()
    address = re.search(r"Which model\? Operators can choose one at (\S+)", up.said)
    login = re.search(r"(operator@kith\.local)\n  (\S+)", up.said)
    assert address
    assert login
    page.goto(address[1])
    page.locator("input[name=login]").fill(login[1])
    page.locator("input[name=password]").fill(login[2])
    hand.tap(page.get_by_role("button", name="Sign in"))

    page.get_by_label("Path of another file").fill(str(find_model()))
    hand.tap(page.get_by_role("button", name="Look at it"))
    expect(page.get_by_text("tokens of context")).to_be_visible()
    hand.tap(page.locator("form[action$='/mind/file/'] button"))
    expect(page.get_by_text("Kith's own engine has loaded it")).to_be_visible(timeout=SLOW_MS)
    loaded = time.monotonic() - began
    page.get_by_role("button", name="Try it").first.click()
    facts = page.locator("#outcome-engine")
    expect(facts).to_contain_text("tokens per second", timeout=SLOW_MS)
    tried = facts.inner_text()

    page.goto(f"http://127.0.0.1:{up.port}/companions/new/")
    hand.tap(page.get_by_role("button", name="Start · Wren"))
    expect(page.locator("#send")).to_be_enabled(timeout=SLOW_MS)
    page.locator("#message").fill("Good evening. What do you like about autumn?")
    hand.tap(page.locator("#send"))
    expect(page.locator(".said-by-person .words").last).to_contain_text("autumn", timeout=SLOW_MS)
    answers = page.locator("#turns .said-by-companion .words")
    expect(answers).to_have_count(2, timeout=SLOW_MS)
    expect(answers.last).not_to_be_empty(timeout=SLOW_MS)
    expect(page.locator("[data-reply]")).to_have_count(0, timeout=SLOW_MS)
    seconds = time.monotonic() - began
    said = answers.last.inner_text()
    page.close()  # it would look for Kith for as long as the browser is open
    with psycopg.connect(address_of(DATABASE)) as connection:
        assert connection.execute(ANSWERED).fetchall() == [(find_model().stem, "done")]
    sys.stdout.write(
        f"{tried}\n{hand.taps} taps, loaded after {loaded:.0f} s, answered after {seconds:.0f} s: {said}\n"
    )
