"""Seeing, searching, correcting and deleting what is remembered, in a browser; and the whole of it in Chinese."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.person import Person
from tests.fixtures.live import Live

pytestmark = pytest.mark.browser
# The page has been read, and no script of it has run yet.
CHOOSE_EARLY = """
document.addEventListener("readystatechange", () => {
  const kind = document.querySelector("#kind");
  if (kind && document.readyState === "interactive") kind.value = "all";
});
"""
PRESS_AS_SWAPPED = """
document.addEventListener("htmx:afterSwap", () => setTimeout(() => {
  document.addEventListener("htmx:afterRequest", () => (window.isPressed = true));
  document.activeElement.click();
}), { once: true });
"""


def add_fact(person: Person) -> Page:
    """The page of a new companion's memory, after a fact was added by hand."""
    person.visit(f"{person.create_companion()}memories/")
    page = person.page
    page.get_by_text("Add a fact").click()
    page.get_by_label("What is remembered").fill("The harbour freezes in winter")
    page.get_by_role("button", name="Remember this").click()
    return page


def test_a_memory_is_deleted_and_gone(person: Person, live: Live) -> None:
    person.make_companion()
    live.rehearsal.script({"answer": "I see."})
    person.write("My cat is called Pebble")
    person.hears("I see.")
    person.go("Memory")
    person.page.get_by_label("Which memories").select_option("all")
    memory = person.page.locator(".memory", has_text="Pebble")
    memory.get_by_role("link", name="Delete").click()
    dialog = person.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Pebble")
    dialog.get_by_role("button", name="Delete").click()
    expect(memory).to_have_count(0)
    expect(dialog).to_have_count(0)
    person.page.reload()
    expect(memory).to_have_count(0)
    person.page.go_back()
    expect(person.page.locator(".is-hidden")).to_contain_text("no longer shown to Mira")


def test_who_acts_on_what_another_tab_has_deleted_is_told_and_stays(person: Person) -> None:
    page = add_fact(person)
    memory = page.locator(".memory", has_text="harbour")
    pin = memory.get_by_role("button", name="The harbour freezes in winter")  # the button names what it pins
    expect(pin).to_be_visible()
    person.live.run("from memory.models import Memory; Memory.objects.filter(kind='fact').delete()")
    pin.click()
    expect(page.locator("#announcer")).to_contain_text("There is nothing here. The page has been moved")
    expect(memory).to_be_visible()
    page.route("**/pin/", lambda route: route.abort())
    pin.click()
    expect(page.locator("#announcer")).to_have_text("That did not work. Try again in a moment.")


def test_what_is_chosen_before_the_scripts_are_there_is_not_lost(person: Person) -> None:
    person.make_companion()
    person.write("My cat is called Pebble")
    expect(person.page.locator("#turns")).to_contain_text("Pebble")
    person.page.add_init_script(CHOOSE_EARLY)
    person.go("Memory")
    expect(person.page.locator(".memory", has_text="Pebble")).to_be_visible()


def test_memories_are_found_corrected_pinned_and_added(person: Person) -> None:
    page = add_fact(person)
    page.locator("#q").fill("harbour")
    expect(page.locator(".memory").first).to_contain_text("words in common: harbour")
    page.wait_for_url("**/memories/?q=harbour&kind=")
    page.reload()
    expect(page.locator("#q")).to_have_value("harbour")
    expect(page.locator(".memory").first).to_contain_text("words in common: harbour")
    page.locator("#q").fill("xylophone")
    expect(page.locator("#memories")).to_contain_text("Nothing found for “xylophone”.")
    with page.expect_response("**/memories/?q=&*"):
        page.locator("#q").fill("")
    fact = page.locator(".memory", has_text="harbour")
    fact.get_by_role("link", name="Correct").click()
    page.locator("#memories textarea").fill("The lake freezes in winter")
    page.locator("#memories").get_by_role("button", name="Save").click()
    lake = page.locator(".memory", has_text="The lake freezes in winter")
    lake.get_by_role("button", name="Pin").click()
    expect(lake.get_by_role("button", name="Pinned")).to_have_attribute("aria-pressed", "true")
    page.get_by_label("Which memories").select_option("pinned")
    expect(page.locator(".memory")).to_have_count(1)


def test_what_was_remembered_stands_under_the_answer(person: Person, live: Live) -> None:
    person.visit(f"{person.create_companion()}memories/")
    page = person.page
    page.get_by_text("Add a fact").click()
    page.get_by_label("What is remembered").fill("The cat is called Pebble")
    page.get_by_role("button", name="Remember this").click()
    person.go("Talk")
    expect(page.locator("#send")).to_be_enabled()
    live.rehearsal.script({"answer": "Pebble, of course."})
    person.write("What is the cat called?")
    person.hears("Pebble")
    line = page.locator(".remembered > summary")
    expect(line).to_contain_text("remembered: “The cat is called Pebble”· Today")
    line.click()
    expect(page.locator(".remembered")).to_contain_text("because you spoke of called, cat")
    page.get_by_role("link", name="See this memory").click()
    expect(page.locator(".memory")).to_contain_text("The cat is called Pebble")


def test_a_message_is_deleted_with_its_answer(person: Person, live: Live) -> None:
    person.make_companion()
    live.rehearsal.script({"answer": "Soon forgotten."})
    person.write("Forget this")
    person.hears("Soon forgotten.")
    message = person.page.locator(".said-by-person")
    message.hover()
    message.get_by_label("More").click()
    message.get_by_text("Delete", exact=True).click()
    dialog = person.page.get_by_role("dialog")
    expect(dialog.get_by_role("checkbox")).to_be_checked()
    dialog.get_by_role("button", name="Delete").click()
    expect(message).to_have_count(0)
    expect(person.answers).to_have_text(["Hello, I am Mira."])


def test_older_history_comes_as_one_scrolls(person: Person, live: Live) -> None:
    path = person.create_companion()
    live.run(MANY.format(pk=path.rstrip("/").rpartition("/")[2]))
    person.visit(path)
    words = person.page.locator(".said-by-person .words")
    expect(words.last).to_have_text("said 59")
    expect(words).to_have_count(25)
    person.page.evaluate("scrollTo(0, 0)")
    expect(words).to_have_count(50)
    person.page.evaluate("scrollTo(0, 0)")
    expect(words).to_have_count(60)
    expect(words.first).to_have_text("said 0")


MANY = """
from django.utils import timezone
from companions.models import Companion, Message, Conversation
from companions.conversations.messages import say_all
companion = Companion.objects.select_related("conversation", "user").get(pk="{pk}")
session = companion.sessions.get()
parent, now = companion.conversation.head, timezone.now()
messages = []
common = dict(companion=companion, conversation=companion.conversation, session=session, said_at=now)
for number in range(60):
    for role, text in (("user", f"said {{number}}"), ("assistant", f"answered {{number}}")):
        messages.append(Message(parent=parent, role=role, text=text, **common))
        parent = messages[-1]
say_all(companion, messages, now)
Conversation.objects.filter(pk=companion.conversation.pk).update(head=parent)
"""


def test_all_of_it_in_chinese(page: Page, live: Live) -> None:
    person = Person(page, live)
    person.sign_up_in_chinese()
    page.get_by_role("button", name="开始聊 · 小满").click()
    expect(person.last_answer).to_contain_text("小满")
    expect(page.locator("#send")).to_be_enabled()
    person.write("记住，我星期五有考试")
    person.hears("我记住了")
    page.get_by_role("link", name="记忆").click()
    expect(page.locator(".memory", has_text="存为事实")).to_contain_text("考试")
    expect(page.locator("html")).to_have_attribute("lang", "zh-hans")


def test_the_chosen_scheme_is_kept(person: Person) -> None:
    person.visit("/settings/")
    person.page.get_by_text("Dark", exact=True).click()
    person.visit("/companions/")
    expect(person.page.locator("html")).to_have_attribute("data-theme", "dark")
    person.visit("/settings/")
    person.page.get_by_text("Match the system", exact=True).click()
    person.visit("/companions/")
    assert person.page.locator("html").get_attribute("data-theme") is None


def test_what_would_be_forgotten_is_shown_chosen_and_gone(person: Person, live: Live) -> None:
    person.visit(f"{person.create_companion()}memories/")
    page = person.page
    for fact in ("The cat Pebble is afraid of thunder", "Pebble the cat is afraid of thunder and of rain"):
        page.get_by_text("Add a fact").click()
        page.get_by_label("What is remembered").fill(fact)
        page.get_by_role("button", name="Remember this").click()
    person.go("Talk")
    expect(page.locator("#send")).to_be_enabled()
    call = {"name": "forget", "arguments": {"what": "Pebble is afraid of thunder"}}
    live.rehearsal.script({"tool_calls": [call]}, {"answer": "Look at what would go."})
    person.write("Please forget that Pebble is afraid of thunder")
    person.hears("Look at what would go.")
    card = page.get_by_role("form", name="These would be forgotten")
    expect(card.get_by_role("checkbox")).to_have_count(4)
    card.get_by_role("checkbox", name="The cat Pebble").focus()
    page.keyboard.press("Space")
    card.get_by_role("button", name="Forget these").click()
    expect(page.get_by_text("3 things have been forgotten.")).to_be_visible()
    expect(card).to_have_count(0)
    expect(page.get_by_text("Please forget that Pebble")).to_have_count(0)
    person.go("Memory")
    page.get_by_label("Which memories").select_option("fact")
    expect(page.locator(".memory")).to_have_count(1)
    expect(page.locator("#memories")).to_contain_text("The cat Pebble is afraid")


def test_correcting_and_pinning_by_keyboard_keeps_the_focus_where_one_works(person: Person) -> None:
    page = add_fact(person)
    memory = page.locator(".memory", has_text="The harbour freezes")
    memory.get_by_role("link", name="Correct").press("Enter")
    expect(page.locator("#memories").get_by_label("What is remembered")).to_be_focused()
    page.keyboard.type(", says Ana")  # at the end
    page.get_by_role("button", name="Save").press("Enter")
    memory = page.locator(".memory", has_text="The harbour freezes in winter, says Ana")
    expect(memory.get_by_role("link", name="Correct")).to_be_focused()
    pin = memory.get_by_role("button", name="Pin")
    pin.press("Enter")
    expect(pin).to_have_attribute("aria-pressed", "true")
    page.evaluate(PRESS_AS_SWAPPED)
    pin.press("Enter")
    page.wait_for_function("() => window.isPressed")  # unpinned, and pinned again at once
    expect(pin).to_have_attribute("aria-pressed", "true")
    expect(pin).to_be_focused()
