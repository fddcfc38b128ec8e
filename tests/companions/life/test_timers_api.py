"""Timers by the API: set, listed, cancelled and fired by their owner, refused clearly where they cannot be."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from companions.life.timers import timers
from companions.models import Companion, Timer
from tests.fixtures.rest import Api, problem

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]
TEA = {"schedule": "5min", "note": "tea"}


@pytest.fixture
def path(mira: Companion) -> str:
    return f"/companions/{mira.pk}/timers"


def items(as_alice: Api, path: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = as_alice.get(path).json()["items"]
    return found


def test_a_timer_is_set_and_listed_in_plain_words(as_alice: Api, mira: Companion, path: str) -> None:
    made = as_alice.post(path, {"schedule": "cron:0 8 * * 1-5", "note": "stretch"})
    assert made.status_code == 201
    timer = made.json()
    assert (timer["schedule"], timer["note"], timer["by"], timer["state"]) == (
        *("cron:0 8 * * 1-5", "stretch"),
        *("user", "active"),
    )
    assert timer["in_words"] == "every weekday at 08:00"
    assert timer["is_asked_for"]
    assert len(timer["upcoming"]) == 5
    assert timer["upcoming"][0] == timer["due_at"]
    listed = items(as_alice, path)
    assert listed[0] == timer
    assert {one["name"] for one in listed[1:]} == {"evening", "morning"}


def test_words_are_in_the_persons_language(bob: User, tian: Companion) -> None:
    made = Api(bob).post(f"/companions/{tian.pk}/timers", {"schedule": "cron:*/30 * * * *"})
    assert made.json()["in_words"] == "每 30 分钟"


def test_sent_twice_it_is_set_once(as_alice: Api, mira: Companion, path: str) -> None:
    key = {"Idempotency-Key": "1"}
    assert as_alice.post(path, TEA, **key).json() == as_alice.post(path, TEA, **key).json()
    assert mira.timers.filter(note="tea").count() == 1
    problem(as_alice.post(path, {**TEA, "note": "coffee"}, **key), 409, "idempotency_key_taken")
    evening = mira.timers.get(name="evening").pk
    first, again = (as_alice.post(f"{path}/{evening}/fire", **key).json() for _ in range(2))
    assert first == again
    assert mira.wakings.count() == 1


def test_a_timer_is_cancelled_and_stays_on_record(as_alice: Api, mira: Companion, path: str) -> None:
    id = as_alice.post(path, TEA).json()["id"]
    for _ in range(2):
        assert as_alice.call("DELETE", f"{path}/{id}").status_code == 204
    assert id not in [one["id"] for one in items(as_alice, path)]
    [kept] = items(as_alice, f"{path}?state=cancelled")
    assert (kept["id"], kept["upcoming"]) == (id, [])
    problem(as_alice.post(f"{path}/{id}/fire"), 409, "timer_over")


def test_a_timer_is_fired_by_hand(as_alice: Api, mira: Companion, path: str) -> None:
    id = as_alice.post(path, TEA).json()["id"]
    fired = as_alice.post(f"{path}/{id}/fire")
    assert fired.status_code == 202
    waking = fired.json()["waking"]
    assert (waking["timer_id"], waking["origin"], waking["state"]) == (id, "forced", "waiting")
    assert str(mira.wakings.get(is_asked_for=True).pk) == waking["id"]


def test_anothers_timer_is_not_found(as_alice: Api, path: str, bob: User, tian: Companion) -> None:
    id = as_alice.post(path, TEA).json()["id"]
    for own in (path, f"/companions/{tian.pk}/timers"):
        problem(Api(bob).call("DELETE", f"{own}/{id}"), 404, "not_found")
        problem(Api(bob).post(f"{own}/{id}/fire"), 404, "not_found")
    assert Timer.objects.get(pk=id).state == "active"


@pytest.mark.parametrize(
    ("schedule", "code"),
    [
        ("cron:60 8 * * *", "bad_cron"),
        ("cron:0 0 8 * * *", "bad_cron"),
        ("@reboot", "bad_schedule"),
        ("once:2026-02-30 09:00", "no_such_day"),
        ("once:2020-01-01 09:00", "in_the_past"),
        ("0s", "too_soon"),
        ("365000000d", "too_far"),
        ("cron:* * * * *", "too_often"),
        ("x" * 1_000_000, "bad_schedule"),
        ("5min\0", "not_valid"),
    ],
    ids=lambda value: value[:20],
)
def test_what_cannot_be_is_refused_clearly(as_alice: Api, path: str, schedule: str, code: str) -> None:
    details = problem(as_alice.post(path, {"schedule": schedule, "note": "tea"}), 422, code)
    assert len(str(details)) < 2000
    assert len(items(as_alice, path)) == 2


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"schedule": "5min", "note": "x" * 1_000_000}, 422, "note_too_long"),
        ({"note": "tea"}, 422, "not_valid"),
        ({"schedule": 5}, 422, "not_valid"),
        (b"{", 400, "bad_request"),
    ],
    ids=["a note of 1 MB", "no schedule", "a number", "no JSON"],
)
def test_a_body_that_is_none_is_refused(as_alice: Api, path: str, body: Any, status: int, code: str) -> None:
    problem(as_alice.post(path, body), status, code)


def test_an_unknown_zone_is_refused(as_alice: Api, mira: Companion, path: str) -> None:
    User.objects.filter(pk=mira.user_id).update(time_zone="Mars/Olympus")
    assert "Mars/Olympus" in problem(as_alice.post(path, TEA), 422, "unknown_zone")["detail"]
    problem(as_alice.get(path), 422, "unknown_zone")
    [evening] = mira.timers.filter(name="evening")
    assert as_alice.call("DELETE", f"{path}/{evening.pk}").status_code == 204


def test_the_fifty_first_is_refused(as_alice: Api, mira: Companion, path: str) -> None:
    for _ in range(timers.MAX_ACTIVE - 2):
        assert as_alice.post(path, TEA).status_code == 201
    problem(as_alice.post(path, TEA), 409, "too_many_timers")


def test_a_list_takes_as_many_queries_for_many_as_for_few(as_alice: Api, path: str) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as taken:
            items(as_alice, path)
        return len(taken)

    items(as_alice, path)  # the first one notes when the token was used
    few = queries()
    for _ in range(20):
        as_alice.post(path, TEA)
    assert len(items(as_alice, path)) == 22
    assert queries() == few <= 3


def test_a_long_list_comes_in_pages(as_alice: Api, path: str) -> None:
    made = [as_alice.post(path, TEA).json()["id"] for _ in range(5)]
    first = as_alice.get(f"{path}?limit=4").json()
    second = as_alice.get(f"{path}?limit=4&cursor={first['next']}").json()
    ids = [one["id"] for one in first["items"] + second["items"]]
    assert ids[:5] == made[::-1]
    assert (len(ids), second["next"]) == (7, None)
    problem(as_alice.get(f"{path}?state=asleep"), 422, "not_valid")
