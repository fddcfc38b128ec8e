"""The worker's connection to Redis, which may go away at any moment."""

import threading
import time
from pathlib import Path

import pytest
from celery import Celery
from celery.contrib.testing.worker import start_worker
from django.conf import settings

from config.celery import app as kith
from config.up.ports import find_free_port
from config.up.processes import Child
from config.up.stores import Valkey
from tests.fixtures.embedded import wait_until

pytestmark = [pytest.mark.processes, pytest.mark.filterwarnings("ignore")]
WAIT_SECONDS = 30


def test_a_redis_that_goes_away_while_a_task_is_in_work_does_not_end_the_worker(tmp_path: Path) -> None:
    """A worker that ends waits for the task first, which may take minutes: meanwhile nothing would be done."""
    server = Valkey(tmp_path / "redis", find_free_port(), "secret")
    child = Child(server.program(), tmp_path / "redis.log")
    child.start()
    wait_until(server.is_ready, child)
    names = ("broker_transport", "broker_transport_options", "task_acks_late", "worker_prefetch_multiplier")
    app = Celery("test", broker=server.url, changes={name: kith.conf[name] for name in names})
    began, may_end, is_nudged = threading.Event(), threading.Event(), threading.Event()

    @app.task
    def work_long() -> None:
        began.set()
        may_end.wait(WAIT_SECONDS)
        may_end.clear()

    @app.task
    def nudge() -> None:
        is_nudged.set()

    try:
        with start_worker(app, pool="threads", concurrency=2, perform_ping_check=False):
            work_long.delay()
            assert began.wait(WAIT_SECONDS)
            assert child.process is not None
            child.process.kill()
            child.process.wait()
            child.start()
            wait_until(server.is_ready, child)
            nudge.delay()
            assert is_nudged.wait(WAIT_SECONDS / 2)
            is_nudged.clear()
            may_end.set()  # which cannot be acknowledged any more
            while may_end.is_set():
                time.sleep(0.02)
            time.sleep(0.5)
            nudge.delay()
            assert is_nudged.wait(WAIT_SECONDS / 2)
    finally:
        may_end.set()
        kith.set_current()
        app.close()
        child.stop()


def test_kiths_worker_comes_to_redis_that_way() -> None:
    assert kith.conf.broker_transport == settings.CELERY_BROKER_TRANSPORT == "config.broker:Transport"


def test_kith_looks_for_redis_until_it_is_back() -> None:
    tries = 0

    def count(error: Exception, interval: float) -> None:
        nonlocal tries
        tries += 1
        if tries == 200:
            raise LookupError

    with (
        kith.connection_for_read(f"redis://127.0.0.1:{find_free_port()}/0") as connection,
        pytest.raises(LookupError),
    ):
        connection.ensure_connection(
            count, kith.conf.broker_connection_max_retries, interval_start=0, interval_step=0
        )
