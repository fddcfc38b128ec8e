"""Diary, profile, what is always in mind, and deleting many at once, in a browser; and once in Chinese."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.person import Person
from tests.fixtures.live import Live

pytestmark = pytest.mark.browser

CLOSE = """
from django.utils import timezone
from companions.sessions.closing import find_due, run
for closing_id in find_due(timezone.now()):
    run(closing_id, timezone.now)
"""
REMEMBER = """
from django.utils import timezone
from memory.store import keep_fact
now = timezone.now()
for text in ("The cat is called Pebble", "The lake freezes in winter", "We met in Turin"):
    keep_fact("{pk}", text, now, now)
"""


def place(person: Person) -> str:
    """The path of the companion whose talk is open."""
    return person.page.url.removeprefix(person.live.url)


def end_session(person: Person, live: Live) -> None:
    """By the button in the talk, which asks first; the entry's title comes to the open talk by itself."""
    page = person.page
    page.locator("#message").fill("not yet sent")
    page.locator("#gauge a").click()
    page.get_by_role("dialog").locator("button").click()
    expect(page.locator(".turn").last.locator("p.talk-end-words")).to_be_visible()
    live.run(CLOSE)
    expect(page.locator(".talk-end a")).to_have_count(1)
    expect(page.locator("#message")).to_have_value("not yet sent")
    page.locator("#message").fill("")
    page.goto(f"{page.url}diary/")


def write_profile(page: Page, text: str) -> None:
    page.locator("main .actions a.button").first.click()
    page.locator("main textarea").fill(text)
    page.locator("main form button").click()
    expect(page.locator(".sentences")).to_contain_text(text.splitlines()[0])


def test_a_session_is_ended_and_its_entry_leads_back_to_what_was_said(person: Person, live: Live) -> None:
    person.make_companion()
    page, path = person.page, place(person)
    live.rehearsal.script({"answer": "I see."})
    person.write("My cat is called Pebble and likes the rain.")
    person.hears("I see.")
    expect(page.locator("#gauge progress")).to_be_visible()
    end_session(person, live)
    page.locator(".diary-entry a").click()
    page.locator(".sentence", has_text="Pebble").first.locator("summary").click()
    source = page.locator(".sentence[open] figure").first
    expect(source).to_contain_text("because you said on")
    expect(source).to_contain_text("My cat is called Pebble")
    source.get_by_role("link", name="See what was said").click()
    expect(page.locator(".is-looked-for")).to_contain_text("My cat is called Pebble")
    person.visit(path)
    page.locator(".talk-end a").click()
    expect(page.locator(".sentences")).to_contain_text("Pebble")
    page.get_by_role("link", name="Delete").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("everything that was said in its talk")
    dialog.get_by_role("button", name="Delete").click()
    expect(page.locator(".diary-entry")).to_have_count(0)
    person.visit(path)
    expect(page.locator("#turns")).not_to_contain_text("Pebble")


def test_a_session_is_cleared_without_remembering(person: Person, live: Live) -> None:
    person.make_companion()
    page, path = person.page, place(person)
    live.rehearsal.script({"answer": "I see."})
    person.write("Nobody may know of the cake.")
    person.hears("I see.")
    person.go("Memory", "Diary")
    page.get_by_role("link", name="Clear it without remembering").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Everything that was said in it")
    dialog.get_by_role("button", name="Delete everything said in it").click()
    expect(page.locator("#ending")).to_contain_text("is being deleted")
    live.run(CLOSE)
    expect(page.locator("#ending")).not_to_contain_text("is being deleted")
    expect(page.locator(".diary-entry")).to_have_count(0)
    person.visit(path)
    expect(page.locator("#turns")).not_to_contain_text("cake")


def test_the_profile_is_changed_compared_and_restored(person: Person) -> None:
    person.visit(f"{person.create_companion()}profile/")
    page = person.page
    expect(page.get_by_text("Nothing yet.")).to_be_visible()
    write_profile(page, "Likes green tea.\nHas a cat.")
    write_profile(page, "Likes black tea.\nHas a cat.")
    page.locator("main .actions a.button").first.click()
    page.locator("main textarea").fill("x" * 401)
    page.locator("main form button").click()
    expect(page.locator(".field-error")).to_contain_text("Sentence 1 is 1 character too long")
    expect(page.locator("main textarea")).to_have_value("x" * 401)
    person.go("Memory", "About you")
    page.get_by_role("button", name="Show the differences").click()
    expect(page.locator(".differences del")).to_contain_text("green")
    expect(page.locator(".differences ins")).to_contain_text("black")
    page.get_by_role("link", name="Restore version 1").click()
    page.get_by_role("dialog").get_by_role("button", name="Restore").click()
    expect(page.locator(".sentences")).to_contain_text("Likes green tea.")
    expect(page.locator(".revision")).to_have_count(3)
    person.go("About", "How Mira sees itself")
    expect(page.get_by_text("Nothing yet.")).to_be_visible()


def test_what_is_always_in_mind_is_added_changed_and_deleted(person: Person) -> None:
    person.visit(f"{person.create_companion()}always/")
    page = person.page
    page.get_by_text("Add a short one").click()
    page.locator("#id_slot-name").fill("tea")
    page.locator("#id_slot-text").fill("green")
    page.get_by_role("button", name="Keep in mind").first.click()
    slot = page.locator("article.memory", has_text="tea")
    expect(slot).to_contain_text("green")
    slot.get_by_role("link", name="Change “tea”").click()
    page.locator("article textarea").fill("black")
    page.get_by_role("button", name="Save").click()
    expect(slot).to_contain_text("black")
    slot.get_by_role("link", name="Delete “tea”").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(slot).to_have_count(0)


def test_many_memories_are_deleted_at_once(person: Person, live: Live) -> None:
    page, path = person.page, person.create_companion()
    live.run(REMEMBER.format(pk=path.strip("/").rpartition("/")[2]))
    person.visit(f"{path}memories/")
    page.get_by_text("Delete several").click()
    for text in ("Pebble", "Turin"):
        page.locator("article.memory", has_text=text).get_by_role("checkbox").check()
    page.get_by_role("button", name="Delete the chosen").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Delete 2 memories?")
    dialog.get_by_role("button", name="Delete").click()
    expect(page.locator("article.memory", has_text="Pebble")).to_have_count(0)
    expect(page.locator("article.memory", has_text="Turin")).to_have_count(0)
    expect(page.locator("article.memory", has_text="The lake freezes")).to_have_count(1)


def test_diary_and_profile_in_chinese(page: Page, live: Live) -> None:
    person = Person.signed_in(page, live, "zh-hans")
    person.visit("/companions/new/")
    page.get_by_role("button", name="开始聊 · 小满").click()
    expect(page.locator("#send")).to_be_enabled()
    path = place(person)
    live.rehearsal.script({"answer": "好的。"})
    person.write("我的猫叫小石头，喜欢下雨。")
    person.hears("好的。")
    end_session(person, live)
    page.locator(".diary-entry a").click()
    expect(page.locator(".sentences")).to_contain_text("小石头")
    person.visit(f"{path}profile/")
    write_profile(page, "她喜欢绿茶。\n她养了一只猫。")
    write_profile(page, "她喜欢红茶。\n她养了一只猫。")
    page.locator(".comparing button").click()
    expect(page.locator(".differences del")).to_contain_text("绿")
    expect(page.locator(".differences ins")).to_contain_text("红")
