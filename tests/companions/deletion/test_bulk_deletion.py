"""Deleting many memories: chosen ones, all of a kind, all; with a confirmation, and in few queries."""

import asyncio
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import ModelCall, SoundCall, User
from companions.deletion import delete_companion, delete_messages, forget_many
from companions.models import Companion, Message, Reply
from companions.replies.streams import Entry, Place, append_entries, seal_stream
from memory.models import Memory
from memory.store import keep_fact
from tests.companions.deletion.conftest import NOW, learnt, say
from tests.fixtures.rest import Api

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]
QUERIES = 77  # six of them keep the journal from bringing it back on another branch
MESSAGE_QUERIES = 100


@pytest.fixture
def facts(mira: Companion) -> list[Memory]:
    return [keep_fact(mira.pk, f"Fact {number}", NOW, NOW) for number in range(5)]


def path(companion: Companion) -> str:
    return f"/companions/{companion.pk}/memories/delete"


def test_chosen_ones_go_and_others_stay(
    alice: User, mira: Companion, tian: Companion, facts: list[Memory]
) -> None:
    his = keep_fact(tian.pk, "His", NOW, NOW)
    ids = [str(one.pk) for one in (*facts[:3], his)]
    assert Api(alice).post(path(mira), {"ids": ids}).json() == {"deleted": 3}
    assert set(Memory.objects.all()) == {*facts[3:], his}
    assert Api(alice).post(path(tian), {"ids": ids}).status_code == 404


def test_all_of_a_kind_and_all_go_by_the_name_alone(
    alice: User, mira: Companion, facts: list[Memory]
) -> None:
    api, said = Api(alice), say(mira, "Hello", "Hi")
    refused = api.post(path(mira), {"all": True, "kinds": ["fact"], "confirm": "Tian"})
    assert (refused.status_code, refused.json()["code"]) == (422, "not_confirmed")
    assert Memory.objects.count() == 7
    answer = api.post(path(mira), {"all": True, "kinds": ["fact"], "confirm": "Mira"})
    assert answer.json() == {"deleted": 5}
    answer = api.post(path(mira), {"all": True, "confirm": "Mira", "with_messages": True})
    assert answer.json() == {"deleted": 2}
    assert not Message.objects.filter(pk__in=[one.pk for one in said]).exists()


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"ids": ["no id"]},
        {"ids": ["00000000-0000-0000-0000-000000000000"] * 501},
        {"all": True, "ids": ["00000000-0000-0000-0000-000000000000"], "confirm": "Mira"},
        {"all": True},
        {"all": True, "kinds": ["dreams"], "confirm": "Mira"},
        {"ids": ["00000000-0000-0000-0000-000000000000"], "kinds": ["fact"]},
    ],
)
def test_what_names_nothing_clearly_deletes_nothing(
    alice: User, mira: Companion, facts: list[Memory], body: dict[str, Any]
) -> None:
    assert Api(alice).post(path(mira), body).status_code == 422
    assert Memory.objects.count() == 5


@pytest.mark.parametrize("count", [2, 200])
def test_many_cost_as_many_queries_as_few(
    mira: Companion, count: int, django_assert_max_num_queries: Any
) -> None:
    said = say(mira, *(f"Thing {number} of many" for number in range(count)))
    for one in said:
        learnt(mira, one.text, [(one, one.text)])
    ids = list(Memory.objects.filter(kind="said").values_list("pk", flat=True))
    with django_assert_max_num_queries(QUERIES):
        assert forget_many(mira.pk, ids, NOW) == count
    assert not Memory.objects.exists()
    assert Message.objects.filter(is_hidden=True).count() == count


@pytest.mark.parametrize("count", [2, 200])
def test_many_messages_cost_as_many_queries_as_few(
    mira: Companion, count: int, django_assert_max_num_queries: Any
) -> None:
    said = say(mira, *(f"Thing {number} of many" for number in range(count)))
    with django_assert_max_num_queries(MESSAGE_QUERIES):
        assert delete_messages(mira.pk, [one.pk for one in said], NOW) == count
    assert not Message.objects.exists()


def test_nothing_that_a_provider_said_outlasts_a_companion(
    alice: User, mira: Companion, django_capture_on_commit_callbacks: Any
) -> None:
    asked, _answer = say(mira, "Hello", "Hi")
    reply = Reply.objects.create(companion=mira, message=asked, state=Reply.State.DONE, created_at=NOW)
    common: dict[str, Any] = {"user": alice, "companion": mira, "started_at": NOW, "said": "You said hello."}
    ModelCall.objects.create(**common, purpose="answer", model="m")
    SoundCall.objects.create(**common, capability="speech", outcome="done", milliseconds=1)
    asyncio.run(append_entries([(str(reply.pk), [Entry.of({"text": "Hi"}, Place(1, 0), 1)])]))
    with django_capture_on_commit_callbacks(execute=True):
        delete_companion(mira)
    kept = [calls.values_list("said", flat=True).get() for calls in (ModelCall.objects, SoundCall.objects)]
    assert kept == ["", ""]
    assert seal_stream(reply.pk, Place()) == []


def test_the_page_asks_first_and_says_how_many(at_home: Client, mira: Companion, facts: list[Memory]) -> None:
    page, ids = f"/companions/{mira.pk}/memories/delete/", [str(one.pk) for one in facts[:2]]
    asked = at_home.post(page, {"id": ids}, headers={"HX-Request": "true"})
    assert "Delete 2 memories?" in asked.content.decode()
    assert Memory.objects.count() == 5
    done = at_home.post(page, {"id": ids, "is_sure": "1"}, headers={"HX-Request": "true"})
    assert done.headers["HX-Redirect"] == f"/companions/{mira.pk}/memories/"
    assert set(Memory.objects.all()) == set(facts[2:])


def test_the_page_says_that_pages_go_with_their_gists(
    at_home: Client, mira: Companion, facts: list[Memory]
) -> None:
    page, words = (
        f"/companions/{mira.pk}/memories/delete/",
        "The pages of your documents that the gists sum up",
    )
    assert words not in at_home.post(page, {"id": [str(facts[0].pk)]}).content.decode()
    Memory.objects.filter(pk=facts[0].pk).update(kind="gist")
    assert words in at_home.post(page, {"id": [str(facts[0].pk)]}).content.decode()
    alone = at_home.get(f"/companions/{mira.pk}/memories/{facts[0].pk}/delete/")
    assert "The page of your document that it sums up is deleted with it." in alone.content.decode()


def test_the_page_deletes_all_by_the_name_alone(
    at_home: Client, mira: Companion, facts: list[Memory]
) -> None:
    page, all_ = f"/companions/{mira.pk}/memories/delete/", {"all": "1", "kind": "fact"}
    assert "5 memories?" in at_home.post(page, all_).content.decode()
    assert at_home.post(page, {**all_, "is_sure": "1", "typed_name": "Tian"}).status_code == 422
    assert Memory.objects.count() == 5
    assert at_home.post(page, {**all_, "is_sure": "1", "typed_name": "Mira"}).status_code == 302
    assert Memory.objects.count() == 0


def test_nothing_chosen_deletes_nothing(at_home: Client, mira: Companion, facts: list[Memory]) -> None:
    answer = at_home.post(f"/companions/{mira.pk}/memories/delete/", {}, headers={"HX-Request": "true"})
    assert "Nothing is chosen" in answer.content.decode()
    assert at_home.post(f"/companions/{mira.pk}/memories/delete/", {"is_sure": "1"}).status_code == 302
    assert Memory.objects.count() == 5


def test_a_companion_of_many_turns_is_deleted_in_as_many_queries_as_one_of_few(
    mira: Companion, tian: Companion
) -> None:
    def count_queries(companion: Companion, turns: int) -> int:
        said = [say(companion, "Hello", "Hi") for _ in range(turns)]
        Reply.objects.bulk_create(
            Reply(companion=companion, message=asked, answer=answer, state=Reply.State.DONE, created_at=NOW)
            for asked, answer in said
        )
        with CaptureQueriesContext(connection) as queries:
            delete_companion(companion)
        return len(queries)

    assert count_queries(mira, 20) == count_queries(tian, 2)
    assert not Companion.objects.exists()
