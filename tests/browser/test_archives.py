"""A companion leaves as an archive and moves in again, by what one sees."""

import base64

import pytest
from playwright.sync_api import Page, expect

from tests.browser.person import Person
from tests.fixtures.live import Live

pytestmark = pytest.mark.browser
DROP = """([name, text]) => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const moved = new DataTransfer();
  moved.items.add(new File([bytes], name, { type: "application/zip" }));
  document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: moved, bubbles: true, cancelable: true }));
}"""
WORK = """
from companions.tasks import restore_archive
from companions.models import ArchiveUpload
for upload in ArchiveUpload.objects.filter(state="waiting"):
    restore_archive(str(upload.pk))
"""


def test_a_companion_leaves_and_moves_in_again(person: Person, page: Page, live: Live) -> None:
    person.make_companion("Odessa")
    live.rehearsal.script({"answer": "The sea is calm."})
    person.write("How is the sea?")
    person.hears("The sea is calm.")
    left = page.url
    person.go("Settings")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the archive").click()
    archive = base64.b64encode(download.value.path().read_bytes()).decode()
    person.visit("/companions/new/")
    page.evaluate(DROP, ["odessa.zip", archive])
    expect(page.get_by_role("heading", name="Odessa wants to move in")).to_be_visible()
    expect(page.get_by_text("It holds 3 messages.")).to_be_visible()
    page.get_by_role("button", name="Let it move in").click()
    expect(page.get_by_role("heading", name="Odessa is moving in")).to_be_visible()
    page.evaluate("window.isSame = true")
    live.run(WORK)
    expect(page.get_by_role("heading", name="Odessa has moved in")).to_be_visible()
    assert page.evaluate("window.isSame")  # without a reload
    page.get_by_role("link", name="Go to the talk").click()
    expect(person.last_answer).to_contain_text("The sea is calm.")
    assert page.url != left
