"""An answer's emotion is told to whatever body is on the page, and nobody reads its tag."""

import pytest
from playwright.sync_api import expect

from tests.browser.person import Person
from tests.fixtures.live import Live

pytestmark = pytest.mark.browser

COLLECT = """() => {
  window.felt = [];
  document.addEventListener("kith:emotion", ({ detail }) => window.felt.push(detail));
}"""


def test_what_is_felt_comes_with_the_words_and_is_told_to_the_face(person: Person, live: Live) -> None:
    person.make_companion()
    page = person.page
    page.evaluate(COLLECT)
    pieces = ["<emo", "tion surprised 0.9", "> Oh", "! ", "<emotion happy 1>", "How lovely."]
    live.rehearsal.script({"pieces": pieces, "delay_between": 0.05})
    person.write("I have a puppy!")
    expect(person.last_answer).to_have_text("Oh! How lovely.")
    assert page.evaluate("() => window.felt") == [
        {"emotion": "surprised", "intensity": 0.9},
        {"emotion": "happy", "intensity": 1},
    ]
    assert "<emotion" not in page.content()
