"""Earlier talk, from a file on the page to a word that is found in the talk, and back out.

What workers do is done here by a process: it runs the very functions of their tasks twice a second.
"""

import base64
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from bench.common.past_files import sillytavern
from tests.browser.person import Person
from tests.browser.test_cards import DROP
from tests.fixtures.live import Live

pytestmark = pytest.mark.browser
DONE_MS = 60_000  # a poll, and time for a busy machine
THEN = datetime(2023, 5, 2, 9, tzinfo=UTC)
FILE = sillytavern(
    [
        (True, "Plum hides under the stove since the rain began.", THEN),
        (False, "Then the stove stays off.", THEN + timedelta(minutes=1)),
    ],
    {1: ["Plum is wise."]},
)
WORKING = """
from django.utils import timezone
from companions.models import PastImport
from companions.pasts import imports, undo
from memory.embedding.backlog import embed_in_turn
now = timezone.now()
for import_id in imports.find_due(PastImport.State.WAITING, now):
    imports.run(import_id, timezone.now)
for import_id in imports.find_due(PastImport.State.UNDOING, now):
    undo.run(import_id, timezone.now)
embed_in_turn(60)
"""


def test_text_that_is_not_understood_is_read_by_a_pattern_that_is_typed(person: Person, page: Page) -> None:
    person.visit("/companions/new/")
    text = b"Odo >> The stove stays off: it rains.\nAlice >> Then wear the coat.\nOdo >> Both of us.\n"
    page.locator("#bring-file").set_input_files(
        {"name": "notes.txt", "mimeType": "text/plain", "buffer": text}
    )
    page.wait_for_url("**/companions/new/past/*/")
    pattern = page.get_by_label("How a message begins")
    pattern.fill("{name} >>")
    pattern.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("{text} is missing")
    expect(pattern).to_be_focused()
    pattern.fill("{name} >> {text}")
    pattern.press("Enter")
    figures = page.locator("#past-figures")
    expect(figures).to_contain_text("3 messages")
    page.get_by_role("radio", name="Alice").check()  # which reads the file anew, by the same pattern
    figures.get_by_text("How it begins").click()
    expect(figures).to_contain_text("Alice (you) Then wear the coat.")


def test_a_dropped_past_is_looked_at_remembered_found_and_undone(
    person: Person, page: Page, live: Live
) -> None:
    person.visit("/companions/new/")
    page.evaluate(DROP, ["chat.jsonl", base64.b64encode(FILE).decode()])
    page.wait_for_url("**/companions/new/past/*/")
    figures = page.locator("#past-figures")
    expect(figures).to_contain_text("3 messages")
    expect(figures).to_contain_text("Odo")
    page.get_by_role("radio", name="Odo").check()  # who one is, which the figures follow
    expect(page.get_by_label("Name of the new companion")).to_have_value("Alice")
    figures.get_by_text("How it begins").click()
    expect(figures).to_contain_text("Odo (you)")
    page.get_by_role("radio", name="Alice").check()
    page.get_by_role("button", name="Remember this").click()
    page.wait_for_url("**/settings/pasts/")
    expect(page.get_by_label("Messages that can be recalled")).to_be_visible()
    with live.working(WORKING):  # now that the page waits for it, and will announce its end
        expect(page.locator("#imports")).to_contain_text("All of it can be recalled.", timeout=DONE_MS)
        expect(page.locator("#announcer")).to_have_text("All of it can be recalled.")
        page.get_by_role("link", name="Find it in the talk").click()
        page.get_by_role("searchbox").fill("stove")
        page.get_by_role("searchbox").press("Enter")
        expect(page.locator("main")).to_contain_text("hides under the stove")
        person.go("Settings", "Earlier talk")
        unwritten = page.get_by_text("can recall what was said, but")
        expect(unwritten).to_be_visible()
        page.get_by_role("link", name="Undo").click()
        page.get_by_role("button", name="Undo it").click()
        expect(page.get_by_text("Nothing yet. Add a file below")).to_be_visible(timeout=DONE_MS)
        expect(unwritten).to_have_count(0)
