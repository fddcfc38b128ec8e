"""A long talk in pages at both ends, from a message or a day on."""

from datetime import datetime, timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from companions.branches.operations import fork
from companions.conversations.messages import open_session, say_all
from companions.models import Companion, Message

pytestmark = pytest.mark.usefixtures("module_mira")
START = datetime.fromisoformat("2026-03-01T20:00:00+00:00")
LENGTH = 160


@pytest.fixture
def said(mira: Companion) -> list[Message]:
    """A long talk, a message every hour, both by turns."""
    session = open_session(mira.conversation, START)
    messages: list[Message] = []
    for number in range(LENGTH):
        role = Message.Role.ASSISTANT if number % 2 else Message.Role.USER
        messages.append(
            Message(
                companion=mira,
                conversation=mira.conversation,
                session=session,
                parent=messages[-1] if messages else None,
                role=role,
                text=f"Word {number}.",
                said_at=START + timedelta(hours=number),
            )
        )
    say_all(mira, messages, START)
    mira.conversation.head = messages[-1]
    mira.conversation.save(update_fields=["head"])
    return messages


def texts(page: object) -> list[str]:
    return [
        message.text
        for turn in page.turns  # type: ignore[attr-defined]
        for message in (turn.message, turn.answer)
        if message
    ]


def test_from_any_message_the_talk_goes_on_to_both_ends(
    at_home: Client, mira: Companion, said: list[Message]
) -> None:
    path = f"/companions/{mira.pk}/"
    page = at_home.get(f"{path}?at={said[80].pk}").context["page"]
    found = texts(page)
    earlier, later = page.earlier, page.later
    while earlier:
        page = at_home.get(f"{path}turns/?before={earlier}").context["page"]
        found, earlier = texts(page) + found, page.earlier
    while later:
        page = at_home.get(f"{path}turns/?after={later}").context["page"]
        found, later = found + texts(page), page.later
    assert found == [message.text for message in said]


def test_the_message_that_was_asked_for_is_marked_and_has_the_focus(
    at_home: Client, mira: Companion, said: list[Message]
) -> None:
    for message in (said[0], said[81]):
        page = at_home.get(f"/companions/{mira.pk}/?at={message.pk}").content.decode()
        [marked] = [line for line in page.splitlines() if "autofocus" in line and 'id="message-' in line]
        assert f'id="message-{message.pk}"' in marked
        assert "is-found" in marked


def test_the_place_costs_as_many_queries_as_the_end(
    at_home: Client,
    mira: Companion,
    said: list[Message],
    django_assert_num_queries: object,
) -> None:
    # As many as for the end of what no reply has answered, and one for the edge itself.
    with django_assert_num_queries(13):  # type: ignore[operator]
        at_home.get(f"/companions/{mira.pk}/turns/?after={said[40].pk}")


def test_what_is_not_on_the_chosen_branch_has_no_place(
    at_home: Client, mira: Companion, tian: Companion, said: list[Message]
) -> None:
    path = f"/companions/{mira.pk}/"
    fork(mira, said[10].pk, timezone.now())
    for at in (said[80].pk, uuid4(), "x"):
        for query in (f"?at={at}", f"turns/?after={at}"):
            assert at_home.get(path + query).status_code == 404
    assert at_home.get(f"/companions/{tian.pk}/?at={said[5].pk}").status_code == 404
    page = at_home.get(f"{path}turns/?after={said[5].pk}").context["page"]
    assert texts(page) == [message.text for message in said[6:11]]
    assert page.later is None


@pytest.mark.parametrize(
    ("day", "number"),
    [
        ("2026-03-03", 20),  # in Shanghai it began at 16:00 of the second of March
        ("2026-03-04", 44),
        ("2020-01-01", 0),
        ("2030-01-01", None),
    ],
)
def test_a_day_begins_where_the_person_lives(
    at_home: Client, alice: User, mira: Companion, said: list[Message], day: str, number: int | None
) -> None:
    User.objects.filter(pk=alice.pk).update(time_zone="Asia/Shanghai")
    found = at_home.get(f"/companions/{mira.pk}/?day={day}").context["found"]
    assert found == (None if number is None else said[number].pk)


@pytest.mark.parametrize("day", ["", "yesterday", "2026-02-30", "0001-01-01"])
def test_what_is_no_day_is_told(at_home: Client, mira: Companion, day: str) -> None:
    page = at_home.get(f"/companions/{mira.pk}/?day={day}").content.decode()
    assert "That is not a date." in page
