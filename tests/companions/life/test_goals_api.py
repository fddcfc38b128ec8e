"""Goals and ideas by the API: how far they are, what they are a part of; nobody else's, and no goal in a circle."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from companions.models import Companion
from memory.goals import begin_goal, update_goal
from memory.models import Memory, Pursuit
from memory.store import keep_fact
from tests.fixtures.rest import Api, problem

NOON = datetime(2026, 5, 4, 10, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]


def pursue(companion: Companion, text: str, kind: str = "goal", minutes: int = 0, **fields: Any) -> Pursuit:
    at = NOON + minutes * MINUTE
    pursuit = begin_goal(companion.pk, Memory.Kind(kind), text, at, [], companion.user.zone)
    Pursuit.objects.filter(pk=pursuit.pk).update(**fields)
    return pursuit


def path(companion: Companion, pursuit: Pursuit | UUID | None = None) -> str:
    id = pursuit.memory_id if isinstance(pursuit, Pursuit) else pursuit
    return f"/companions/{companion.pk}/pursuits" + (f"/{id}" if id else "")


def listed(api: Api, companion: Companion, query: str = "") -> list[str]:
    return [one["text"] for one in api.get(path(companion) + query).json()["items"]]


def test_goals_and_ideas_are_listed_as_they_stand(as_alice: Api, mira: Companion) -> None:
    marathon = pursue(mira, "Run a marathon", progress=40, status="under_way", excitement=7)
    half = pursue(mira, "Run half of one", minutes=1, parent=marathon.memory)
    pursue(mira, "A garden", "idea", minutes=2, excitement=9)
    items = as_alice.get(path(mira)).json()["items"]
    assert [one["text"] for one in items] == ["A garden", "Run half of one", "Run a marathon"]
    assert items[2] == {
        "id": str(marathon.memory_id),
        "kind": "goal",
        "text": "Run a marathon",
        "status": "under_way",
        "progress": 40,
        "excitement": 7,
        "origin": "reflection",
        "parent_id": None,
        "is_private": False,
        "learnt_at": "2026-05-04T10:00:00Z",
        "reviewed_at": "2026-05-04T10:00:00Z",
        "moved_at": None,
    }
    assert (items[1]["id"], items[1]["parent_id"]) == (str(half.memory_id), str(marathon.memory_id))
    assert (items[0]["kind"], items[0]["excitement"]) == ("idea", 9)


def test_they_are_listed_by_kind_by_status_and_by_pages(as_alice: Api, mira: Companion) -> None:
    for n in range(5):
        pursue(mira, f"Goal {n}", minutes=n, status="done" if n % 2 else "new")
    pursue(mira, "A garden", "idea", minutes=-1)
    assert listed(as_alice, mira, "?kind=idea") == ["A garden"]
    assert listed(as_alice, mira, "?kind=goal&status=done") == ["Goal 3", "Goal 1"]
    first = as_alice.get(f"{path(mira)}?limit=4").json()
    rest = listed(as_alice, mira, f"?limit=4&cursor={first['next']}")
    assert [one["text"] for one in first["items"]] + rest == [
        *(f"Goal {n}" for n in (4, 3, 2, 1, 0)),
        "A garden",
    ]
    problem(as_alice.get(f"{path(mira)}?kind=fact"), 422, "not_valid")


def test_what_does_not_hold_any_more_is_not_listed(as_alice: Api, mira: Companion) -> None:
    closed, other = pursue(mira, "Learn Latin"), pursue(mira, "Learn Greek")
    Memory.objects.filter(pk=closed.memory_id).update(closed_at=NOON)
    Memory.objects.filter(pk=other.memory_id).update(kind="fact")
    assert listed(as_alice, mira) == []
    for one in (closed, other):
        problem(as_alice.call("PATCH", path(mira, one), {"progress": 10}), 404, "not_found")


def test_one_moves_on(as_alice: Api, mira: Companion) -> None:
    goal = pursue(mira, "Run a marathon")
    answer = as_alice.call(
        "PATCH", path(mira, goal), {"status": "under_way", "progress": 30, "excitement": 8}
    ).json()
    assert (answer["status"], answer["progress"], answer["excitement"]) == ("under_way", 30, 8)
    assert answer["moved_at"] == answer["reviewed_at"] > "2026-05-05"
    done = as_alice.call("PATCH", path(mira, goal), {"status": "done"}).json()
    assert (done["status"], done["progress"], done["excitement"]) == ("done", 100, 8)


def test_looked_at_without_a_step_it_has_not_moved(mira: Companion) -> None:
    goal = pursue(mira, "Run a marathon", moved_at=NOON)
    goal.refresh_from_db()
    update_goal(goal, NOON + MINUTE, excitement=9, status="new")
    goal.refresh_from_db()
    assert (goal.reviewed_at, goal.moved_at) == (NOON + MINUTE, NOON)
    update_goal(goal, NOON + 2 * MINUTE, progress=1)
    goal.refresh_from_db()
    assert goal.moved_at == NOON + 2 * MINUTE


@pytest.mark.parametrize(
    "body",
    [
        {"progress": 101},
        {"progress": -1},
        {"excitement": 0},
        {"excitement": 11},
        {"status": "lost"},
        {"parent_id": "me"},
        {"progress": "much"},
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(as_alice: Api, mira: Companion, body: dict[str, Any]) -> None:
    goal = pursue(mira, "Run a marathon")
    problem(as_alice.call("PATCH", path(mira, goal), body), 422, "not_valid")
    goal.refresh_from_db()
    assert (goal.status, goal.progress, goal.moved_at) == ("new", 0, None)


def test_nothing_asked_changes_nothing_but_that_it_was_looked_at(as_alice: Api, mira: Companion) -> None:
    goal = pursue(mira, "Run a marathon", progress=20)
    nulls = {"status": None, "progress": None, "excitement": None}
    for body in ({}, nulls):
        answer = as_alice.call("PATCH", path(mira, goal), body).json()
        assert (answer["status"], answer["progress"], answer["moved_at"]) == ("new", 20, None)


def test_a_goal_becomes_a_part_of_another_and_none_again(as_alice: Api, mira: Companion) -> None:
    whole, part = pursue(mira, "Run a marathon"), pursue(mira, "Buy shoes")
    body: dict[str, Any] = {"parent_id": str(whole.memory_id)}
    assert as_alice.call("PATCH", path(mira, part), body).json()["parent_id"] == str(whole.memory_id)
    kept = as_alice.call("PATCH", path(mira, part), {"progress": 5}).json()
    assert kept["parent_id"] == str(whole.memory_id)
    assert as_alice.call("PATCH", path(mira, part), {"parent_id": None}).json()["parent_id"] is None


def test_no_goal_is_a_part_of_itself_or_of_its_parts(as_alice: Api, mira: Companion) -> None:
    one = pursue(mira, "One")
    two = pursue(mira, "Two", parent=one.memory)
    three = pursue(mira, "Three", parent=two.memory)
    for parent in (one, two, three):
        body = {"parent_id": str(parent.memory_id), "progress": 50}
        problem(as_alice.call("PATCH", path(mira, one), body), 422, "circle")
    one.refresh_from_db()
    assert (one.parent, one.progress) == (None, 0)


def test_only_a_goal_of_the_same_companion_has_parts_and_only_goals_are_parts(
    as_alice: Api, mira: Companion, tian: Companion
) -> None:
    goal, idea = pursue(mira, "Goal"), pursue(mira, "Idea", "idea")
    fact = keep_fact(mira.pk, "Fact", NOON, NOON)
    for parent in (idea.memory_id, fact.pk, pursue(tian, "Theirs").memory_id, uuid4()):
        answer = as_alice.call("PATCH", path(mira, goal), {"parent_id": str(parent)})
        problem(answer, 422, "no_such_goal")
    body = {"parent_id": str(goal.memory_id)}
    problem(as_alice.call("PATCH", path(mira, idea), body), 422, "no_such_goal")


def test_anothers_goals_do_not_exist(
    as_alice: Api, as_mallory: Api, mira: Companion, tian: Companion, bob: User
) -> None:
    hers, his = pursue(mira, "Hers"), pursue(tian, "His")
    problem(as_mallory.get(path(mira)), 404, "not_found")
    problem(as_mallory.call("PATCH", path(mira, hers), {"progress": 9}), 404, "not_found")
    problem(as_alice.call("PATCH", path(mira, his), {"progress": 9}), 404, "not_found")
    problem(as_alice.call("PATCH", path(mira, uuid4()), {"progress": 9}), 404, "not_found")
    assert listed(Api(bob), tian) == ["His"]
    assert set(Pursuit.objects.values_list("progress", flat=True)) == {0}


def test_a_list_costs_the_same_for_one_and_for_many(
    as_alice: Api, mira: Companion, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    first = pursue(mira, "First")
    for n in range(20):
        pursue(mira, f"Goal {n}", minutes=n, parent=first.memory)
    with django_assert_num_queries(4):  # token, its last use, companion, pursuits
        assert len(listed(as_alice, mira)) == 21
