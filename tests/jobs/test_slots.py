"""Slots for long tasks: a few at once, and one for each key."""

from contextlib import ExitStack
from uuid import UUID

import pytest
from celery import Task

from companions import tasks as companions_tasks
from companions.life import tasks as life_tasks
from companions.sessions import tasks
from jobs import slots as module
from jobs.slots import FOR_MODELS, Slots

ID = str(UUID(int=0))


def test_there_is_one_slot_for_each_key() -> None:
    slots = Slots[str](2)
    with slots.take("Alice") as first, slots.take("Alice") as again, slots.take("Bob") as other:
        assert (first, again, other) == (True, False, True)


def test_no_more_are_taken_than_there_are() -> None:
    slots = Slots[int](2)
    with slots.take(1), slots.take(2), slots.take(3) as third:
        assert third is False


def test_a_slot_is_given_back_whatever_happens() -> None:
    slots = Slots[int](1)
    with pytest.raises(ZeroDivisionError), slots.take(1):
        1 / 0  # noqa: B018
    with slots.take(2) as is_free:
        assert is_free


@pytest.mark.django_db
def test_slow_models_leave_threads_for_reminders_and_what_waited_follows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done, enqueued = list[str](), list[tuple[str, ...]]()
    monkeypatch.setattr(tasks.closing, "run", lambda id, _clock: done.append(str(id)))
    monkeypatch.setattr(module, "enqueue", lambda *task: enqueued.append(task))
    first, second, third = (f"00000000-0000-0000-0000-00000000000{number}" for number in range(3))
    with ExitStack() as busy:
        for number in range(4):
            busy.enter_context(FOR_MODELS.take((str(number),)))
        tasks.close_session(first)
        tasks.close_session(second)
        assert done == enqueued == []
    name = "companions.sessions.tasks.close_session"
    tasks.close_session(third)
    assert enqueued == [(name, first)]
    tasks.close_session(first)
    assert (done, enqueued) == ([third, first], [(name, first), (name, second)])


@pytest.mark.django_db
@pytest.mark.parametrize(
    "task",
    [
        *(tasks.digest_session, tasks.rewrite_diary, life_tasks.reflect_upon, life_tasks.wake_unasked),
        *(companions_tasks.write_gists, companions_tasks.compare_models, companions_tasks.work_a_night),
    ],
    ids=lambda task: str(task.name),
)
def test_whatever_waits_for_a_model_waits_for_a_slot(task: Task) -> None:
    with ExitStack() as busy:
        for number in range(4):
            busy.enter_context(FOR_MODELS.take((str(number),)))
        task(ID)
    assert FOR_MODELS.pop_missed() == [(task.name, ID)]


@pytest.mark.django_db
def test_what_waited_follows_also_a_task_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    enqueued = list[tuple[str, ...]]()
    monkeypatch.setattr(module, "enqueue", lambda *task: enqueued.append(task))
    monkeypatch.setattr(tasks.closing, "run", lambda _id, _clock: 1 / 0)
    with FOR_MODELS.take((tasks.close_session.name, ID)):
        tasks.close_session(ID)
    with pytest.raises(ZeroDivisionError):
        tasks.close_session(str(UUID(int=1)))
    assert enqueued == [(tasks.close_session.name, ID)]


def test_what_has_had_its_turn_since_is_not_passed_on() -> None:
    slots = Slots[int](1)
    with slots.take(1), slots.take(2):
        pass
    with slots.take(2):
        pass
    assert slots.pop_missed() == []


def test_whoever_has_the_fewest_slots_is_next() -> None:
    slots = Slots[int](2)
    with slots.take(1, "Alice"):
        with slots.take(2, "Alice"), slots.take(3, "Alice"), slots.take(4, "Alice"), slots.take(5, "Bob"):
            pass
        assert slots.pop_missed(1) == [5]
        assert slots.pop_missed() == [3, 4]
