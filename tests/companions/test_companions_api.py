"""Companions through the API."""

from uuid import uuid4

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from companions.models import Companion
from memory.scoring.policies import Hou
from tests.fixtures.rest import Api, problem
from tests.fixtures.turns import make_companion

pytestmark = pytest.mark.django_db


def test_a_companion_is_made_with_its_greeting(
    as_alice: Api, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    # Nine rows: five of what it is, two timers, what it says and remembers.
    with django_assert_num_queries(23):
        made = as_alice.post("/companions", {"name": "Mira", "persona": "Calm.", "greeting": "Hello, you."})
    assert made.status_code == 201
    path = f"/companions/{made.json()['id']}"
    assert as_alice.get(path).json() == made.json()
    (greeting,) = as_alice.get(f"{path}/messages").json()["items"]
    assert (greeting["role"], greeting["text"]) == ("assistant", "Hello, you.")


def test_it_is_changed_and_deleted(as_alice: Api, mira: Companion) -> None:
    path = f"/companions/{mira.pk}"
    assert as_alice.call("PATCH", path, {"name": "Mira the Second"}).json()["name"] == "Mira the Second"
    assert as_alice.get(path).json()["persona"] == mira.persona
    assert as_alice.call("DELETE", path).status_code == 204
    problem(as_alice.get(path), 404, "not_found")


def test_the_list_holds_ones_own_page_by_page(
    as_alice: Api, alice: User, tian: Companion, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    names = [make_companion(alice, name=f"Companion {number}").name for number in range(5)]
    with django_assert_num_queries(3):  # whose token, that it was used, one page
        first = as_alice.get("/companions?limit=3").json()
    second = as_alice.get(f"/companions?limit=3&cursor={first['next']}").json()
    assert [one["name"] for one in first["items"] + second["items"]] == names[::-1]
    assert second["next"] is None


def test_the_same_key_makes_one_companion(as_alice: Api) -> None:
    body = {"name": "Mira"}
    first = as_alice.post("/companions", body, **{"Idempotency-Key": "k1"})
    again = as_alice.post("/companions", body, **{"Idempotency-Key": "k1"})
    assert first.json() == again.json()
    assert Companion.objects.count() == 1
    problem(
        as_alice.post("/companions", {"name": "Other"}, **{"Idempotency-Key": "k1"}),
        409,
        "idempotency_key_taken",
    )


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": ""},
        {"name": "   "},
        {"name": "x" * 81},
        {"name": "a\x00b"},
        {"name": "Mira", "persona": "x" * 40_001},
        {"name": "Mira", "persona": "\x00"},
        {"name": "Mira", "tint": 360},
        {"name": 7},
        [],
    ],
    ids=str,
)
def test_a_bad_companion_is_refused_and_not_made(as_alice: Api, body: object) -> None:
    details = problem(as_alice.post("/companions", body), 422, "not_valid")
    assert details["errors"]
    assert not Companion.objects.exists()


@pytest.mark.parametrize("body", [b"{", b"", b'{"name": "\xff\xfe"}', b"null"])
def test_what_is_no_json_is_refused(as_alice: Api, body: bytes) -> None:
    response = as_alice.post("/companions", body)
    assert response.status_code in (400, 422)
    assert response["Content-Type"] == "application/problem+json"


def test_a_lone_surrogate_is_refused(as_alice: Api) -> None:
    problem(as_alice.post("/companions", b'{"name": "\\ud800"}'), 422, "not_valid")


@pytest.mark.parametrize("cursor", ["nonsense", "AAAA", "%00", "x" * 201])
def test_a_cursor_that_was_never_given_is_refused(as_alice: Api, cursor: str) -> None:
    assert as_alice.get(f"/companions?cursor={cursor}").status_code == 422


def test_how_memories_come_to_mind_is_chosen(as_alice: Api, mira: Companion) -> None:
    path = f"/companions/{mira.pk}"
    assert as_alice.get(path).json()["recall_policy"] == "kith"
    assert as_alice.call("PATCH", path, {"recall_policy": "hou"}).json()["recall_policy"] == "hou"
    assert as_alice.call("PATCH", path, {"recall_policy": None}).json()["recall_policy"] == "hou"
    for wrong in ("none such", "", 7):
        problem(as_alice.call("PATCH", path, {"recall_policy": wrong}), 422, "not_valid")
    assert as_alice.get(path).json()["recall_policy"] == "hou"


def test_a_rules_numbers_are_kept_until_another_rule_is_chosen(as_alice: Api, mira: Companion) -> None:
    path = f"/companions/{mira.pk}"
    assert as_alice.get(path).json()["recall_parameters"] == {}
    chosen = {"recall_policy": "hou", "recall_parameters": {"unit_days": 60, "threshold": 0.5}}
    assert as_alice.call("PATCH", path, chosen).json()["recall_parameters"] == chosen["recall_parameters"]
    assert as_alice.call("PATCH", path, {"name": "Mira"}).json()["recall_parameters"] != {}
    mira.refresh_from_db()
    assert mira.policy == Hou(unit_days=60, threshold=0.5)
    assert as_alice.call("PATCH", path, {"recall_policy": "kith"}).json()["recall_parameters"] == {}


@pytest.mark.parametrize(
    ("policy", "numbers", "code"),
    [
        ("hou", {"threshold": 1.5}, "bad_policy_parameter"),
        ("hou", {"month_days": 5}, "bad_policy_parameter"),
        ("likeness", {"floor": 0.5}, "bad_policy_parameter"),
        ("digital_life", {"few": 2.5}, "bad_policy_parameter"),
        ("digital_life", {"floor": 0.9, "clear": 0.8}, "bad_policy_parameter"),
        ("airi_decay", {"decay": 0.6}, "bad_policy_parameter"),
        ("hou", {"threshold": True}, "not_valid"),
        ("hou", {"threshold": "0.5"}, "not_valid"),
        ("hou", [0.5], "not_valid"),
    ],
)
def test_numbers_that_a_rule_cannot_have_change_nothing(
    as_alice: Api, mira: Companion, policy: str, numbers: object, code: str
) -> None:
    path = f"/companions/{mira.pk}"
    wanted = {"recall_policy": policy, "recall_parameters": numbers, "name": "Changed"}
    problem(as_alice.call("PATCH", path, wanted), 422, code)
    mira.refresh_from_db()
    assert (mira.recall_policy, mira.recall_parameters, mira.name) == ("kith", {}, "Mira")


def test_errors_are_told_in_the_language_that_is_asked_for(as_alice: Api, mira: Companion) -> None:
    chinese = {"Accept-Language": "zh-Hans"}
    missing = as_alice.get(f"/companions/{uuid4()}", **chinese)
    assert missing.json()["detail"] == "你这里没有这样的内容。"
    numbers = {"recall_policy": "kith", "recall_parameters": {"month_days": 0}}
    wrong = as_alice.call("PATCH", f"/companions/{mira.pk}", numbers, **chinese)
    assert wrong.json()["detail"] == "“month_days”在 1 到 365 之间，不能是 0.0。"


def test_a_persona_that_leaves_no_room_for_a_talk_is_told(as_alice: Api, mira: Companion) -> None:
    path = f"/companions/{mira.pk}"
    assert as_alice.get(path).json()["is_crowded"] is False
    assert as_alice.call("PATCH", path, {"persona": "calm and kind " * 1400}).json()["is_crowded"] is True
    assert [one["is_crowded"] for one in as_alice.get("/companions").json()["items"]] == [True]
