"""The keyboard alone: the focus is neither lost nor hidden, menus close behind it, and changes are told in few words."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.person import Person
from tests.fixtures.live import Live

pytestmark = pytest.mark.browser

FACTS = """
from django.utils import timezone
from memory.store import keep_fact
for number in range(32):
    keep_fact("{pk}", f"The harbour has {{number}} boats", timezone.now(), timezone.now())
"""
DOCUMENT = """
from django.utils import timezone
from memory.models import Document, Page
given = Document.objects.create(companion_id="{pk}", title="Tide table", characters=9, given_at=timezone.now())
Page.objects.create(companion_id="{pk}", document=given, number=1, text="High water")
"""
READ = """
from memory.models import Page
Page.objects.filter(companion_id="{pk}").update(gist="High water at noon.")
"""
NOTICE = """
from django.utils import timezone
from accounts.models import User
from safety.models import Notice
Notice.objects.create(user=User.objects.get(email="{email}"), kind="signed_in", made_at=timezone.now())
"""
IS_HIDDEN = """() => {
    if (document.activeElement === document.body) return false; // after the last one
    const part = document.activeElement.closest("label") ?? document.activeElement;
    const { left, top, width, height } = part.getBoundingClientRect();
    const over = document.elementFromPoint(left + width / 2, top + height / 2);
    return !over?.contains(part) && !part.contains(over);
}"""


def key(page: Page) -> str:
    """Return the id of the companion whose page this is."""
    return page.url.split("/companions/")[1].split("/")[0]


def test_escape_closes_the_search_where_the_browser_leaves_it_to_the_field(person: Person) -> None:
    """Safari does; an event that the browser has not made does nothing by itself in Chromium either."""
    person.make_companion()
    person.page.locator("#search-talk").click()
    field = person.page.locator("dialog[open] #q")
    escape = {"key": "Escape", "bubbles": True, "cancelable": True}
    field.fill("train")
    field.dispatch_event("keydown", escape)  # first, it empties the field
    expect(field).to_be_visible()
    field.fill("")
    field.dispatch_event("keydown", escape | {"keyCode": 229})  # it gives up what was being composed
    expect(field).to_be_visible()
    field.dispatch_event("keydown", escape)
    expect(person.page.locator("dialog[open]")).to_have_count(0)


def test_in_a_talk_the_focus_stays_with_what_is_worked_at(person: Person, live: Live) -> None:
    person.make_companion()
    page = person.page
    page.set_viewport_size({"width": 820, "height": 500})
    live.rehearsal.script({"thought": "Let me think.", "pieces": ["Look.\n\n"] * 40, "delay_between": 0.1})
    person.write("Show me")
    thought = page.locator(".turn").last.locator(".thought > summary")
    thought.focus()
    expect(person.open_replies).to_have_count(1)
    person.hears("Look.")
    expect(page.locator(".turn").last.locator(".said-by-companion .menu")).to_be_attached()
    expect(thought).to_be_focused()  # the turn came anew

    page.evaluate("scrollTo(0, 0)")
    page.locator("#latest").press("Enter")
    expect(page.locator("#message")).to_be_focused()

    menu = page.locator(".talk-menu")
    menu.locator("summary").press("Enter")
    page.get_by_role("button", name="Shortcuts").press("Enter")
    page.keyboard.press("Escape")
    expect(menu.locator("summary")).to_be_focused()
    menu.locator("summary").press("Enter")
    expect(menu).to_have_attribute("open", "")
    page.keyboard.press("Shift+Tab")
    expect(menu).not_to_have_attribute("open", "")

    more = page.locator(".said-by-person .menu > summary").last
    more.press("Enter")
    page.locator(".menu[open]").get_by_role("link", name="Delete").press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(more).to_be_focused()
    more.press("Enter")
    page.locator(".menu[open]").get_by_role("link", name="Delete").press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Delete").press("Enter")
    expect(page.locator("#announcer")).to_have_text("Deleted.")
    expect(page.locator("#message")).to_be_focused()


def test_in_the_memories_the_focus_goes_on_to_what_comes_next(person: Person, live: Live) -> None:
    page = person.page
    person.visit(f"{person.create_companion()}memories/")
    live.run(FACTS.format(pk=key(page)))
    page.reload()
    page.get_by_role("link", name="Show earlier").press("Enter")
    memories = page.locator(".memory")
    expect(memories).to_have_count(32)
    expect(memories.nth(30).locator(":focus")).to_have_count(1)

    memories.nth(2).get_by_role("link", name="Delete").press("Enter")
    third = memories.nth(3).get_attribute("id")
    page.get_by_role("dialog").get_by_role("button", name="Delete").press("Enter")
    expect(page.locator(f"#{third} :focus")).to_have_count(1)
    expect(page.locator("#announcer")).to_have_text("Deleted.")

    page.get_by_label("Search the memories").fill("harbour 7 boats")
    expect(page.locator("#memories-count")).to_contain_text("shown.")
    expect(page.locator("[aria-live] .memory")).to_have_count(0)


def test_what_is_always_in_mind_is_changed_and_left_by_the_keyboard(person: Person) -> None:
    page = person.page
    person.visit(f"{person.create_companion()}always/")
    adding = page.locator(".add").first
    adding.locator("summary").press("Enter")
    adding.locator("[name=slot-name]").fill("birthday")
    adding.locator("[name=slot-text]").fill("3 March")
    adding.get_by_role("button").press("Enter")
    change = page.get_by_role("link", name="Change “birthday”")
    change.press("Enter")
    expect(page.locator(".memory form :focus")).to_have_count(1)
    page.get_by_role("link", name="Leave as is").press("Enter")
    expect(change).to_be_focused()


def test_a_notice_hides_nothing_that_has_the_focus(person: Person, live: Live) -> None:
    page = person.page
    page.set_viewport_size({"width": 1280, "height": 500})
    live.run(NOTICE.format(email=person.email))
    notice = page.locator(".arrival")
    person.visit(f"{person.create_companion()}call/")
    expect(notice).to_be_visible()
    call = page.get_by_role("button", name="Call").bounding_box()
    covering = notice.bounding_box()
    assert call is not None
    assert covering is not None
    assert call["y"] + call["height"] <= covering["y"]
    person.visit("/settings/")
    expect(notice).to_be_visible()
    for _ in range(40):
        page.keyboard.press("Tab")
        assert page.evaluate(IS_HIDDEN) is False, page.evaluate("document.activeElement.textContent")
    notice.get_by_role("button").press("Enter")
    expect(notice).to_have_count(0)
    expect(page.locator("main:focus")).to_have_count(1)


def test_the_end_of_what_a_page_waits_for_is_announced(person: Person, live: Live) -> None:
    page = person.page
    person.visit(f"{person.create_companion()}documents/")
    live.run(DOCUMENT.format(pk=key(page)))
    page.reload()
    expect(page.locator("#documents")).to_contain_text("gists written: 0 of 1")
    live.run(READ.format(pk=key(page)))
    expect(page.locator("#announcer")).to_contain_text("1 page", timeout=10_000)
    expect(page.locator("#announcer")).to_contain_text("Tide table")


def test_a_page_that_waits_for_what_was_deleted_elsewhere_says_so(person: Person, live: Live) -> None:
    page = person.page
    person.visit(f"{person.create_companion()}documents/")
    live.run(DOCUMENT.format(pk=key(page)))
    page.reload()
    page.get_by_role("link", name="Tide table").click()
    expect(page.locator("#progress progress")).to_be_visible()
    live.run("from memory.models import Document; Document.objects.all().delete()")
    expect(page.get_by_role("heading", name="There is nothing here.")).to_be_visible(timeout=20_000)
