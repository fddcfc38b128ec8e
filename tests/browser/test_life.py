"""A life of its own in a browser, on the real clock: a reminder that comes, a badge, timers, mute.

What workers and beat do is done here by Kith's shell: it runs the very functions of their tasks twice a second.
"""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.browser.person import Person
from tests.fixtures.live import Live

pytestmark = pytest.mark.browser
DUE_MS = 60_000  # some seconds, and time for the tick, the waking and a busy machine

LIVING = """
from django.utils import timezone
from companions.life.timers import timers
from companions.life.wakings import waking
now = timezone.now()
timers.begin_wakings(timers.claim_timers(now, 100), now)
for waking_id in waking.find_due(now):
    waking.run(waking_id, timezone.now)
"""


@pytest.fixture
def living(live: Live) -> Iterator[None]:
    """A process beside the web one in which companions wake."""
    with live.working(LIVING):
        yield


def place(person: Person) -> str:
    return person.page.url.removeprefix(person.live.url)


def ask_for(person: Person, seconds: int) -> None:
    """Ask in words for a reminder, without waiting for the answer, which may come before anybody has looked."""
    person.write(f"Remind me in {seconds}s to stretch")
    expect(person.page.locator(".turn[data-turn] .said-by-person")).to_have_count(1)


@pytest.mark.usefixtures("living")
def test_a_reminder_comes_into_the_open_talk(person: Person) -> None:
    person.make_companion()
    page = person.page
    expect(page.locator(".turn .is-ai:visible")).to_have_text("Mira is an AI, not a person.")
    ask_for(person, 3)
    expect(person.answers).to_have_count(3, timeout=DUE_MS)
    expect(person.last_answer).to_contain_text("stretch")
    page.locator(".turn").last.get_by_role("link", name="why it wrote").click()
    expect(page.locator(".logged-spoke")).to_contain_text("It wrote to you.")
    expect(page.locator(".logged-spoke")).to_contain_text("after 3 seconds")
    with page.expect_response("**/read/"):  # whoever leaves sooner has not read it
        person.go("Talk")
    expect(person.last_answer).to_contain_text("stretch")
    person.visit("/companions/")
    expect(page.locator(".person .unread:visible")).to_have_count(0)


def test_it_comes_into_a_talk_that_was_open_for_long(person: Person, live: Live) -> None:
    sockets = list[WebSocketRoute]()

    def pass_on(socket: WebSocketRoute) -> None:
        socket.connect_to_server()
        sockets.append(socket)

    person.page.route_web_socket(re.compile("/ws/companions/"), pass_on)
    person.make_companion()
    ask_for(person, 3)
    expect(person.answers).to_have_count(2)
    expect(person.open_replies).to_have_count(0)
    sockets[-1].close(code=4408)  # as after an hour without a word
    with live.working(LIVING):
        expect(person.answers).to_have_count(3, timeout=DUE_MS)
    expect(person.last_answer).to_contain_text("stretch")


def test_it_comes_as_a_badge_where_the_talk_is_closed(person: Person, live: Live) -> None:
    person.make_companion(name="Badger")
    page, talk = person.page, place(person)
    ask_for(person, 3)
    # The page is left after the answer: one that ends later is unread as well.
    expect(person.answers).to_have_count(2)
    expect(person.open_replies).to_have_count(0)
    told = list[object]()
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: told.append(frame)))
    person.visit("/settings/")
    while not told:  # it listens
        page.wait_for_timeout(50)
    badge = page.locator(".top .unread-count")
    with live.working(LIVING):
        expect(page.locator(".arrival", has_text="stretch")).to_be_visible(timeout=DUE_MS)
    expect(badge).to_be_visible()
    expect(page).to_have_title(re.compile(r"^\(1\) "))
    person.visit("/companions/")
    card = page.locator(f'a.person[href="{talk}"]')
    expect(card.locator(".unread-count")).to_have_text("1")
    expect(card).to_contain_text("stretch")
    card.click()
    expect(person.last_answer).to_contain_text("stretch")
    expect(page).to_have_title("Badger · Kith")
    with page.expect_response("**/read/"):
        page.reload()
    person.visit("/companions/")
    expect(card.locator(".unread-count")).to_be_hidden()


def test_whoever_saw_an_answer_end_and_leaves_at_once_has_read_it(person: Person) -> None:
    person.make_companion()
    page = person.page
    # The finished answer's article does not come.
    page.route(re.compile(r"/turns/[^/]+/$"), lambda route: None)
    person.write("Hello")
    expect(person.answers).to_have_count(2)
    expect(person.open_replies).to_have_count(0)
    person.visit("/companions/")
    expect(page.locator(".person .unread:visible")).to_have_count(0)


def test_a_timer_is_set_seen_ahead_fired_and_cancelled(person: Person) -> None:
    person.visit(f"{person.create_companion()}timers/")
    page = person.page
    page.get_by_text("Repeating").click()
    expect(page.get_by_label("How long from now")).to_be_hidden()
    page.get_by_label("On which days").select_option("1-5")
    page.get_by_label("At what time").fill("08:00")
    expect(page.locator("#preview")).to_contain_text("every weekday at 08:00")
    expect(page.locator("#preview time")).to_have_count(5)
    page.get_by_label("What for").fill("Water the plants")
    page.get_by_role("button", name="Set the reminder").click()
    timer = page.locator(".timer", has_text="Water the plants")
    expect(timer).to_contain_text("set by you")
    person.go("Settings", "Advanced")
    page.get_by_role("link", name="Reminders as cron").click()
    expect(page.get_by_label("As cron")).to_be_checked()
    page.get_by_label("Five fields").fill("60 8 * * *")
    expect(page.locator("#preview")).to_contain_text("Minutes in a cron go from 0 to 59.")
    timer.get_by_role("button", name="Wake it now").click()
    expect(page.locator(".notices")).to_contain_text("Mira is waking for it now.")
    timer.get_by_role("button", name="Cancel").click()
    expect(timer).to_have_count(0)


def test_a_companion_is_muted_with_one_tap_and_its_life_changed_by_keyboard(person: Person) -> None:
    person.visit(f"{person.create_companion()}life/settings/")
    page = person.page
    page.get_by_role("button", name="Mute").press("Enter")
    expect(page.get_by_role("button", name="Unmute")).to_be_visible()
    page.get_by_label("may write first").press("Space")
    page.get_by_role("button", name="Save").press("Enter")
    expect(page.locator(".notices")).to_contain_text("Saved.")
    expect(page.get_by_label("may write first")).to_be_checked()
    expect(page.get_by_role("button", name="Unmute")).to_be_visible()


def test_that_it_is_an_ai_stands_where_the_day_begins_and_on_nothing_else(person: Person, page: Page) -> None:
    person.make_companion(greeting="")
    person.write("Hello")
    expect(person.answers).to_have_count(1)
    expect(page.locator(".turn .is-ai:visible")).to_have_text(["Mira is an AI, not a person."])
    expect(page.locator(".arrival", has_text="AI")).to_have_count(0)
    person.visit("/settings/")
    expect(page.locator("#arrivals")).to_be_attached()
    expect(page.locator(".arrival", has_text="AI")).to_have_count(0)
