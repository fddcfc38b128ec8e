"""A whole Kith of these tests' own: its services, two web processes, a worker and the rehearsal model."""

import os
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import environ
import httpx
import psutil
import redis
from django.db import connections
from django.db.models import Model, QuerySet

from accounts.models import Token, User
from companions.models import Message, Reply
from config.celery import WORKER_KEY
from config.up.home import SECRET_MAKERS
from config.up.ports import LOOPBACK, find_free_port, is_answering
from config.up.processes import Child
from config.up.run import web_program, worker_program
from providers.http.options import get_tls_context
from tests.fixtures.databases import ENVIRONMENT, fill_database
from tests.fixtures.embedded import Embedded
from tests.fixtures.push_service import PushService
from tests.fixtures.rehearsal import RehearsalServer
from tests.processes.person import Person

ROOT = Path(__file__).resolve().parents[2]
READY_SECONDS = 180.0
PATIENCE_SECONDS = 60.0
ALIAS = "house"  # its database, beside the one that other tests use
QUICK = {
    "KITH_LEASE_RENEWED_SECONDS": "0.4",
    "KITH_LEASE_LOST_SECONDS": "4",
    "KITH_DRAIN_SECONDS": "1",
    "KITH_FLASHBACK_PROBABILITY": "0",
    "KITH_MESSAGES_PER_MINUTE": "100000",
    "KITH_TOKENS_PER_DAY": "1000000000",
    "LLM_CONNECT_SECONDS": "1",
    "LLM_FIRST_PIECE_SECONDS": "20",
    "LLM_SILENCE_SECONDS": "20",
    "LLM_RETRIES": "0",
}
SECRETS = {name: SECRET_MAKERS[name]() for name in ("KITH_VAPID_KEY", "KITH_ENCRYPTION_KEY")}
M = TypeVar("M", bound=Model)
T = TypeVar("T")


def eventually(fact: Callable[[], T], seconds: float = PATIENCE_SECONDS) -> T:
    """What `fact` gives once it is true; AssertionError with what it gave last where it never is."""
    deadline = time.monotonic() + seconds
    while not (found := fact()):
        assert time.monotonic() < deadline, f"not within {seconds} s: {found!r}"
        time.sleep(0.02)
    return found


class House:
    """Everything runs between `start` and `stop`; a test may kill any of it, `start` brings back what is gone."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.services = Embedded(home / "data")
        self.rehearsal = RehearsalServer(port=find_free_port())
        self.push = PushService()
        self.ports = [find_free_port(), find_free_port()]
        self.webs = [
            Child(web_program(port), home / f"web{number}.log") for number, port in enumerate(self.ports)
        ]
        self.worker = Child(worker_program(), home / "worker.log")
        self._persons = 0

    def environment(self) -> dict[str, str]:
        addresses = {"DATABASE_URL": self.services.database_url, "REDIS_URL": self.services.redis_url}
        model = {"LLM_BASE_URL": self.rehearsal.url, "LLM_MODEL": "rehearsal", "KITH_REHEARSAL": "1"}
        model["KITH_CHAT_FOUND"] = "true"  # a provider of the database comes before it
        mine = {"KITH_HOME": str(self.home), **ENVIRONMENT}
        push = {"KITH_OUTBOUND_ALLOWED": self.push.host, **SECRETS}
        return {**mine, **addresses, **model, **push, **QUICK}

    def prepare(self) -> None:
        """Services, tables, and everything else."""
        self.services.start()
        self.rehearsal.start()
        self.push.__enter__()
        environment = self.environment()
        for child in (*self.webs, self.worker):
            child.program = child.program.within(ROOT, environment)
        connections.settings[ALIAS] = _database(self.services.database_url)
        fill_database(self.services.database_url)
        self.start()

    def start(self) -> None:
        """Start whatever does not run, and wait until both web processes answer and the worker takes work."""
        self.services.start()
        stopped = [child for child in (*self.webs, self.worker) if not child.is_running()]
        with self.redis() as client:
            if self.worker in stopped:
                client.delete(WORKER_KEY)  # of the one before
            for child in stopped:
                child.start()
            for child, port in zip(self.webs, self.ports, strict=True):
                eventually(partial(_is_ready, child, partial(is_answering, port)), READY_SECONDS)
            if self.worker in stopped:
                eventually(partial(_is_ready, self.worker, partial(client.exists, WORKER_KEY)), READY_SECONDS)

    def stop(self) -> None:
        """End everything."""
        connections[ALIAS].close()
        for child in (*self.webs, self.worker):
            child.kill()
        self.rehearsal.stop()
        self.push.__exit__(None, None, None)
        self.services.stop()

    def redis(self) -> redis.Redis:
        return redis.Redis.from_url(self.services.redis_url, decode_responses=True)

    def url(self, number: int) -> str:
        return f"http://{LOOPBACK}:{self.ports[number]}"

    def health(self, number: int = 0) -> dict[str, Any]:
        """The answer of /healthz with its status under `code`."""
        response = httpx.get(f"{self.url(number)}/healthz", timeout=20, verify=get_tls_context())
        return {**response.json(), "code": response.status_code}

    def rows(self, model: type[M]) -> QuerySet[M]:
        return model._base_manager.using(ALIAS)

    def replies(self, person: Person) -> QuerySet[Reply]:
        """The replies of a person's companion, the first asked first."""
        mine = self.rows(Reply).filter(companion_id=person.companion_id).order_by("created_at")
        return mine.select_related("message", "answer", "continues")

    def messages(self, person: Person) -> list[Message]:
        """What the person's companion was told and told, oldest first."""
        return list(self.rows(Message).filter(companion_id=person.companion_id).order_by("said_at"))

    def person(self) -> Person:
        """Somebody new, with a token and a companion."""
        self._persons += 1
        user = User(email=f"person{self._persons}@example.org", name="Alice", time_zone="Europe/Berlin")
        user.save(using=ALIAS)
        _, token = Token.objects.using(ALIAS).issue(user, "test")
        return Person(user, token, [self.url(0), self.url(1)])


def _is_ready(child: Child, answers: Callable[[], Any]) -> bool:
    """Whether it answers; AssertionError where it has ended."""
    assert child.is_running(), child.log_path.read_text()[-4000:]
    return bool(answers())


def kill(child: Child) -> None:
    """`kill -9`, and wait until it is gone. A connection of ours that it may have held is not used again."""
    connections[ALIAS].close()
    process = psutil.Process(child.pid)
    os.kill(child.pid, signal.SIGKILL)
    assert child.process
    child.process.wait()
    psutil.wait_procs([process], timeout=5)


def _database(url: str) -> dict[str, Any]:
    defaults = connections.settings["default"]
    return {**defaults, **environ.Env.db_url_config(url), "OPTIONS": {}, "CONN_HEALTH_CHECKS": True}
