"""Long tasks, e.g. imports and restores: one at a time for each user, and whoever found no slot is looked for again."""

import pytest

from companions import tasks


def test_the_sweeps_are_enqueued_only_if_a_task_found_no_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    enqueued: list[str] = []
    done: list[str] = []
    monkeypatch.setattr(tasks, "enqueue", enqueued.append)
    tasks.run_long(1, lambda: done.append("first"))
    assert (done, enqueued) == (["first"], [])
    tasks.run_long(1, lambda: tasks.run_long(1, lambda: done.append("beside it")))
    assert (done, enqueued) == (
        ["first"],
        ["companions.tasks.go_on_with_pasts", "companions.tasks.restore_waiting"],
    )
