"""Whatever happens to a night while it is worked on: killed, deleted from, corrected, failed."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from accounts.models import ModelCall
from companions import deletion
from companions.memories import consolidation
from companions.models import Companion
from jobs.lease import LEASE_TIME, RETRY_DELAY
from memory.consolidation import runs
from memory.embedding import embed_waiting
from memory.models import Change, Consolidation, Memory, Pursuit
from memory.store import correct
from tests.fixtures import faults
from tests.fixtures.clock import clock_at
from tests.fixtures.rehearsal import RehearsalServer
from tests.memory.consolidation.conftest import NIGHT, Know, calls, done, numbers

pytestmark = pytest.mark.usefixtures("module_mira")
# The first statement that begins so and holds that comes when the work is at this point.
POINTS = {
    "claimed": ("SELECT", 'FROM "memory_consolidation"'),
    "gathered": ("SELECT", 'FROM "memory_memory"'),
    "asked": ("SELECT", "FOR UPDATE"),
    "written": ("UPDATE", '"memory_consolidation" SET "state"'),
}


class Killed(BaseException):
    """The process is gone: nothing after this point is done, nor tidied up."""


@pytest.fixture
def known(mira: Companion, know: Know) -> list[Memory]:
    return [
        know(mira, "Alice plays the cello on Sundays", evidence=2),
        know(mira, "On Sundays Alice plays the cello"),
        know(mira, "On Sundays Alice never plays the cello"),
        know(mira, "Alice wants to play the cello on a stage", "goal"),
    ]


def answer(companion: Companion, known: list[Memory], server: RehearsalServer) -> None:
    """Lets the model give one of each, as often as it is asked."""
    embed_waiting(companion.pk)
    of = numbers(companion)
    one, two, three, _goal = (of[memory.pk] for memory in known)
    given = {
        "merges": [{"keep": one, "others": [two]}],
        "contradictions": [{"a": one, "b": three}],
        "insights": [{"text": "The cello is what Sundays are about", "from": [one, three]}],
        "reviews": [{"of": len(of) + 1, "status": "under_way", "progress": 10}],
    }
    server.script({"task": "night", "answer": json.dumps(given), "repeat": 9})


def outcome() -> list[Any]:
    """All that a night can change, but for ids that are drawn by chance."""
    memories = Memory.objects.exclude(kind="said").order_by("text")
    changes = Change.objects.order_by("number").values_list("number", "kind", "memory__text", "others__text")
    pursuits = Pursuit.objects.values_list("status", "progress", "reviewed_at")
    nights_ = Consolidation.objects.values_list("state", "attempts", "error")
    rows = memories.values_list("text", "kind", "evidence", "closed_at", "replaced_by__text")
    return [[*rows], [*changes], [*pursuits], [*nights_]]


def work(now: Any) -> None:
    for companion_id, run_id in runs.find_due(now):
        runs.consolidate(companion_id, run_id, clock_at(now))


def killed_at(point: str) -> Any:
    """Ends the process, as it were, in the place of a statement."""
    verb, part = POINTS[point]

    def execute(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith(verb) and part in sql:
            raise Killed
        return execute(sql, params, many, context)

    return connection.execute_wrapper(execute)


@pytest.mark.parametrize("point", POINTS)
def test_a_night_killed_at_any_point_is_done_again_to_the_same_end(
    mira: Companion, know: Know, rehearsal: RehearsalServer, known: list[Memory], point: str
) -> None:
    consolidation.request_due_nights(NIGHT)
    answer(mira, known, rehearsal)
    [(companion_id, run_id)] = runs.find_due(NIGHT)
    with pytest.raises(Killed), killed_at(point):
        runs.consolidate(companion_id, run_id, clock_at(NIGHT))
    assert Change.objects.count() == 0
    work(NIGHT + timedelta(minutes=1))  # nobody goes on while it may still be at work
    assert Change.objects.count() == 0
    work(NIGHT + LEASE_TIME)
    killed = outcome()
    assert [kind for _, kind, *_ in killed[1]] == [
        "merged",
        "contradiction",
        "insight",
        "insight",
        "reviewed",
    ]
    assert killed[3] == [("done", 0, "")]
    before = outcome()
    work(NIGHT + 3 * LEASE_TIME)
    assert outcome() == before
    # The night and what reads its insights again: what is answered is not asked anew.
    assert calls(rehearsal) == 2


def _delete(one: Memory) -> None:
    deletion.forget(one, NIGHT)


def _correct(one: Memory) -> None:
    correct(one, f"{one.text}, and on Mondays", NIGHT)


def _hide(one: Memory) -> None:
    Memory.objects.filter(pk=one.pk).update(is_private=True)


def _tell_again(one: Memory) -> None:
    Memory.objects.filter(pk=one.pk).update(evidence=7)


@pytest.mark.parametrize("meanwhile", [_delete, _correct, _hide, _tell_again])
@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_what_changes_while_the_model_thinks_is_not_written_over(
    mira: Companion,
    known: list[Memory],
    rehearsal: RehearsalServer,
    meanwhile: Callable[[Memory], None],
    place: int,
) -> None:
    """The draft is dropped and asked for anew, from what is there then."""
    consolidation.request_due_nights(NIGHT)
    [(companion_id, run_id)] = runs.find_due(NIGHT)
    with faults.before(faults.locks_companion, lambda: meanwhile(Memory.objects.get(pk=known[place].pk))):
        runs.consolidate(companion_id, run_id, clock_at(NIGHT))
    assert Consolidation.objects.get().state == Consolidation.State.DONE
    assert calls(rehearsal) == 2
    gone = meanwhile is _delete
    assert Memory.objects.filter(pk=known[place].pk).exists() != gone
    if gone:
        assert not Memory.objects.filter(text=known[place].text, message=None).exists()
        assert known[place].text not in str(rehearsal.requests()[-1])


def test_what_was_deleted_while_the_model_thought_is_not_in_a_draft(
    mira: Companion, known: list[Memory], rehearsal: RehearsalServer
) -> None:
    consolidation.request_due_nights(NIGHT)
    answer(mira, known, rehearsal)
    is_deleted = False
    drafts: list[Any] = []

    def delete_once(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        nonlocal is_deleted
        if '"accounts_modelcall"' in sql and not is_deleted:
            is_deleted = True
            deletion.forget(Memory.objects.get(pk=known[0].pk), NIGHT)
        return execute(sql, params, many, context)

    def watch() -> None:
        drafts.append(Consolidation.objects.get().draft)

    [(companion_id, run_id)] = runs.find_due(NIGHT)
    with faults.before_each(faults.locks_companion, watch), connection.execute_wrapper(delete_once):
        runs.consolidate(companion_id, run_id, clock_at(NIGHT))
    assert drafts[:3] == [{}, {}, {}]  # what was answered of it is not kept, nor what goes on from it
    assert Consolidation.objects.get().state == Consolidation.State.DONE


def test_a_draft_that_is_overtaken_again_and_again_waits(
    mira: Companion, known: list[Memory], rehearsal: RehearsalServer
) -> None:
    consolidation.request_due_nights(NIGHT)

    def change() -> None:
        one = Memory.objects.get(pk=known[0].pk)
        Memory.objects.filter(pk=one.pk).update(evidence=one.evidence + 1)

    [(companion_id, run_id)] = runs.find_due(NIGHT)
    with faults.before_each(faults.locks_companion, change):
        runs.consolidate(companion_id, run_id, clock_at(NIGHT))
    one = Consolidation.objects.get()
    assert (one.state, one.attempts, one.next_at) == ("waiting", 0, NIGHT + RETRY_DELAY)
    assert Change.objects.count() == 0
    assert calls(rehearsal) == runs.MAX_DRAFTS


def test_a_companion_deleted_while_the_model_thinks_leaves_nothing(
    mira: Companion, known: list[Memory], rehearsal: RehearsalServer
) -> None:
    consolidation.request_due_nights(NIGHT)
    [(companion_id, run_id)] = runs.find_due(NIGHT)
    with faults.before(faults.locks_companion, lambda: deletion.delete_companion(mira)):
        runs.consolidate(companion_id, run_id, clock_at(NIGHT))
    assert not Consolidation.objects.exists()
    assert not Change.objects.exists()


def test_eight_failures_and_the_operator_hears_of_it(
    mira: Companion, known: list[Memory], rehearsal: RehearsalServer, caplog: pytest.LogCaptureFixture
) -> None:
    consolidation.request_due_nights(NIGHT)
    rehearsal.script({"task": "night", "answer": "No.", "repeat": 20})
    waits, now = [], NIGHT
    for _try in range(8):
        work(now)
        one = Consolidation.objects.get()
        waits.append(one.next_at - now)
        now = one.next_at
    assert waits[:7] == [timedelta(minutes=2**n) for n in range(1, 8)]
    assert (one.state, one.attempts, one.error) == ("failed", 8, "malformed_answer")
    assert "consolidation_failed" in caplog.text
    work(now + timedelta(days=1))
    assert calls(rehearsal) == 8
    assert ModelCall.objects.filter(purpose=ModelCall.Purpose.CONSOLIDATION).count() == 8


def test_a_night_waits_for_as_long_as_no_model_is_to_be_had(
    mira: Companion, known: list[Memory], rehearsal: RehearsalServer
) -> None:
    consolidation.request_due_nights(NIGHT)
    Consolidation.objects.update(attempts=7)
    rehearsal.script({"task": "night", "error": {"status": 402}})
    work(NIGHT)
    one = Consolidation.objects.get()
    assert (one.state, one.error) == ("waiting", "provider_unavailable")
    work(one.next_at)
    assert Consolidation.objects.get().state == "done"


def test_whoever_has_used_half_of_the_days_tokens_is_left_the_rest(
    mira: Companion, known: list[Memory], rehearsal: RehearsalServer
) -> None:
    mira.user.tokens_per_day = 100
    mira.user.save()
    ModelCall.objects.create(
        user=mira.user, purpose=ModelCall.Purpose.ANSWER, prompt_tokens=60, started_at=NIGHT
    )
    consolidation.request_due_nights(NIGHT)
    assert done(mira, NIGHT) == []
    one = Consolidation.objects.get()
    assert (one.state, one.attempts, calls(rehearsal)) == ("waiting", 0, 0)
    assert one.next_at == NIGHT.replace(hour=22)  # midnight in Berlin
