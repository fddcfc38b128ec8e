"""The texts of a character in a browser: counted while one writes, tried out, saved, and restored, on a phone."""

import pytest
from playwright.sync_api import expect

from tests.browser.person import Person
from tests.fixtures.live import Live

pytestmark = pytest.mark.browser
SMALL_FIELDS = """[...document.querySelectorAll("input:not([type=hidden]), textarea, select")]
  .filter((field) => parseFloat(getComputedStyle(field).fontSize) < 16).map(({ name }) => name)"""
LEARN = """
from django.utils import timezone
from companions.models import Companion
from memory.store import keep_fact
companion, now = Companion.objects.get(pk="ID"), timezone.now()
keep_fact(companion.pk, "The lake behind the mill, in which the person learnt to dive, is nine metres deep.", now, now)
"""


def test_a_character_is_written_tried_out_saved_and_restored(person: Person, live: Live) -> None:
    path = person.create_companion()
    page = person.page
    page.set_viewport_size({"width": 390, "height": 844})
    live.run(LEARN.replace("ID", path.split("/")[2]))
    person.visit(f"{path}about/")
    persona = page.get_by_label("Persona (optional)", exact=True)
    before = persona.input_value()
    persona.fill("A diver. " * 100)
    expect(page.locator("[data-counts=persona]")).to_have_text("about 300 word pieces")
    expect(page.locator("#character-size")).to_contain_text("Always read: about 3")
    page.get_by_text("Try it out", exact=True).click()
    page.get_by_label("What you might say").fill("How deep is the lake behind the mill?")
    live.rehearsal.script({"answer": "Deeper. " * 100, "delay_between": 0.1}, {"answer": "Very deep."})
    page.get_by_role("button", name="Try it").click()
    expect(page.locator("[data-shows=words]")).to_contain_text("Deeper.")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped.")).to_be_visible()
    page.get_by_role("button", name="Try it").click()
    expect(page.locator("[data-shows=words]")).to_have_text("Very deep.")
    expect(page.get_by_text("Stopped.")).to_be_hidden()
    page.get_by_text("remembered: “The lake behind the mill").click()
    expect(page.get_by_role("link", name="See this memory").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate(SMALL_FIELDS) == []  # an iPhone would magnify the page
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="1 earlier version").click()
    page.get_by_role("link", name="What was changed").click()
    expect(page.locator(".differences ins").first).to_contain_text("A diver.")
    page.get_by_role("button", name="Restore everything as it was before").click()
    expect(persona).to_have_value(before)
