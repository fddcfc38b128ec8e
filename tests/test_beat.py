"""Beat goes on whatever is done to the machine's clock."""

import dbm
import dbm.dumb
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from inspect import signature
from pathlib import Path
from types import SimpleNamespace

import pytest
from celery import Celery
from django.conf import settings
from django.utils import timezone

from companions.models import Companion
from config.celery import BeatThread, Scheduler
from config.celery import app as kith
from jobs.lease import LEASE_TIME, RETRY_DELAY
from memory.models import Document

NOON = datetime(2046, 5, 4, 10, tzinfo=UTC)
YEAR, DAY, SECOND = timedelta(days=365), timedelta(days=1), timedelta(seconds=1)


class Clock(Celery):
    """An application whose clock shows what the test sets."""

    at = NOON

    def now(self) -> datetime:
        return self.at


@pytest.fixture
def clock() -> Iterator[Clock]:
    schedule = {"tick": {"task": "tick", "schedule": 30.0}, "sweep": {"task": "sweep", "schedule": 3600.0}}
    app = Clock("test", broker="memory://", changes={"beat_schedule": schedule})
    app.set_current()  # entries that beat reads from its file ask the current application for the time
    yield app
    kith.set_current()
    app.close()


def run(beat: Scheduler, clock: Clock, seconds: int) -> int:
    """Let beat run for so long; return how often it sent the ticks."""
    before = beat.schedule["tick"].total_run_count
    for _second in range(seconds):
        while beat.tick() == 0:
            pass
        clock.at += SECOND
    return int(beat.schedule["tick"].total_run_count) - before


def test_kiths_beat_is_this_one_also_within_a_worker() -> None:
    assert kith.conf.beat_scheduler == settings.CELERY_BEAT_SCHEDULER == "config.celery:Scheduler"
    worker = SimpleNamespace(app=kith)
    beat = BeatThread(worker, with_beat=True).create(worker)
    assert beat.service.scheduler_cls == settings.CELERY_BEAT_SCHEDULER


def test_every_task_that_needs_no_argument_runs_by_beat() -> None:
    """The sweeps; all others are enqueued for something."""
    kith.loader.import_default_modules()
    sweeps = {
        name
        for name, task in kith.tasks.items()
        if not name.startswith("celery.") and not signature(task.run).parameters
    }
    assert "companions.life.tasks.tick" in sweeps
    assert sweeps == {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}


@pytest.mark.parametrize("back", [SECOND, DAY, YEAR], ids=str)
def test_a_clock_that_is_set_back_stops_nothing(clock: Clock, tmp_path: Path, back: timedelta) -> None:
    beat = Scheduler(clock, schedule_filename=str(tmp_path / "beat"))
    assert run(beat, clock, 301) == 10
    clock.at -= back
    assert run(beat, clock, 300) in {9, 10}
    beat.close()


def test_nor_does_it_after_a_restart(clock: Clock, tmp_path: Path) -> None:
    clock.at += YEAR
    beat = Scheduler(clock, schedule_filename=str(tmp_path / "beat"))
    run(beat, clock, 60)
    beat.close()
    clock.at -= YEAR
    beat = Scheduler(clock, schedule_filename=str(tmp_path / "beat"))
    assert run(beat, clock, 300) in {9, 10}
    beat.close()


if sys.platform == "linux":  # the only one that has a device which is always full

    def test_a_full_disk_stops_nothing(clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        # Other formats keep the file open, so that no full device can take its place.
        monkeypatch.setattr(dbm, "_defaultmod", dbm.dumb)
        beat = Scheduler(clock, schedule_filename=str(tmp_path / "beat"))
        run(beat, clock, 60)
        file = tmp_path / "beat.dat"
        content = file.read_bytes()
        file.unlink()
        file.symlink_to("/dev/full")
        beat.sync()
        assert run(beat, clock, 300) == 10
        file.unlink()
        file.write_bytes(content)
        count = beat.schedule["tick"].total_run_count
        beat.close()
        beat = Scheduler(clock, schedule_filename=str(tmp_path / "beat"))
        assert beat.schedule["tick"].total_run_count == count
        beat.close()


def test_a_clock_that_is_often_corrected_a_little_puts_off_no_rare_task(clock: Clock, tmp_path: Path) -> None:
    beat = Scheduler(clock, schedule_filename=str(tmp_path / "beat"))
    for _correction in range(14):
        run(beat, clock, 300)
        clock.at -= SECOND
    assert beat.schedule["sweep"].total_run_count == 1
    beat.close()


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_runs_beat_soon_goes_on_with_what_the_one_before_it_held(
    clock: Clock, tmp_path: Path, mira: Companion
) -> None:
    now = timezone.now()
    document = Document.objects.create(
        companion=mira, title="On tea", characters=9, given_at=now, next_at=now + LEASE_TIME
    )
    clock.conf.update(beat_schedule={}, beat_schedule_filename=str(tmp_path / "beat"))
    worker = SimpleNamespace(app=clock)
    beat = BeatThread(worker, with_beat=True).create(worker)
    beat.start(worker)
    beat.stop(worker)
    document.refresh_from_db()
    assert document.next_at is not None
    assert now <= document.next_at - RETRY_DELAY <= timezone.now()
