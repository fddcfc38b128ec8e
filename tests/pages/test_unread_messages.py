"""What is unread and becomes read, what is said unprompted in the talk, and what a person must be told."""

import re
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.template.loader import render_to_string
from django.test import Client
from django.utils import timezone

from accounts.models import User
from companions.conversations.messages import open_session
from companions.life.outreach import count_unread, mark_read
from companions.models import Companion, Conversation, Message, Reply, Timer, Waking
from safety import notices
from safety.models import Notice
from tests.fixtures.turns import make_companion
from tests.pages.conftest import Told, answered
from tests.pages.test_life import spoke


@pytest.fixture
def quiet(mira: Companion) -> Companion:
    """A companion of whom all is read."""
    mark_read(mira, timezone.now())
    return mira


def badge(page: str, of: str) -> str:
    """What the badge of that companion shows; nothing where it is hidden."""
    found = re.search(rf'data-unread="{of}"( hidden)?><span class="unread-count">(\d+)<', page)
    assert found, "no badge"
    return "" if found[1] else found[2]


def test_the_list_shows_what_is_unread_of_each_and_in_all(
    at_home: Client, alice: User, quiet: Companion
) -> None:
    other = make_companion(alice, name="Other")
    mark_read(other, timezone.now())
    for number in range(2):
        spoke(quiet, f"Look {number}", timezone.now() + timedelta(microseconds=number))
    page = at_home.get("/companions/").content.decode()
    assert badge(page, str(quiet.pk)) == "2"
    assert badge(page, str(other.pk)) == ""
    assert badge(page, "") == "2"


def come(companion: Companion, count: int, since: datetime) -> list[Message]:
    """Messages that the companion has written unasked at the end of the talk, the first one at `since`."""
    said: list[Message] = []
    for number in range(count):
        at = since + timedelta(microseconds=number)
        waking = Waking.objects.create(companion=companion, origin="timer", due_at=at, created_at=at)
        parent = said[-1] if said else companion.conversation.head
        told = {
            "role": "assistant",
            "text": f"Look {number}",
            "said_at": at,
            "waking": waking,
            "parent": parent,
        }
        session = open_session(companion.conversation, at)
        said.append(
            Message(companion=companion, conversation=companion.conversation, session=session, **told)
        )
    Message.objects.bulk_create(said)
    Conversation.objects.filter(companion=companion).update(head=said[-1])
    return said


@pytest.mark.parametrize("count", [3, 60])
def test_the_talk_marks_where_what_came_in_an_absence_begins(
    at_home: Client, quiet: Companion, count: int
) -> None:
    answered(quiet, "Bye for now", "Bye")
    quiet.conversation.refresh_from_db()
    mark_read(quiet, timezone.now())

    def shown() -> str:
        return at_home.get(f"/companions/{quiet.pk}/").content.decode().split('id="turn-template"')[0]

    assert "new-since" not in shown()
    first = come(quiet, count, timezone.now())[0]
    before, after = shown().split('id="new-since"')
    assert "Bye for now" in before
    assert after.split('id="turn-')[1].startswith(str(first.pk))
    answered(quiet, "I am back", "Welcome")
    assert "new-since" not in shown()


def test_a_reminder_of_kiths_own_that_comes_again_and_again_is_shown_once(
    at_home: Client, quiet: Companion
) -> None:
    answered(quiet, "Bye for now", "Bye")
    quiet.conversation.refresh_from_db()
    said = come(quiet, 120, timezone.now())
    Message.objects.filter(pk__in=[message.pk for message in said]).update(role="system")
    Waking.objects.filter(message__in=said).update(timer=Timer.objects.get(companion=quiet, name="morning"))
    talk = f"/companions/{quiet.pk}/"
    for path in (talk, f"{talk}turns/"):
        newest = at_home.get(path).content.decode()
        assert (newest.count("said-by-kith"), newest.count('id="new-since"')) == (1, 1 + (path == talk))
        assert newest.index('id="new-since"') < newest.index("Look 119")
        assert "120 reminders since" in newest
        assert "Bye for now" in newest
    Message.objects.filter(pk=said[59].pk).update(role="user", waking=None)
    newest = at_home.get(f"{talk}turns/").content.decode()
    assert newest.count("said-by-kith") == 2  # of before and after what the person said
    assert "59 reminders since" in newest
    assert "60 reminders since" in newest


def test_more_than_99_unread_are_not_counted_out() -> None:
    assert ">99<" in render_to_string("parts/unread.html", {"of": "", "count": 99})
    assert ">99+<" in render_to_string("parts/unread.html", {"of": "", "count": 100})


def test_what_was_seen_is_read_up_to_it(at_home: Client, alice: User, quiet: Companion) -> None:
    at = timezone.now() - timedelta(minutes=3)
    Conversation.objects.filter(companion=quiet).update(read_until=at - timedelta(minutes=1))
    first, second = spoke(quiet, "One", at), spoke(quiet, "Two", at + timedelta(minutes=1))
    path = f"/companions/{quiet.pk}/read/"
    assert count_unread(alice, timezone.now()) == {quiet.pk: 2}
    assert at_home.post(path, {"message": str(first.pk)}).status_code == 204
    assert count_unread(alice, timezone.now()) == {quiet.pk: 1}
    assert at_home.post(path, {"message": str(second.pk)}).status_code == 204
    assert count_unread(alice, timezone.now()) == {}


def test_nothing_is_read_by_what_is_not_there(at_home: Client, alice: User, quiet: Companion) -> None:
    spoke(quiet, "Look", timezone.now())
    path = f"/companions/{quiet.pk}/read/"
    assert at_home.post(path).status_code == 400
    assert at_home.post(path, {"message": "newest"}).status_code == 404
    assert at_home.post(path, {"message": str(uuid4())}).status_code == 404
    assert count_unread(alice, timezone.now()) == {quiet.pk: 1}


def test_what_is_said_unprompted_is_a_turn_of_its_own(at_home: Client, told: Told) -> None:
    """Even where it follows a message that got no answer."""
    asked = answered(told.companion, "Are you there?", "", Reply.State.FAILED).message
    said = spoke(told.companion, "I was **elsewhere**.", timezone.now())
    Message.objects.filter(pk=said.pk).update(parent=asked)
    Conversation.objects.filter(companion=told.companion).update(head=said)
    talk = at_home.get(told.path).content.decode()
    assert f'id="turn-{said.pk}"' in talk
    assert "<strong>elsewhere</strong>" in talk
    assert f"life/#logged-{said.waking_id}" in talk
    assert "elsewhere" not in at_home.get(f"{told.path}turns/{asked.pk}/").content.decode()
    assert "elsewhere" in at_home.get(f"{told.path}turns/{said.pk}/").content.decode()


def test_the_talk_says_at_the_start_of_a_day_what_it_is_and_what_else_must_be_told(
    at_home: Client, alice: User, mira: Companion, settings: Any
) -> None:
    settings.BREAK_AFTER = timedelta(minutes=90)
    now = timezone.now()
    talk = f"/companions/{mira.pk}/"
    assert "Mira is an AI, not a person." in at_home.get(talk).content.decode().split("<template")[0]
    moments = [now - timedelta(minutes=minutes) for minutes in range(120, -1, -20)]
    told = [notice for at in moments for notice in notices.record_use(alice, at, at)]
    # Midnight may have passed meanwhile.
    (notice,) = (notice for notice in told if notice.kind == Notice.Kind.BREAK)
    answered(mira, "hello", "hello")
    page = at_home.get(talk).content.decode()
    assert page.split('<h2 class="day">')[1].split("</p>")[0].endswith("Mira is an AI, not a person.")
    assert "You are talking with an AI, not with a person." not in page
    assert "A break would do you good." in page
    response = at_home.post(f"/notices/{notice.pk}/seen/", {"next": talk})
    assert response["Location"] == talk
    assert "A break would do you good." not in at_home.get(talk).content.decode()


def test_after_a_notice_nobody_is_sent_elsewhere(at_home: Client, alice: User) -> None:
    (notice,) = notices.record_use(alice, timezone.now(), timezone.now())
    response = at_home.post(f"/notices/{notice.pk}/seen/", {"next": "https://evil.example/"})
    assert response["Location"] == "/companions/"


def test_another_persons_notice_does_not_exist(at_home: Client, bob: User) -> None:
    (notice,) = notices.record_use(bob, timezone.now(), timezone.now())
    assert at_home.post(f"/notices/{notice.pk}/seen/").status_code == 404
    notice.refresh_from_db()
    assert notice.seen_at is None
