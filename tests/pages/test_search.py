"""The search of the talk and its bookmarks, as pages and operations."""

from collections.abc import Callable
from datetime import datetime, timedelta
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from companions.branches.operations import fork
from companions.conversations.editing import correct_message
from companions.conversations.messages import open_session, say_all
from companions.conversations.search import read_query
from companions.deletion import delete_message
from companions.models import Bookmark, Companion, Message, MessageWords
from tests.fixtures.rest import Api

pytestmark = pytest.mark.usefixtures("module_mira")
START = datetime.fromisoformat("2026-03-01T20:00:00+00:00")
SAID = (
    "I have an exam on Friday, in statistics.",
    "Good luck with it! You don’t need it, though.",
    "我有一只小猫，它叫咪咪。",
    "A cat! 🐈 What a lovely name.",
    "École begins on Friday as well.",
    "The <b>bold</b> are on Friday & Saturday.",
)
Say = Callable[[Companion], list[Message]]


@pytest.fixture
def say() -> Say:
    def say_to(companion: Companion) -> list[Message]:
        session = open_session(companion.conversation, START)
        messages: list[Message] = []
        for number, text in enumerate(SAID):
            messages.append(
                Message(
                    companion=companion,
                    conversation=companion.conversation,
                    session=session,
                    parent=messages[-1] if messages else None,
                    role=Message.Role.ASSISTANT if number % 2 else Message.Role.USER,
                    text=text,
                    said_at=START + timedelta(hours=number),
                )
            )
        say_all(companion, messages, START)
        companion.conversation.head = messages[-1]
        companion.conversation.save(update_fields=["head"])
        return messages

    return say_to


@pytest.fixture
def said(mira: Companion, say: Say) -> list[Message]:
    return say(mira)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("exam", [0]),
        ("EXA", [0]),
        ("friday", [5, 4, 0]),
        ("exam friday", [0]),
        ("friday exam", [0]),
        ("“exam on Friday”", [0]),
        ("“Friday exam”", []),
        ("don't need", [1]),
        ("école", [4]),
        ("小猫", [2]),
        ("猫", [2]),
        ("一只小猫", [2]),
        ("一小只", []),
        ("🐈", [3]),
        ("lovely 🐈", [3]),
        ("xylophone", []),
    ],
)
def test_what_was_said_is_found_newest_first(
    at_home: Client, mira: Companion, said: list[Message], text: str, numbers: list[int]
) -> None:
    response = at_home.get(f"/companions/{mira.pk}/search/", {"q": text})
    assert [message.text for message, _ in response.context["found"]] == [SAID[number] for number in numbers]
    assert ("Nothing found" in response.content.decode()) == (not numbers)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("a", "Type at least two letters"),
        ("?!", "Type at least two letters"),
        ("a\x00b", "Type at least two letters"),
        ("word " * 2_000, "A search can have at most 200 characters"),
    ],
)
def test_what_cannot_be_searched_for_is_told(
    at_home: Client, alice: User, mira: Companion, said: list[Message], text: str, answer: str
) -> None:
    page = at_home.get(f"/companions/{mira.pk}/search/", {"q": text})
    assert answer in page.content.decode()
    response = Api(alice).get(f"/companions/{mira.pk}/messages/search?{urlencode({'q': text})}")
    assert response.status_code == 422
    assert answer in response.json()["detail"]


def test_a_result_tells_who_and_leads_to_its_place(
    at_home: Client, mira: Companion, said: list[Message]
) -> None:
    page = at_home.get(f"/companions/{mira.pk}/search/?q=bold").content.decode()
    assert f'href="/companions/{mira.pk}/?at={said[5].pk}"' in page
    assert "&lt;b&gt;<mark>bold</mark>&lt;/b&gt;" in page
    assert "Mira ·" in page


def test_results_come_in_pages(at_home: Client, alice: User, mira: Companion, said: list[Message]) -> None:
    path, found = f"/companions/{mira.pk}/messages/search?q=friday&limit=2", []
    page = Api(alice).get(path).json()
    found += page["items"]
    page = Api(alice).get(f"{path}&cursor={page['next']}").json()
    found += page["items"]
    assert [message["id"] for message in found] == [str(said[number].pk) for number in (5, 4, 0)]
    assert page["next"] is None
    assert at_home.get(f"/companions/{mira.pk}/search/?q=friday&cursor=x").status_code == 404


def test_only_ones_own_talk_on_the_chosen_branch_is_searched(
    at_home: Client, mira: Companion, tian: Companion, said: list[Message], say: Say
) -> None:
    say(tian)
    fork(mira, said[1].pk, timezone.now())
    found = at_home.get(f"/companions/{mira.pk}/search/?q=friday").context["found"]
    assert [message.pk for message, _ in found] == [said[0].pk]


def test_words_follow_their_message(at_home: Client, mira: Companion, said: list[Message]) -> None:
    correct_message(said[0], "I have a concert on Monday.", timezone.now())
    path = f"/companions/{mira.pk}/search/"
    assert not at_home.get(path, {"q": "exam"}).context["found"]
    assert len(at_home.get(path, {"q": "concert"}).context["found"]) == 1
    delete_message(said[0], timezone.now())
    assert not at_home.get(path, {"q": "concert"}).context["found"]
    assert not MessageWords.objects.filter(message=said[0].pk).exists()


def test_a_search_costs_six_queries(
    at_home: Client, mira: Companion, said: list[Message], django_assert_num_queries: object
) -> None:
    # Session, user, companion, what the words are as numbers, what was found lately, and ever.
    with django_assert_num_queries(6):  # type: ignore[operator]
        at_home.get(f"/companions/{mira.pk}/search/?q=friday")


def test_what_is_marked_is_found_again_until_its_message_goes(
    at_home: Client, mira: Companion, said: list[Message]
) -> None:
    path = f"/companions/{mira.pk}"
    for number in (0, 2, 2):
        at_home.post(f"{path}/messages/{said[number].pk}/bookmark/")
    assert "Bookmarked" in at_home.get(f"{path}/").content.decode()
    listed = at_home.get(f"{path}/bookmarks/").context["bookmarks"]
    assert [bookmark.message_id for bookmark in listed] == [said[2].pk, said[0].pk]
    at_home.post(f"{path}/messages/{said[0].pk}/bookmark/", {"remove": "1"})
    delete_message(said[2], timezone.now())
    assert not Bookmark.objects.exists()
    assert "No bookmarks yet." in at_home.get(f"{path}/bookmarks/").content.decode()


def test_bookmarks_are_their_owners_by_the_api_too(
    alice: User, bob: User, mira: Companion, said: list[Message]
) -> None:
    path = f"/companions/{mira.pk}"
    assert Api(bob).call("PUT", f"{path}/messages/{said[0].pk}/bookmark").status_code == 404
    assert Api(alice).call("PUT", f"{path}/messages/{said[0].pk}/bookmark").status_code == 200
    [bookmark] = Api(alice).get(f"{path}/bookmarks").json()["items"]
    assert bookmark["message"]["text"] == SAID[0]
    assert Api(alice).call("DELETE", f"{path}/messages/{said[0].pk}/bookmark").status_code == 204
    assert Api(alice).get(f"{path}/bookmarks").json()["items"] == []


def test_messages_around_one_lead_to_both_ends(alice: User, mira: Companion, said: list[Message]) -> None:
    path = f"/companions/{mira.pk}/messages"
    page = Api(alice).get(f"{path}/{said[3].pk}/around?limit=1").json()
    assert [message["text"] for message in page["items"]] == [SAID[4], SAID[3], SAID[2]]
    before = Api(alice).get(f"{path}?cursor={page['next']}").json()
    assert [message["text"] for message in before["items"]] == [SAID[1], SAID[0]]
    assert Api(alice).get(f"{path}/{page['later']}/around?limit=1").json()["later"] is None


def test_a_snippet_holds_whole_words_but_of_one_long_run_a_piece(mira: Companion) -> None:
    query = read_query(mira.pk, "lantern")
    words = "".join(f"word{number:03} " for number in range(50))
    snippet = "".join(part.text for part in query.cut_snippet(f"{words}lantern {words}"))
    assert snippet.startswith("… word043 ")
    assert snippet.endswith(" word019 …")
    shifted = "".join(part.text for part in query.cut_snippet(f"lantern, {words}"))
    assert shifted.endswith(" word018 …")
    assert set(snippet.strip("… ").split(" ")) <= {*words.split(" "), "lantern"}
    run = "灯" * 300
    snippet = "".join(part.text for part in query.cut_snippet(f"{run} lantern {run}"))
    assert snippet == f"… {'灯' * 59} lantern {'灯' * 159} …"
    assert "".join(part.text for part in query.cut_snippet("A lantern.")) == "A lantern."
