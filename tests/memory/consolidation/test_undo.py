"""Each thing that a night did is undone wholly; what was changed since is left as it is, with a clear error."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from companions import deletion
from companions.memories import consolidation
from companions.models import Companion
from memory.errors import UndoError
from memory.models import Change, Memory, Pursuit
from memory.store import correct
from tests.fixtures.rest import Api, problem
from tests.memory.consolidation.conftest import LATER, NIGHT, Know, Work

pytestmark = pytest.mark.usefixtures("module_mira")
NOW = timezone.now()


def state() -> list[Any]:
    """All that a night can change."""
    memories = Memory.objects.order_by("pk")
    rows = memories.values_list("pk", "text", "evidence", "quotes", "closed_at", "replaced_by", "edited_at")
    sources = Memory.sources.through.objects.order_by("memory_id", "message_id")
    pursuits = Pursuit.objects.order_by("pk").values_list("status", "progress", "excitement", "reviewed_at")
    changes = Change.objects.order_by("pk").values_list("settled", "undone_at", "before")
    return [[*rows], [*sources.values_list("memory_id", "message_id")], [*pursuits], [*changes]]


@pytest.fixture
def two(mira: Companion, know: Know) -> tuple[Memory, Memory]:
    return know(mira, "Alice plays the cello in an orchestra", evidence=2), know(
        mira, "Alice plays cello in the orchestra", evidence=3
    )


@pytest.fixture
def merged(mira: Companion, two: tuple[Memory, Memory], work: Work) -> Change:
    one, other = two
    return work(mira, lambda at: {"merges": [{"keep": at(one), "others": [at(other)]}]})[0]


@pytest.fixture
def held_against(mira: Companion, know: Know, work: Work) -> Change:
    one = know(mira, "Alice likes coffee in the morning", "preference")
    two = know(mira, "Alice does not like coffee in the morning", "preference")
    return work(mira, lambda at: {"contradictions": [{"a": at(one), "b": at(two)}]})[0]


@pytest.fixture
def thought(mira: Companion, know: Know, work: Work) -> Change:
    told = [know(mira, f"Alice swims {when}") for when in ("on Sundays", "before work", "when she is sad")]
    said = {"text": "Swimming holds Alice's week together"}
    return work(mira, lambda at: {"insights": [{**said, "from": [*map(at, told)]}]})[0]


@pytest.fixture
def reviewed(mira: Companion, know: Know, work: Work) -> Change:
    know(mira, "Alice wants to run a marathon", "goal")
    know(mira, "Alice has begun to train for the marathon")
    return work(mira, {"reviews": [{"of": 3, "status": "under_way", "progress": 20}]})[0]


def undo(mira: Companion, change: Change) -> Change:
    return consolidation.undo_change(mira, change.pk, NOW)


def test_a_merge_is_undone_wholly(mira: Companion, two: tuple[Memory, Memory], work: Work) -> None:
    before = state()[:2]
    one, other = two
    [change] = work(mira, lambda at: {"merges": [{"keep": at(one), "others": [at(other)]}]})
    assert state()[:2] != before
    undo(mira, change)
    assert state()[:2] == before


def test_an_insight_is_let_go_and_not_drawn_again(
    mira: Companion, thought: Change, know: Know, work: Work
) -> None:
    undo(mira, thought)
    thought.memory.refresh_from_db()
    assert thought.memory.closed_at == NOW
    know(mira, "Alice swims with Lena", at=NIGHT)
    told = [*thought.others.all()]
    texts = thought.memory.text, "Swimming helps Alice through"
    assert (
        work(
            mira,
            lambda at: {"insights": [{"text": one, "from": [*map(at, told)]} for one in texts]},
            NIGHT + LATER,
        )
        == []
    )


def test_what_was_kept_apart_is_not_merged_again(
    mira: Companion, merged: Change, know: Know, work: Work
) -> None:
    undo(mira, merged)
    one, other = merged.memory, merged.others.get()
    know(mira, "Alice has a dog", at=NIGHT)
    assert work(mira, lambda at: {"merges": [{"keep": at(one), "others": [at(other)]}]}, NIGHT + LATER) == []


def test_a_review_is_undone_wholly(mira: Companion, reviewed: Change) -> None:
    undo(mira, reviewed)
    pursuit = Pursuit.objects.get()
    assert (pursuit.status, pursuit.progress, pursuit.reviewed_at) == ("new", 0, None)


@pytest.mark.parametrize(("keep", "closed"), [("a", 1), ("b", 0), ("both", None)])
def test_a_contradiction_is_settled_and_that_undone(
    mira: Companion, held_against: Change, keep: str, closed: int | None
) -> None:
    before = state()
    consolidation.settle_change(mira, held_against.pk, Change.Settled(keep), NOW)
    pair = [held_against.memory, held_against.others.get()]
    for place, one in enumerate(pair):
        one.refresh_from_db()
        assert bool(one.closed_at) == (place == closed)
    if closed is not None:
        assert pair[closed].replaced_by == pair[1 - closed]
    with pytest.raises(UndoError, match="already_settled"):
        consolidation.settle_change(mira, held_against.pk, Change.Settled.BOTH, NOW)
    undo(mira, held_against)
    assert state() == before


@pytest.mark.parametrize("kind", ["merged", "thought", "reviewed"])
def test_what_was_undone_is_not_undone_twice(
    mira: Companion, kind: str, request: pytest.FixtureRequest
) -> None:
    change: Change = request.getfixturevalue(kind)
    undo(mira, change)
    before = state()
    with pytest.raises(UndoError, match="already_undone"):
        undo(mira, change)
    assert state() == before


def test_what_is_not_settled_cannot_be_undone(mira: Companion, held_against: Change) -> None:
    with pytest.raises(UndoError, match="nothing_to_undo"):
        undo(mira, held_against)


def test_only_a_contradiction_is_settled(mira: Companion, merged: Change) -> None:
    before = state()
    with pytest.raises(UndoError, match="no_contradiction"):
        consolidation.settle_change(mira, merged.pk, Change.Settled.A, NOW)
    assert state() == before


def _told_again(memory: Memory) -> None:
    Memory.objects.filter(pk=memory.pk).update(evidence=memory.evidence + 1)


def _edited(memory: Memory) -> None:
    correct(memory, f"{memory.text}, as she says", NOW)


def _closed(memory: Memory) -> None:
    Memory.objects.filter(pk=memory.pk).update(closed_at=NOW)


def _deleted(memory: Memory) -> None:
    deletion.forget(memory, NOW)


SINCE: list[Callable[[Memory], None]] = [_told_again, _edited, _closed]


@pytest.mark.parametrize("since", SINCE)
@pytest.mark.parametrize("kind", ["merged", "thought"])
def test_undoing_what_was_changed_since_is_a_clear_error_and_does_nothing(
    mira: Companion, kind: str, since: Callable[[Memory], None], request: pytest.FixtureRequest
) -> None:
    change: Change = request.getfixturevalue(kind)
    since(Memory.objects.get(pk=change.memory_id))
    before = state()
    with pytest.raises(UndoError, match="changed_since"):
        undo(mira, change)
    assert state() == before


@pytest.mark.parametrize("since", [_edited, _deleted])
def test_undoing_a_merge_of_what_was_edited_or_deleted_since(
    mira: Companion, merged: Change, since: Callable[[Memory], None]
) -> None:
    since(merged.others.get())
    before = state()
    with pytest.raises(UndoError, match="changed_since"):
        undo(mira, merged)
    assert state() == before


def test_undoing_a_review_after_which_the_goal_moved_on(mira: Companion, reviewed: Change) -> None:
    Pursuit.objects.update(progress=60)
    with pytest.raises(UndoError, match="changed_since"):
        undo(mira, reviewed)
    assert Pursuit.objects.get().progress == 60


@pytest.mark.parametrize("since", [_closed, _deleted])
def test_what_no_longer_stands_as_it_was_shown_is_not_settled(
    mira: Companion, held_against: Change, since: Callable[[Memory], None]
) -> None:
    since(held_against.others.get())
    before = state()
    with pytest.raises(UndoError, match="changed_since"):
        consolidation.settle_change(mira, held_against.pk, Change.Settled.A, NOW)
    assert state() == before


def test_another_persons_change_is_not_there(
    mira: Companion, tian: Companion, merged: Change, mallory: User, bob: User
) -> None:
    before = state()
    problem(Api(mallory).post(f"/companions/{mira.pk}/nights/changes/{merged.pk}/undo"), 404, "not_found")
    problem(Api(bob).post(f"/companions/{tian.pk}/nights/changes/{merged.pk}/undo"), 404, "not_found")
    path = f"/companions/{tian.pk}/nights/changes/{merged.pk}/settle"
    problem(Api(bob).post(path, {"keep": "a"}), 404, "not_found")
    assert state() == before


def test_the_api_lists_undoes_and_refuses(mira: Companion, merged: Change, as_alice: Api) -> None:
    [night] = as_alice.get(f"/companions/{mira.pk}/nights").json()["items"]
    [change] = night["changes"]
    assert (night["night_of"], night["state"]) == (str(NIGHT.date()), "done")
    assert (change["id"], change["kind"], change["undone_at"]) == (str(merged.pk), "merged", None)
    assert change["memory"]["text"] == merged.memory.text
    path = f"/companions/{mira.pk}/nights/changes/{merged.pk}/undo"
    assert as_alice.post(path).json()["undone_at"]
    problem(as_alice.post(path), 409, "already_undone")
    problem(as_alice.post(path.replace("undo", "settle"), {"keep": "c"}), 422, "not_valid")
    problem(as_alice.post(path.replace("undo", "settle"), {"keep": "a"}), 409, "no_contradiction")
