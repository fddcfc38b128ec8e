"""What happens to words when things break: the web process dies, the connection falls, two windows are open."""

import re

import pytest
from playwright.sync_api import Browser, Locator, Route, WebSocketRoute, expect

from tests.browser.line import Line, come_back
from tests.browser.person import Person
from tests.fixtures.live import Live

pytestmark = pytest.mark.browser


def slowly(count: int) -> dict[str, object]:
    return {"pieces": [f"word{number} " for number in range(count)], "delay_between": 0.05}


def in_another_tab(person: Person) -> Person:
    """Return the person with the same talk in another tab, ready to write."""
    other = Person(person.page.context.new_page(), person.live)
    other.page.goto(person.page.url)
    expect(other.page.locator("#send")).to_be_enabled()
    return other


def test_a_killed_web_process_leaves_what_was_said_and_takes_what_was_not_sent(
    person: Person, live: Live
) -> None:
    person.make_companion()
    live.rehearsal.script(slowly(400))
    person.write("Tell me a long story")
    expect(person.last_answer).to_contain_text("word20 ")
    live.kill_web()
    expect(person.page.get_by_text("The connection was lost. Reconnecting…")).to_be_visible()
    person.write("Are you still there?")
    live.start_web()
    expect(person.page.get_by_text("what was said so far is kept")).to_be_visible(timeout=45_000)
    said = person.answers.nth(1).inner_text()
    assert "word10 word11 word12" in said
    expect(person.open_replies).to_have_count(0, timeout=45_000)
    expect(person.page.locator(".said-by-person")).to_have_count(2)
    expect(person.page.get_by_text("The connection was lost. Reconnecting…")).to_have_count(0)
    person.page.reload()
    expect(person.page.locator(".said-by-person .words")).to_have_text(
        ["Tell me a long story", "Are you still there?"]
    )


def test_two_windows_show_the_same(person: Person, live: Live, browser: Browser) -> None:
    person.make_companion()
    other = person.page.context.new_page()
    other.goto(person.page.url)
    expect(other.locator("#send")).to_be_enabled()
    live.rehearsal.script(slowly(30))
    person.write("Tell me a story")
    expect(other.locator(".said-by-person .words")).to_have_text("Tell me a story")
    person.hears("word29")
    expect(other.locator("[data-reply]")).to_have_count(0)
    expect(person.open_replies).to_have_count(0)
    told = other.locator("#turns .said-by-companion .words").last.inner_text().strip()
    expect(person.last_answer).to_have_text(told)
    assert told.startswith("word0 word1 ")
    other.locator(".said-by-person").get_by_label("More").click()
    mine = person.page.locator(".said-by-person")
    mine.get_by_label("More").click()
    mine.get_by_role("link", name="Edit", exact=True).click()
    person.page.get_by_label("Your words").fill("Tell me a long story")
    person.page.get_by_role("button", name="Correct the wording").click()
    expect(other.locator(".said-by-person .words")).to_have_text("Tell me a long story")
    expect(other.locator(".said-by-person .menu-list")).to_be_visible()  # it was open before
    answers = other.locator("#turns .said-by-companion .words")
    _delete(person.page.locator(".said-by-person"), keeps_answer=True)
    expect(other.locator(".said-by-person")).to_have_count(0)
    expect(answers).to_have_text(["Hello, I am Mira.", told])
    _delete(person.page.locator(".said-by-companion").last)
    expect(answers).to_have_text(["Hello, I am Mira."])
    expect(person.answers).to_have_text(["Hello, I am Mira."])


def _delete(message: Locator, keeps_answer: bool = False) -> None:
    message.get_by_label("More").click()
    message.get_by_text("Delete", exact=True).click()
    dialog = message.page.get_by_role("dialog")
    if keeps_answer:
        dialog.get_by_role("checkbox").uncheck()
    dialog.get_by_role("button", name="Delete").click()
    expect(dialog).to_have_count(0)


def test_words_that_wait_are_marked_may_be_changed_and_go_out_once_in_their_order(
    person: Person, live: Live
) -> None:
    person.make_companion()
    page = person.page
    said = page.locator(".said-by-person .words")
    with Line(live.port) as line:
        talk = f"{line.url}{page.url.removeprefix(live.url)}"
        page.goto(talk)
        expect(page.locator("#send")).to_be_enabled()
        line.fall()
        for text in ("Is anyone there?", "Nobody", "I wait", "I weight"):
            person.write(text)
        waiting = page.locator(".turn", has=page.locator(".waits"))
        expect(waiting).to_have_count(4)
        expect(waiting.first).to_contain_text("Waiting. It will be sent when the connection is back.")
        waiting.filter(has_text="Nobody").get_by_role("button", name="Discard").click()
        waiting.filter(has_text="I weight").get_by_role("button", name="Edit").click()
        expect(page.locator("#message")).to_have_value("I weight")
        greeting = page.locator(".said-by-companion").first
        greeting.get_by_label("More").click()
        greeting.get_by_role("button", name="Quote").click()
        person.write("It rains")
        expect(said).to_have_text(["Is anyone there?", "I wait", "It rains"])
        page.goto("about:blank")
        line.is_down = False
        page.goto(talk)
        expect(page.locator("#turns .said-by-companion .words")).to_have_count(4)
        person.hears("I am listening")
        expect(waiting).to_have_count(0)
        page.reload()
        expect(said).to_have_text(["Is anyone there?", "I wait", "It rains"])
        expect(page.locator(".said-by-person .quoted")).to_have_count(1)
        expect(page.locator(".said-by-person").last.locator(".quoted")).to_contain_text("Mira")


def test_what_comes_while_what_was_missed_is_asked_for_stays_in_its_place(person: Person, live: Live) -> None:
    person.make_companion()
    page, other = person.page, in_another_tab(person)
    sockets, held = list[WebSocketRoute](), list[tuple[Route, str]]()

    def pass_on(socket: WebSocketRoute) -> None:
        socket.connect_to_server()
        sockets.append(socket)

    page.route_web_socket(re.compile("/ws/companions/"), pass_on)
    page.route(re.compile(r"/turns/$"), lambda route: held.append((route, route.fetch().text())), times=1)
    page.reload()
    live.rehearsal.script({"answer": "I see."}, slowly(200))
    person.write("Are you there?")
    person.hears("I see.")
    sockets[-1].close(code=1012)
    while not held:
        page.wait_for_timeout(50)
    other.write("From elsewhere")
    here = page.locator(".said-by-person .words").get_by_text("From elsewhere")
    expect(here).to_have_count(1)
    route, text = held[0]
    route.fulfill(body=text, content_type="text/html")
    page.wait_for_timeout(500)
    assert here.count() == 1


def test_a_late_response_brings_back_nothing_deleted_and_no_earlier_words(person: Person, live: Live) -> None:
    person.make_companion()
    page, other = person.page, in_another_tab(person)
    held = list[tuple[Route, str]]()

    def ask_for_turn() -> None:
        """Hold what the page is given of the turn, as it is now."""
        page.evaluate(
            "id => document.body.dispatchEvent(new CustomEvent('turn-changed', {detail: {turn: id}}))", turn
        )
        while not held:
            page.wait_for_timeout(50)

    def let_arrive() -> None:
        route, text = held.pop()
        with page.expect_response(route.request.url):
            route.fulfill(body=text, content_type="text/html")
        page.wait_for_timeout(300)

    live.rehearsal.script({"answer": "I see."})
    person.write("Are you there?")
    person.hears("I see.")
    said = page.locator(".said-by-person .words")
    turn = page.locator(".turn", has=said).get_attribute("data-turn")
    hold = re.compile(rf"/turns/{turn}/$")
    page.route(hold, lambda route: held.append((route, route.fetch().text())), times=1)
    ask_for_turn()
    other.page.locator(".said-by-person").get_by_label("More").click()
    other.page.get_by_role("link", name="Edit", exact=True).click()
    other.page.get_by_label("Your words").fill("Are you here?")
    other.page.get_by_role("button", name="Correct the wording").click()
    expect(said).to_have_text("Are you here?")
    let_arrive()
    assert said.all_inner_texts() == ["Are you here?"]
    page.route(hold, lambda route: held.append((route, route.fetch().text())), times=1)
    ask_for_turn()
    _delete(other.page.locator(".said-by-person"))
    expect(said).to_have_count(0)
    let_arrive()
    assert said.all_inner_texts() == []
    live.rehearsal.script({"answer": "I see."})
    person.write("Are you still there?")
    person.hears("I see.")
    page.route(re.compile("/turns/$"), lambda route: held.append((route, route.fetch().text())), times=1)
    page.evaluate("dispatchEvent(new Event('offline'))")  # after which it asks for what it missed
    while not held:
        page.wait_for_timeout(50)
    _delete(other.page.locator(".said-by-person"))
    expect(said).to_have_count(0)
    let_arrive()
    assert said.all_inner_texts() == []


def test_an_answer_deleted_while_the_line_was_down_is_not_asked_for(person: Person, live: Live) -> None:
    person.make_companion()
    page = person.page
    with Line(live.port) as line:
        page.goto(f"{line.url}{page.url.removeprefix(live.url)}")
        expect(page.locator("#send")).to_be_enabled()
        live.rehearsal.script(slowly(400), {"answer": "I see."})
        person.write("Tell me a story")
        expect(person.last_answer).to_contain_text("word3 ")
        line.fall()
        companion, message = (
            page.url.split("/")[-2],
            page.locator(".said-by-person").get_attribute("data-message"),
        )
        live.run(
            "from uuid import UUID; from django.utils import timezone; from companions.deletion import delete_messages;"
            f"delete_messages(UUID({companion!r}), [UUID({message!r})], timezone.now())"
        )
        page.wait_for_timeout(3_000)  # until its making is given up, of which the page hears nothing
        line.is_down = False
        come_back(page)
        expect(page.locator(".said-by-person")).to_have_count(0)
        person.write("Are you there?")
        person.hears("I see.")
        expect(page.locator("#connection")).to_have_text("")
        page.goto("about:blank")


def test_an_answer_that_began_before_the_page_listened_is_shown_once_it_ends(
    person: Person, live: Live
) -> None:
    person.make_companion()
    page, other = person.page, in_another_tab(person)

    def listen_late(socket: WebSocketRoute) -> None:
        """Pass on nothing of how the answer begins."""
        server = socket.connect_to_server()
        server.on_message(
            lambda told: None if re.search("message.saved|reply.started", str(told)) else socket.send(told)
        )

    page.route_web_socket(re.compile("/ws/companions/"), listen_late)
    page.reload()
    expect(page.locator("#send")).to_be_enabled()
    live.rehearsal.script({"answer": "I see."})
    other.write("From elsewhere")
    expect(page.locator(".said-by-person .words")).to_have_text("From elsewhere")
    person.hears("I see.")


def test_what_was_said_before_the_page_listened_is_shown_once_it_does(person: Person, live: Live) -> None:
    person.make_companion()
    page, other = person.page, in_another_tab(person)
    held = list[Route]()
    page.route(re.compile("/talk/connection"), lambda route: held.append(route), times=1)
    page.reload(wait_until="commit")
    expect(page.locator(".said-by-companion")).to_have_count(1)
    while not held:  # the page is here, and its scripts are on the way
        page.wait_for_timeout(50)
    live.rehearsal.script({"answer": "I see."})
    other.write("From elsewhere")
    expect(other.answers).to_have_text(["Hello, I am Mira.", "I see."])
    held[0].continue_()
    expect(page.locator(".said-by-person .words")).to_have_text("From elsewhere")
    expect(person.answers).to_have_text(["Hello, I am Mira.", "I see."])


def test_what_was_missed_while_redis_was_away_is_brought(person: Person, live: Live) -> None:
    person.make_companion()
    page, other = person.page, in_another_tab(person)
    sockets = list[WebSocketRoute]()

    def hear_nothing(socket: WebSocketRoute) -> None:
        socket.connect_to_server().on_message(lambda told: None)
        sockets.append(socket)

    page.route_web_socket(re.compile("/ws/companions/"), hear_nothing)
    page.reload()
    expect(page.locator("#send")).to_be_enabled()
    live.rehearsal.script({"answer": "I see."})
    other.write("From elsewhere")
    expect(other.answers).to_have_text(["Hello, I am Mira.", "I see."])
    expect(other.open_replies).to_have_count(0)
    expect(person.answers).to_have_text(["Hello, I am Mira."])
    sockets[-1].send('{"type": "messages.missed"}')
    expect(person.answers).to_have_text(["Hello, I am Mira.", "I see."])


def test_a_line_that_leads_nowhere_is_left_and_loses_nothing(person: Person, live: Live) -> None:
    person.make_companion()
    page = person.page
    with Line(live.port) as line:
        page.goto(f"{line.url}{page.url.removeprefix(live.url)}")
        expect(page.locator("#send")).to_be_enabled()
        live.rehearsal.script(slowly(60), {"answer": "I am."})
        person.write("Tell me a story")
        expect(person.last_answer).to_contain_text("word3 ")
        line.lose()
        person.write("Are you there?")
        expect(page.locator(".waits")).to_contain_text("It will be sent when the connection is back.")
        person.hears("I am.")
        expect(person.answers.nth(1)).to_contain_text("word59")
        expect(page.locator(".said-by-person .words")).to_have_text(["Tell me a story", "Are you there?"])
        page.goto("about:blank")


def test_who_is_signed_out_elsewhere_while_an_answer_is_made_is_told_and_stays(
    person: Person, live: Live
) -> None:
    page = person.page
    person.make_companion()
    talk = page.url
    live.rehearsal.script(slowly(200))
    person.write("Tell me a story")
    expect(person.last_answer).to_contain_text("word5 ")
    key = next(cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "sessionid")
    live.run(f"from django.contrib.sessions.models import Session; Session.objects.get(pk={key!r}).delete()")
    # What was said elsewhere in that moment.
    with page.expect_response("**/gauge/"):
        page.evaluate("document.body.dispatchEvent(new CustomEvent('turns-arrived'))")
    expect(page.get_by_text("You have been signed out.")).to_be_visible()
    expect(page.get_by_role("link", name="Sign in")).to_be_visible()
    page.wait_for_timeout(500)
    assert page.url == talk
