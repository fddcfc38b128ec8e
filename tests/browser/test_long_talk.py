"""A talk of many messages in a browser: it scrolls at both ends, holds few of them at once, and stays in its place."""

import re

import pytest
from playwright.sync_api import Route, expect

from tests.browser.person import Person

pytestmark = pytest.mark.browser
LENGTH = 460
FILL = """
from datetime import timedelta
from django.utils import timezone
from companions.conversations.messages import open_session, say_all
from companions.models import Companion, Message
companion = Companion.objects.select_related("conversation", "user").get(pk="COMPANION")
now = timezone.now()
said, session = [], open_session(companion.conversation, now)
for number in range(LENGTH):
    said.append(Message(companion=companion, conversation=companion.conversation, session=session,
        parent=said[-1] if said else None, role="assistant" if number % 2 else "user", text=f"Word {number}.",
        said_at=now - timedelta(minutes=LENGTH - number)))
say_all(companion, said, now)
companion.conversation.head = said[-1]
companion.conversation.save(update_fields=["head"])
print(said[LENGTH // 2].pk)
"""
COUNT = "document.querySelectorAll('#turns [data-message]').length"
FIRST = "[...document.querySelectorAll('#turns .words')].at(0).innerText"
LAST = "[...document.querySelectorAll('#turns .words')].at(-1).innerText"


def have_talked(person: Person) -> tuple[str, str]:
    """Create a companion with a long talk; return the talk's path, and the id of the message in the middle."""
    path = person.create_companion(greeting="")
    script = FILL.replace("COMPANION", path.split("/")[2]).replace("LENGTH", str(LENGTH))
    return path, person.live.run(script).strip()


def test_a_long_talk_scrolls_with_few_messages_on_the_page(person: Person) -> None:
    page = person.page
    path, _ = have_talked(person)
    person.visit(path)
    expect(page.locator("#turns .words").last).to_have_text(f"Word {LENGTH - 1}.")
    most = 0
    page.locator(
        "#turns .menu > summary"
    ).last.focus()  # what one has used last does not keep its place for ever
    while (first := page.evaluate(FIRST)) != "Word 0.":
        page.evaluate("scrollTo(0, 400)")
        expect(page.locator("#turns .words").first).not_to_have_text(first)
        most = max(most, page.evaluate(COUNT))
    assert 100 < most <= 400
    assert page.evaluate(LAST) != f"Word {LENGTH - 1}."
    page.get_by_role("button", name="Latest").click()
    expect(page.locator("#turns .words").last).to_have_text(f"Word {LENGTH - 1}.")
    person.write("Are you there?")
    person.hears("")
    expect(page.locator(".said-by-person .words").last).to_have_text("Are you there?")
    expect(page.locator(".said-by-person .words").last).to_be_in_viewport()


def test_what_is_read_stays_under_the_eyes_as_more_comes(person: Person) -> None:
    page = person.page
    path, middle = have_talked(person)
    person.visit(f"{path}?at={middle}")
    found = page.locator(f"#message-{middle}")
    expect(found).to_be_focused()
    expect(found).to_be_in_viewport()
    top = "document.activeElement.getBoundingClientRect().top"
    words = page.locator("#turns .words")
    for edge, link in ((words.first, "data-before"), (words.last, "data-after")):
        before = edge.inner_text()
        # To where the end of what is here is about to be seen.
        at = page.evaluate(f"document.querySelector('[{link}]').scrollIntoView(); {top}")
        expect(edge).not_to_have_text(before)
        assert abs(page.evaluate(top) - at) < 2
    expect(page.get_by_text("Later messages")).to_have_count(1)
    person.write("And now?")
    expect(page.locator(".said-by-person .words").last).to_have_text("And now?")
    person.hears("")
    expect(page.locator("#turns .words").filter(has_text=f"Word {LENGTH - 1}.")).to_have_count(1)
    expect(found).to_have_count(0)


MEANWHILE = """async () => {
  const first = document.querySelector("#turns .turn");
  const edge = first.querySelector("[data-message]").dataset.message;
  const response = await fetch(`${document.getElementById("talk").dataset.turns}?meanwhile=1&before=${edge}`);
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  first.before(...[...page.querySelectorAll(".turn")].slice(-2));
  return [...document.querySelectorAll("#turns .words")].slice(0, 2).map((said) => said.innerText);
}"""


def test_a_phone_that_is_turned_shows_what_was_read(person: Person) -> None:
    page = person.page
    page.set_viewport_size({"width": 390, "height": 844})
    person.visit(
        person.create_companion(greeting="\n\n".join(f"Part {n}. {'Word. ' * 30}" for n in range(40)))
    )
    part = page.locator(".words > p", has_text="Part 20.")
    part.evaluate("part => scrollBy(0, part.getBoundingClientRect().top - 150)")
    page.wait_for_timeout(100)
    page.set_viewport_size({"width": 844, "height": 390})
    expect(part).to_be_in_viewport()


def test_what_has_come_meanwhile_is_not_brought_twice(person: Person) -> None:
    page = person.page
    path, _ = have_talked(person)
    held: list[Route] = []
    page.route(re.compile(r"/turns/\?before="), lambda route: held.append(route))
    person.visit(path)
    expect(page.locator("#turns .words").last).to_have_text(f"Word {LENGTH - 1}.")
    with page.expect_request(re.compile(r"/turns/\?before=")):
        page.evaluate("scrollTo(0, 400)")
    here = page.evaluate(MEANWHILE)
    held[0].continue_()
    expect(page.locator("#turns .words").first).not_to_have_text(here[0])
    for text in here:
        expect(page.locator("#turns .words").get_by_text(text, exact=True)).to_have_count(1)


def test_new_words_wait_below_while_one_reads_what_is_past(person: Person) -> None:
    page = person.page
    path, middle = have_talked(person)
    other = page.context.new_page()
    other.goto(f"{person.live.url}{path}")
    person.visit(f"{path}?at={middle}")
    expect(page.locator(f"#message-{middle}")).to_be_focused()
    other.locator("#message").fill("From elsewhere")
    other.locator("#message").press("Enter")
    news = page.get_by_role("button", name="New messages below")
    expect(news).to_be_visible()
    expect(page.locator(f"#message-{middle}")).to_be_in_viewport()
    news.click()
    expect(page.locator("#turns").get_by_text("From elsewhere")).to_be_in_viewport()
    expect(news).to_be_hidden()


def test_the_search_opens_by_its_keys_and_leads_to_the_place(person: Person) -> None:
    page = person.page
    person.make_companion()
    person.write("My exam is on Friday")
    person.hears("Friday")
    page.keyboard.press("Control+k")
    words = page.get_by_role("dialog").get_by_label("Words that were said")
    expect(words).to_be_focused()
    words.press_sequentially("exa")
    expect(page.locator(".found mark").last).to_have_text("exa")
    page.locator(".found a").last.click()
    expect(page.locator(".is-found .words")).to_have_text("My exam is on Friday")
    expect(page.locator(".is-found")).to_be_focused()


AWAY = """
from datetime import timedelta
from django.utils import timezone
from companions.models import Companion, Conversation, Message, Waking
companion = Companion.objects.select_related("conversation", "user").get(pk="COMPANION")
now, parent = timezone.now(), companion.conversation.head
Conversation.objects.filter(companion=companion).update(read_until=now - timedelta(days=90))
for number in range(90):
    at = now - timedelta(days=89 - number)
    waking = Waking.objects.create(companion=companion, origin="timer", due_at=at, created_at=at)
    parent = Message.objects.create(companion=companion, conversation=companion.conversation, parent=parent,
        session=parent.session, role="system" if number > 80 else "assistant", text=f"Day {number}.", said_at=at,
        waking=waking)
Message.objects.filter(companion=companion, waking=None).update(said_at=now - timedelta(days=91))
Conversation.objects.filter(companion=companion).update(head=parent)
"""
UNREAD = """
from django.utils import timezone
from companions.life.outreach import count_unread
from companions.models import Companion
print(sum(count_unread(Companion.objects.get(pk="COMPANION").user, timezone.now()).values()))
"""


def test_who_comes_back_begins_where_they_left_off(person: Person) -> None:
    page = person.page
    path, _ = have_talked(person)
    companion = path.split("/")[2]
    count = UNREAD.replace("COMPANION", companion)
    person.live.run(AWAY.replace("COMPANION", companion))
    with page.expect_response("**/read/"):
        person.visit(path)
    expect(page.get_by_role("heading", name="New since you were here")).to_be_in_viewport()
    expect(page.get_by_text("Day 0.", exact=True)).to_be_in_viewport()
    assert int(person.live.run(count)) > 70  # what was not on the screen yet
    news = page.get_by_role("button", name="New messages below")
    news.click()
    expect(page.get_by_text("Day 89.", exact=True)).to_be_in_viewport()
    expect(news).to_be_hidden()
    person.visit("/companions/")
    expect(page.locator(".person .unread")).to_be_hidden()


COME = """
from django.utils import timezone
from companions.life.wakings.waking import post_message
from companions.models import Companion, Waking
now = timezone.now()
companion = Companion.objects.select_related("conversation", "user", "life").get(pk="COMPANION")
waking = Waking.objects.create(companion=companion, origin="timer", due_at=now, created_at=now)
post_message(companion, waking, "NUMBER " + "It rains. " * 60, now, is_notice=False)
"""
HIDE = """isHidden => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.mark.parametrize("is_connected", [True, False])
def test_a_talk_that_was_left_open_marks_what_has_come_meanwhile(person: Person, is_connected: bool) -> None:
    page = person.page
    page.set_viewport_size({"width": 390, "height": 844})
    path = person.create_companion()
    last = page.locator("#turns").get_by_text("2 It rains.")
    person.visit(path)
    expect(page.locator("#send")).to_be_enabled()
    expect(page.locator(".new-since")).to_have_count(0)
    page.evaluate(HIDE, True)
    page.context.set_offline(not is_connected)
    for number in range(3):
        person.live.run(COME.replace("COMPANION", path.split("/")[2]).replace("NUMBER", str(number)))
    page.context.set_offline(False)
    expect(last).to_be_attached()
    page.evaluate(HIDE, False)
    expect(page.locator(".new-since")).to_have_count(1)
    expect(page.locator(".new-since")).to_be_in_viewport()
    expect(page.locator(".new-since + .turn")).to_contain_text("0 It rains.")
    expect(last).not_to_be_in_viewport()
    page.get_by_role("button", name="New messages below").click()
    expect(last).to_be_in_viewport()
    person.write("I am back")
    expect(page.locator(".new-since")).to_have_count(0)


def test_messages_that_come_at_once_stand_in_their_order(person: Person) -> None:
    page, path = person.page, person.create_companion()
    person.visit(path)
    expect(page.locator("#send")).to_be_enabled()
    held: list[Route] = []
    page.route(re.compile(r"/turns/[^/]+/$"), lambda route: held.append(route), times=1)
    for number in range(2):
        person.live.run(COME.replace("COMPANION", path.split("/")[2]).replace("NUMBER", str(number)))
    while not held:
        page.wait_for_timeout(50)
    page.wait_for_timeout(500)  # the second would be here by now
    held[0].continue_()
    said = page.locator("#turns .said-by-companion .words")
    expect(said).to_contain_text(["Hello, I am Mira.", "0 It rains.", "1 It rains."])


# As the browser tells of a scroll, but only in its next frame, before which a message may come.
GROW = """() => {
  const turn = document.querySelector("#turns .turn");
  turn.after(turn.cloneNode(true));
  dispatchEvent(new Event("scroll"));
}"""


def test_who_is_at_the_end_stays_there_though_a_message_comes_before_the_scroll_to_it_is_told(
    person: Person,
) -> None:
    person.make_companion(greeting="A line.\n\n" * 60 + "The end.")
    end = person.page.get_by_text("The end.").last
    expect(end).to_be_in_viewport()
    person.page.evaluate(GROW)
    expect(end).to_be_in_viewport()
    expect(person.page.locator("#latest")).to_be_hidden()


def test_the_line_above_what_is_new_goes_with_the_only_message_below_it(person: Person) -> None:
    page, path = person.page, person.create_companion()
    person.live.run(COME.replace("COMPANION", path.split("/")[2]).replace("NUMBER", "0"))
    person.visit(path)
    expect(page.locator(".new-since")).to_have_count(1)
    page.locator(".turn", has_text="0 It rains.").locator(".menu > summary").last.click()
    page.locator(".menu[open]").get_by_role("link", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.locator(".turn", has_text="0 It rains.")).to_have_count(0)
    expect(page.locator(".new-since")).to_have_count(0)
