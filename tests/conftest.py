"""One embedded Postgres and one Valkey for the whole test run, however many workers share it.

They are started as this file is imported, by the process that the person started: Django reads its settings when
it is set up, and the conftest files below this one may import models. Workers find the addresses in their
environment; each has a database and a Redis database of its own. DATABASE_URL and REDIS_URL are respected where
they are already set.
"""

import asyncio
import atexit
import fcntl
import hashlib
import itertools
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO
from urllib.parse import urlsplit

import django
import pytest
from asgiref.sync import SyncToAsync
from django.conf import settings

from config.up.embedded import Embedded
from config.up.postgres import end_orphans
from tests.browser.chromium import CHROMIUM

ROOT = Path(__file__).resolve().parents[1]
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")

pytest_plugins = [
    "tests.fixtures.people",
    "tests.fixtures.turns",
    "tests.fixtures.rest",
    "tests.fixtures.sound",
    "tests.fixtures.spaces",
    "tests.fixtures.storage",
    "tests.fixtures.tables",
]


def _claimed(folder: Path) -> TextIO | None:
    """The open lock file of a data folder that is now ours alone; None where another test run has it."""
    folder.parent.mkdir(exist_ok=True)
    lock = folder.with_suffix(".lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    return lock


def _schema() -> str:
    """A digest that changes whenever a kept test database would be out of date."""
    paths = sorted(path for path in ROOT.glob("*/**/migrations/*.py") if ".venv" not in path.parts)
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


def _home() -> tuple[Path, TextIO]:
    """A data folder that no other test run uses, with its lock; emptied where the migrations have changed."""
    for number in itertools.count():
        folder = ROOT / ".kith-test" / str(number)
        lock = _claimed(folder)
        if lock is not None:
            break
    stamp = folder / "schema"
    if not stamp.exists() or stamp.read_text() != _schema():
        end_orphans(folder / "postgres")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        stamp.write_text(_schema())
    return folder, lock


def _start() -> Embedded | None:
    """Both services, running and named in the environment; None where there is nothing to start."""
    if WORKER or {"DATABASE_URL", "REDIS_URL"} <= os.environ.keys():
        return None
    home, lock = _home()
    embedded = Embedded(home, durable=False)
    embedded.start()
    atexit.register(lock.close)
    atexit.register(embedded.stop)
    os.environ.setdefault("DATABASE_URL", embedded.database_url)
    os.environ.setdefault("REDIS_URL", embedded.redis_url)
    os.environ.setdefault("KITH_HOME", str(home))
    return embedded


def _set_up_django() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    # What tests start finds Kith, however they were started.
    os.environ["PYTHONPATH"] = str(ROOT / "platform")
    os.environ.setdefault("KITH_VAPID_KEY", "dGhlIG51bWJlciBvZiB0aGUgdGVzdHMnIG93biBrZXk")
    os.environ["KITH_FLASHBACK_PROBABILITY"] = "0"  # what comes to mind is exactly what is asked for
    if WORKER:
        number = int(WORKER.removeprefix("gw")) + 1
        os.environ["REDIS_URL"] = urlsplit(os.environ["REDIS_URL"])._replace(path=f"/{number}").geturl()
    django.setup()
    # A machine that stands still for a second is no Redis that is away.
    settings.CACHES["default"]["OPTIONS"] |= {"socket_timeout": 30, "socket_connect_timeout": 30}
    # Left there, it would make pytest-django set up Django in a worker before this file has spoken.
    del os.environ["DJANGO_SETTINGS_MODULE"]


SERVICES = _start()
_set_up_django()


def pytest_configure(config: pytest.Config) -> None:
    """Keeps the embedded test databases for the next run: `_schema` says when they are out of date."""
    if SERVICES is not None:
        config.option.reuse_db = True


def _lacks_browser() -> bool:
    """Whether there is no Chromium and nobody promised one; CI did, and fails without."""
    return CHROMIUM is None and "CI" not in os.environ


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave the tests in a browser out where there is none."""
    return True if collection_path == ROOT / "tests" / "browser" and _lacks_browser() else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was left out."""
    if _lacks_browser():
        terminalreporter.write_line("Left out: tests/browser, for Chromium is not installed.")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """From a process's first browser test on, Playwright's loop counts as running: no other test may find it so."""
    loop = None if "browser" in item.keywords else asyncio._get_running_loop()
    if loop is None:
        return (yield)
    asyncio._set_running_loop(None)
    try:
        return (yield)
    finally:
        if nextitem is not None:
            asyncio._set_running_loop(loop)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    """The test databases, which end only when the thread of asynchronous requests has let go of them."""
    from django.db import connections

    yield
    SyncToAsync.single_thread_executor.submit(connections.close_all).result()


def pytest_unconfigure() -> None:
    """Ends the services as the run ends, also a run that failed."""
    if SERVICES is not None:
        SERVICES.stop()
