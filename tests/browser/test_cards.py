"""A character card, from a file on the page to its first words."""

import base64
import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.person import Person
from tests.cards.corpus import png_of

pytestmark = pytest.mark.browser
DATA: dict[str, Any] = {
    "name": "Odessa",
    "description": "Keeps a lighthouse.",
    "first_mes": "You are late.",
    "alternate_greetings": ["The lamp is out, {{user}}. Help me."],
    "post_history_instructions": "Never leave the rock.",
}
CARD = {"spec": "chara_card_v3", "spec_version": "3.0", "data": DATA}
DROP = """([name, text]) => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const moved = new DataTransfer();
  moved.items.add(new File([bytes], name, { type: "image/png" }));
  document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: moved, bubbles: true, cancelable: true }));
}"""


def test_a_dropped_card_is_looked_at_its_greeting_chosen_and_talked_with(person: Person, page: Page) -> None:
    person.visit("/companions/new/")
    page.evaluate(DROP, ["odessa.png", base64.b64encode(png_of(CARD)).decode()])
    page.wait_for_url("**/companions/new/card/*/")
    expect(page.get_by_role("heading", name="Odessa")).to_be_visible()
    expect(page.get_by_text("Never leave the rock.")).to_be_visible()  # what a talk never shows
    page.get_by_role("radio").nth(1).check()
    page.get_by_role("button", name="Start").click()
    expect(person.last_answer).to_contain_text("The lamp is out")
    page.goto(page.url + "settings/")
    page.get_by_text("As another file").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="JSON", exact=True).click()
    assert json.loads(download.value.path().read_bytes())["data"]["first_mes"] == "You are late."
    person.visit("/companions/new/")
    page.locator("#bring-file").set_input_files(
        {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"no card"}
    )
    expect(page.get_by_text("Kith does not recognise this file.")).to_be_visible()
