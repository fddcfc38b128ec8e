"""The Celery application. Its tasks are only nudges: what there is to do is found from database rows."""

import os
import signal
import threading
from typing import Any

import redis
from celery import Celery, bootsteps
from celery.beat import PersistentScheduler, Service
from celery.signals import beat_init, worker_ready
from celery.utils.log import get_logger
from click import Option
from django.conf import settings
from django.db import connection
from django.utils import timezone

from database.queries import DATABASE_UNAVAILABLE

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
logger = get_logger(__name__)
WORKER_KEY = "kith:alive:worker"  # signs of life: every ten seconds beat sends a `pulse`, a worker runs it
BEAT_KEY = "kith:alive:beat"
SIGN_SECONDS = 45

app = Celery("kith")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(["companions.sessions", "companions.life", "providers.downloads"])
app.user_options["worker"].add(Option(["--with-beat"], is_flag=True, help="Run beat in this worker as well."))


class Scheduler(PersistentScheduler):
    """Beat's schedule, which goes on if the machine's clock is set back, and while the disk is full.

    Celery's own waits until the clock has caught up with the last runs, for a year if it was a year ahead, and a restart
    does not help, as the last runs are kept in a file. If it cannot write that file, it ends.
    """

    _store: Any  # the shelf of the last runs, which the types of Celery leave out

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Run what is due and return for how many seconds to sleep; a last run that lies ahead counts as run now."""
        now = self.app.now()
        entries = self.schedule.values()
        ahead = [entry for entry in entries if entry.last_run_at and entry.last_run_at > now]
        for entry in ahead:
            entry.last_run_at = now
        if ahead:
            self.populate_heap()  # the heap holds the next times, which lie ahead as well
        seconds: float = super().tick(*args, **kwargs)
        return seconds

    def sync(self) -> None:
        """Write the last runs to the file; on a full disk, leave that to the next time."""
        try:
            super().sync()
        except OSError as error:
            self._store.writeback = True  # which the failed attempt has turned off
            logger.warning("schedule_not_written", extra={"error": type(error).__name__})


class BeatThread(bootsteps.StartStopStep):
    """Runs beat in a thread of a worker that was started with --with-beat: a process of its own would take 150 MB.

    Celery's own --beat forks a process, which would outlive a worker that is killed.
    """

    requires = ("celery.worker.components:Pool",)

    def __init__(self, parent: Any, with_beat: bool = False, **options: Any) -> None:
        self.enabled = with_beat
        super().__init__(parent, **options)

    def create(self, parent: Any) -> Any:
        # Without a name, Service takes Celery's own scheduler, whatever the settings say.
        self.service = Service(parent.app, max_interval=1, scheduler_cls=parent.app.conf.beat_scheduler)
        return self

    def start(self, parent: Any) -> None:
        _shorten_leases()
        threading.Thread(target=self._run, name="beat", daemon=True).start()

    def stop(self, parent: Any) -> None:
        self.service.stop(wait=True)

    terminate = stop

    def _run(self) -> None:
        try:
            self.service.start()
        except Exception:
            logger.exception("beat_failed")
            os.kill(os.getpid(), signal.SIGTERM)  # the worker's supervisor restarts both


app.steps["worker"].add(BeatThread)


def _shorten_leases() -> None:
    """Shorten what an earlier worker has leased, before this one takes any work: it is the only one if it runs beat."""
    from companions.life.leases import shorten_leases  # which loads models

    try:
        shorten_leases(timezone.now())
    except DATABASE_UNAVAILABLE as error:  # the leases then end by themselves
        logger.warning("leases_not_shortened", extra={"error": type(error).__name__})
    finally:
        connection.close()


def _leave_sign(*keys: str) -> None:
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        for key in keys:
            client.set(key, 1, ex=SIGN_SECONDS)


@app.task
def pulse() -> None:
    """Record that beat and a worker are alive, as this task came through."""
    _leave_sign(WORKER_KEY, BEAT_KEY)


@worker_ready.connect
def _worker_is_ready(**_: object) -> None:
    _leave_sign(WORKER_KEY)


@beat_init.connect
def _beat_is_ready(**_: object) -> None:
    _leave_sign(BEAT_KEY)
