"""Slots and blocks through the API: set, listed, deleted; what cannot be is refused and changes nothing."""

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from companions.models import Companion
from memory.core_memory import set_slot
from memory.models import Block, Slot
from memory.models.core_memory import By
from tests.fixtures.rest import Api, problem

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]


@pytest.fixture
def path(mira: Companion) -> str:
    return f"/companions/{mira.pk}"


def put(api: Api, path: str, **body: object) -> dict:
    response = api.call("PUT", path, body)
    assert response.status_code == 200, response.content
    return response.json()


def test_a_slot_is_set_read_listed_changed_and_deleted(as_alice: Api, path: str) -> None:
    slot = put(as_alice, f"{path}/slots/tea", text="green")
    assert (slot["name"], slot["text"], slot["by"]) == ("tea", "green", "user")
    put(as_alice, f"{path}/slots/tea", text="black")
    put(as_alice, f"{path}/slots/%E8%8C%B6", text="绿茶")
    assert as_alice.get(f"{path}/slots/tea").json()["text"] == "black"
    listed = as_alice.get(f"{path}/slots").json()
    assert [one["name"] for one in listed["items"]] == ["tea", "茶"]
    assert as_alice.call("DELETE", f"{path}/slots/tea").status_code == 204
    problem(as_alice.get(f"{path}/slots/tea"), 404, "no_such_slot")
    problem(as_alice.call("DELETE", f"{path}/slots/tea"), 404, "no_such_slot")


@pytest.mark.parametrize("name", ["a%2Fb", "a/b", "a%09b", "a%00b", "a%5Cb", "%20", "n" * 61, "a%E2%80%AEb"])
@pytest.mark.parametrize("what", ["slots", "blocks"])
def test_a_name_that_cannot_be_is_refused(as_alice: Api, path: str, what: str, name: str) -> None:
    for method in ("GET", "PUT", "DELETE"):
        response = as_alice.call(method, f"{path}/{what}/{name}", {"text": "x"} if method == "PUT" else None)
        assert response.status_code == 422
        assert response["Content-Type"] == "application/problem+json"
        assert as_alice.call(method, f"{path}/{what}/a%0Ab", {"text": "x"}).status_code == 404  # no address
    assert not Slot.objects.exists()
    assert not Block.objects.exists()


def test_the_101st_slot_and_201_characters_are_refused(as_alice: Api, mira: Companion, path: str) -> None:
    for n in range(99):
        set_slot(mira.pk, str(n), "x", by=By.USER, now=timezone.now())
    put(as_alice, f"{path}/slots/99", text="x")
    problem(as_alice.call("PUT", f"{path}/slots/one-more", {"text": "x"}), 409, "slots_full")
    problem(as_alice.call("PUT", f"{path}/slots/7", {"text": "y" * 201}), 422, "text_too_long")
    assert Slot.objects.count() == 100
    assert not Slot.objects.exclude(text="x").exists()


@pytest.mark.parametrize(
    "body", [{}, {"text": None}, {"text": 5}, {"text": "a\x00b"}, {"text": " "}, [], None]
)
def test_a_body_that_is_none_sets_nothing(as_alice: Api, path: str, body: object) -> None:
    assert as_alice.call("PUT", f"{path}/slots/tea", body).status_code in (400, 422)
    assert not Slot.objects.exists()


def test_a_block_is_written_and_keeps_what_is_not_sent(as_alice: Api, path: str) -> None:
    block = put(
        as_alice,
        f"{path}/blocks/plans",
        text="swim",
        description="for summer",
        most_characters=50,
        is_read_only=True,
    )
    assert put(as_alice, f"{path}/blocks/plans", text="read") | {"text": "swim"} == block | {
        "changed_at": as_alice.get(f"{path}/blocks/plans").json()["changed_at"]
    }
    problem(as_alice.call("PUT", f"{path}/blocks/plans", {"text": "x" * 51}), 422, "text_too_long")
    problem(
        as_alice.call("PUT", f"{path}/blocks/p", {"text": "", "most_characters": 10**12}), 422, "bad_size"
    )
    assert as_alice.call("DELETE", f"{path}/blocks/plans").status_code == 204
    assert as_alice.get(f"{path}/blocks").json() == {"items": [], "next": None}


def test_another_companions_slots_are_not_there(as_alice: Api, as_mallory: Api, path: str) -> None:
    put(as_alice, f"{path}/slots/tea", text="green")
    for method in ("GET", "PUT", "DELETE"):
        body = {"text": "mine"} if method == "PUT" else None
        problem(as_mallory.call(method, f"{path}/slots/tea", body), 404, "not_found")
    assert Slot.objects.get().text == "green"


def test_the_lists_ask_three_queries(
    as_alice: Api, path: str, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for n in range(9):
        put(as_alice, f"{path}/slots/{n}", text="x")
    with django_assert_num_queries(3):  # whose token, whose companion, the slots
        as_alice.get(f"{path}/slots")
