"""One embedded Postgres and one Valkey for the whole test run, however many workers share it.

They are started as this file is imported, by the process that the person started: Django reads its settings when
it is set up, and the conftest files below this one may import models. Workers find the addresses in their
environment; each has a database and a Redis database of its own. DATABASE_URL and REDIS_URL are respected where
they are already set.
"""

import asyncio
import atexit
import fcntl
import gc
import itertools
import os
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TextIO
from unittest import TestCase
from urllib.parse import urlsplit

import django
import hypothesis
import psycopg
import pytest
import redis
from asgiref.sync import SyncToAsync
from django.utils import timezone, translation

from tests.browser.chromium import CHROMIUM
from tests.fixtures.counters import forget_keys
from tests.fixtures.databases import copy_database
from tests.fixtures.embedded import Embedded

ROOT = Path(__file__).resolve().parents[1]
SLOW = {"browser": 0, "crowd": 1, "up": 1, "processes": 2}  # by folder, and which worker begins with it
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
# Plugins set these up for each test, and they act only where a test has that mark, fixture or class.
SERVED_BY_MARK = {
    "_django_db_marker": "django_db",
    "_django_isolate_apps": "django_isolate_apps",
    "_django_set_urlconf": "urls",
    "_template_string_if_invalid_marker": "ignore_template_errors",
}
SERVED_BY_FIXTURE = {"_live_server_helper": "live_server", "_pw_trace_api_requests": "playwright"}

pytest_plugins = [
    "tests.fixtures.hostile",
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


def _home() -> tuple[Path, TextIO]:
    """A data folder that no other test run uses, with its lock."""
    for number in itertools.count():
        folder = ROOT / ".kith-test" / str(number)
        lock = _claimed(folder)
        if lock is not None:
            return folder, lock
    raise AssertionError


def _tune(url: str) -> None:
    """A test run is short: nothing is vacuumed, and no checkpoint comes between."""
    with psycopg.connect(url, autocommit=True) as connection:
        for name, value in (("autovacuum", "off"), ("checkpoint_timeout", "1h"), ("max_wal_size", "4GB")):
            connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        connection.execute("SELECT pg_reload_conf()")


def _start() -> Embedded | None:
    """Both services, running and named in the environment; None where there is nothing to start."""
    if WORKER or {"DATABASE_URL", "REDIS_URL"} <= os.environ.keys():
        return None
    home, lock = _home()
    embedded = Embedded(home, durable=False)
    embedded.start()
    _tune(embedded.database_url)
    with redis.Redis.from_url(embedded.redis_url) as client:
        client.flushall()  # an earlier run had people of the same numbers
    atexit.register(lock.close)
    atexit.register(embedded.stop)
    os.environ.setdefault("DATABASE_URL", embedded.database_url)
    os.environ.setdefault("REDIS_URL", embedded.redis_url)
    os.environ.setdefault("KITH_HOME", str(home))
    return embedded


def _set_up_django() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    # What tests start finds Kith, however they were started.
    os.environ["PYTHONPATH"] = str(ROOT / "platform")
    os.environ.setdefault("KITH_VAPID_KEY", "dGhlIG51bWJlciBvZiB0aGUgdGVzdHMnIG93biBrZXk")
    os.environ["KITH_FLASHBACK_PROBABILITY"] = "0"  # what comes to mind is exactly what is asked for
    if WORKER:
        number = int(WORKER.removeprefix("gw")) + 1
        os.environ["REDIS_URL"] = urlsplit(os.environ["REDIS_URL"])._replace(path=f"/{number}").geturl()
    django.setup()
    del os.environ["DJANGO_SETTINGS_MODULE"]  # what tests start reads settings of its own


gc.disable()  # until tests run: what is imported and collected stays
SERVICES = _start()
_set_up_django()
# The same examples each time: more of them, and new ones, are tried by `make prove-properties`.
hypothesis.settings.register_profile("sample", max_examples=100, deadline=None, derandomize=True)
hypothesis.settings.register_profile("proof", max_examples=2_000, deadline=None, print_blob=True)
hypothesis.settings.load_profile("sample")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two more than there are processors: much of a test is waiting."""
    return (os.cpu_count() or 1) + 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Unset the settings module, which imports have named meanwhile: pytest-django would have a worker read it before
    this file has given the worker a Redis database of its own.
    """
    os.environ.pop("DJANGO_SETTINGS_MODULE", None)


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


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """In a run of all tests, let each worker first load another part of the modules.

    Otherwise all workers would compile each module of a fresh clone at the same moment, each for itself.
    """
    config = session.config
    if WORKER and config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        files = sorted((ROOT / "tests").rglob("test_*.py"))
        count = getattr(config, "workerinput", {}).get("workercount", 1)
        for file in files[int(WORKER.removeprefix("gw")) :: count]:
            if not pytest_ignore_collect(file.parent):
                with suppress(Exception):  # collecting the module will tell
                    import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))


def _spare_idle_fixtures(item: pytest.Item) -> None:
    """Set up none of the plugins' fixtures that would do nothing for this test: a dozen cost more than many tests."""
    names = getattr(item, "fixturenames", [])
    idle = {name for name, mark in SERVED_BY_MARK.items() if item.get_closest_marker(mark) is None}
    idle |= {name for name, fixture in SERVED_BY_FIXTURE.items() if fixture not in names}
    if not issubclass(getattr(item, "cls", None) or object, TestCase):
        idle.add("_django_setup_unittest")
    item.fixturenames = [name for name in names if name not in idle]  # type: ignore[attr-defined]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let each worker begin with other slow folders, whose servers are then started once and whose end nobody awaits.

    Each is given an equal part of the list, in its order; whoever is done takes over from the end of another's part.
    """
    count = getattr(config, "workerinput", {}).get("workercount", 1)
    first: list[list[pytest.Item]] = [[] for _ in range(count)]
    rest = []
    for item in items:
        _spare_idle_fixtures(item)
        place = SLOW.get(item.path.relative_to(ROOT / "tests").parts[0])
        (rest if place is None else first[place % count]).append(item)
    ordered: list[pytest.Item] = []
    for number, slow in enumerate(first, start=1):
        more = max(0, number * len(items) // count - len(ordered) - len(slow))
        ordered += [*slow, *rest[:more]]
        del rest[:more]
    items[:] = ordered + rest


def pytest_collection_finish() -> None:
    """Keep the garbage collector from going through modules and collected tests, and from running often."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Begin in Kith's own language and time zone: a test's last request leaves those of its person behind."""
    translation.deactivate()
    timezone.deactivate()


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
def django_db_setup(django_test_environment: None) -> Iterator[None]:
    """This process's database; it ends only when the thread of asynchronous requests has let go of it."""
    from django.db import connections

    name = f"test_kith_{WORKER or 'main'}"
    copy_database(name)
    connections.settings["default"]["NAME"] = name
    yield
    SyncToAsync.single_thread_executor.submit(connections.close_all).result()
    connections["default"].close_pool()


@pytest.fixture(autouse=True)
def _closed_breakers() -> None:
    """Have nothing left alone for what failed in tests that are over: they share the model's server."""
    forget_keys("kith:provider:*")


def pytest_unconfigure() -> None:
    """Ends the services as the run ends, also a run that failed."""
    if SERVICES is not None:
        SERVICES.stop()
