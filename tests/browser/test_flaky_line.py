"""A line that falls at random while one talks: nothing is lost, nothing comes twice, all stays in its order.

`make prove-flaky-line` cuts it 200 times.
"""

import os
import random
import time

import pytest
from playwright.sync_api import Page, expect

from tests.browser.line import Line, come_back
from tests.browser.person import Person
from tests.fixtures.live import Live

pytestmark = pytest.mark.browser
CUTS = int(os.environ.get("PROOF_CUTS", "8"))
CUTS_A_MESSAGE = 4
WORDS = 30


def scroll_to_earlier(page: Page) -> None:
    """Wait until what was said before has come, of which a page brings only the last."""
    first = page.locator("[data-turn]").first
    known = first.get_attribute("data-turn") or ""
    first.scroll_into_view_if_needed()
    expect(page.locator("[data-turn]").first).not_to_have_attribute("data-turn", known, timeout=15_000)


@pytest.mark.timeout(360 + CUTS * 6)
def test_a_line_that_is_cut_again_and_again_loses_nothing_and_doubles_nothing(
    person: Person, live: Live
) -> None:
    path = person.create_companion()
    chance = random.Random(19)
    count = -(-CUTS // CUTS_A_MESSAGE)
    answers = [[f"{number}.{word} " for word in range(WORDS)] for number in range(count)]
    live.rehearsal.script(*({"pieces": pieces, "delay_between": 0.03} for pieces in answers))
    page = person.page = person.page.context.new_page()  # what it asks for does fail
    with Line(live.port) as line:
        page.goto(f"{line.url}{path}")
        expect(page.locator("#send")).to_be_enabled()
        for cut in range(CUTS):
            if cut % CUTS_A_MESSAGE == 0:
                person.write(f"Message {cut // CUTS_A_MESSAGE}")
            time.sleep(chance.uniform(0, 0.5))
            line.is_down = chance.random() < 0.5
            line.cut()
            time.sleep(chance.uniform(0, 0.3))
            line.is_down = False
            come_back(page)
        said = [f"Message {number}" for number in range(count)]
        told = ["".join(pieces).strip() for pieces in answers]
        patience = 60_000 + 3_000 * count  # milliseconds: one answer comes after the other
        expect(page.locator(".said-by-person .words")).to_have_text(said, timeout=patience)
        expect(person.answers).to_have_text(["Hello, I am Mira.", *told], timeout=patience)
        expect(person.open_replies).to_have_count(0)
        page.reload()  # what is kept is what was shown
        while person.answers.count() <= count:
            scroll_to_earlier(page)
        expect(page.locator(".said-by-person .words")).to_have_text(said)
        expect(person.answers).to_have_text(["Hello, I am Mira.", *told])
