"""One run of `make up`, stage by stage."""

import os
import secrets
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from config.up.engines import Engines
from config.up.home import DISK_IS_FULL, cannot_write, find_settings, load_secrets, probe, write_private_file
from config.up.model_choice import choose_chat, choose_embedding
from config.up.ports import is_free, is_healthy
from config.up.processes import Program, die_with_parent
from config.up.stores import choose_stores
from config.up.supervisor import Supervisor, last_line, rotate
from config.up.terminal import Stop, UpError, say

ROOT = Path(__file__).resolve().parents[3]
LOOK_SECONDS = 0.2
READY_SECONDS = 120.0
LOAD_SECONDS = 900.0  # for a large model from a slow disk
ENDS_BEFORE_READY = 3
PREPARED_FILE = "prepared"  # made once the tables are up to date: then the web process serves
RUNNING_FILE = "running"  # the children's settings, which config.settings reads for manage.py beside them
# glibc frees large blocks at once, and threads share one arena (only one runs at a time): saves 90 MB when idle.
MALLOC = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": str(256 << 10),
    "MALLOC_TRIM_THRESHOLD_": str(128 << 10),
}
PASSED_ON = ("SECRET_KEY", "KITH_ENCRYPTION_KEY", "KITH_VAPID_KEY")
QUEUES = "life,learn,embed,bulk,celery"
THREADS = 8
STOP_SECONDS = 15.0  # for connections and replies to end, or replies to be saved as interrupted


def web_program(port: int, *, after: Path | None = None) -> Program:
    """Return the program that serves pages, API and sockets, once the file `after` exists if one is given.

    When it stops, replies have a little time to finish.
    """
    command = [sys.executable, "-m", "config.up.web", "--port", str(port)]
    return Program("web", command + (["--after", str(after)] if after else []), stop_seconds=STOP_SECONDS)


def worker_program(*, with_beat: bool = False) -> Program:
    """Return the Celery worker, with beat or without. An interrupted task's work is found again from its rows."""
    flags = f"--pool threads --concurrency {THREADS} -Q {QUEUES} --loglevel INFO --without-mingle --without-gossip"
    # Celery runs Django's checks and ignores their results; they load every page, 40 MB that a worker does not need.
    command = [sys.executable, "-m", "celery", "-A", "config", "--skip-checks", "worker", *flags.split()]
    return Program("worker", command + ["--with-beat"] * with_beat, stop_seconds=STOP_SECONDS)


@dataclass
class Run:
    """One run of Kith on one data folder. `environment` holds what the children need, added to stage by stage."""

    home: Path
    port: int
    stop: Stop
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.supervisor = Supervisor(self.home)
        self.engines = Engines(self.supervisor, self._start)

    def start(self) -> None:
        """Start everything; return once Kith answers, or raise UpError if it cannot be started."""
        for name in (RUNNING_FILE, PREPARED_FILE):  # of an earlier run
            (self.home / name).unlink(missing_ok=True)
        self.supervisor.end_orphans()
        self._require_port()
        kept = load_secrets(self.home)
        self.environment |= {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "KITH_HOME": str(self.home),
            "PORT": str(self.port),
            "PYTHONPATH": str(ROOT / "platform"),
            "KITH_ENGINE_KEY": secrets.token_urlsafe(24),
        }
        self.environment |= {name: kept[name] for name in PASSED_ON if not os.environ.get(name)}
        self._run_module("config.up.settings_check")
        preparation: list[str] = []
        for store in choose_stores(os.environ, self.home, kept):
            say(f"Starting {store.program.name} ...")
            self.supervisor.start(store.program)
            self._wait_for(store.program.name, store.is_ready)
            self.environment |= store.environment
            preparation += store.preparation
        variables = os.environ | self.environment
        models = [model for model in (choose_chat(variables), choose_embedding(variables)) if model]
        for model in models:
            say(model.line)
            self.environment |= model.environment
        for model in models:
            if model.program is not None:
                self._start(model.program)
        write_private_file(self.home / RUNNING_FILE, find_settings(os.environ) | self.environment)
        self.engines.forget()
        # Loading takes the web process as long as preparing, and one of two cores is idle meanwhile.
        self._start(web_program(self.port, after=self.home / PREPARED_FILE))
        self._run_module("config.up.prepare", *preparation)
        self.engines.look()
        say("Starting web and worker ...")
        (self.home / PREPARED_FILE).touch()
        self._start(worker_program(with_beat=True))
        web = self.supervisor.watched["web"].child
        self._wait_for("web", lambda: is_healthy(self.port, os.environ.get("KITH_URL", ""), web.pid))
        for model in models:
            if model.program is not None and model.is_ready is not None and not model.is_ready():
                say("Loading the model ...")
                self._wait_for(model.program.name, model.is_ready, LOAD_SECONDS)
        say(f"Logs are in {self.home / 'logs'}.")
        if not os.environ.get("EMAIL_URL"):
            say(f"E-mail is not sent but saved in {self.home / 'mail'} (set EMAIL_URL to send it).")
        say(f"Kith is ready at http://127.0.0.1:{self.port}")

    def stay(self) -> None:
        """Keep everything running, also while the disk is full; raise StoppedError once `up` is asked to stop."""
        is_full = False
        while True:
            try:
                self.supervisor.watch()
                self.engines.look()
            except OSError as error:
                if error.errno not in DISK_IS_FULL:
                    raise
                if not is_full:
                    say(cannot_write(self.home, error))
                is_full = True
            else:
                is_full = False
            self.stop.wait(LOOK_SECONDS)

    def end(self) -> None:
        """Stop everything, in this order: the web process, worker and engines, Redis and Postgres."""
        (self.home / RUNNING_FILE).unlink(missing_ok=True)
        self.engines.forget()
        engines = (name for name in self.supervisor.watched if name.startswith("engine"))
        self.supervisor.stop(("web",), ("worker", "rehearsal", *engines), ("redis", "postgres"))

    def _require_port(self) -> None:
        try:
            why = "" if is_free(self.port) else "is in use by another program"
        except PermissionError:
            why = "may be used by root only"
        if why:
            raise UpError(f"Port {self.port} {why}. Choose a different one: make up PORT=8001")

    def _run_module(self, module: str, *arguments: str) -> None:
        """Run the module, with its output on the terminal and its errors in a log; raise UpError if it fails."""
        log = self.home / "logs" / "prepare.log"
        log.parent.mkdir(mode=0o700, exist_ok=True)
        rotate(log)
        with log.open("ab") as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                env={**os.environ, **self.environment},
                cwd=ROOT,
                stderr=errors,
                start_new_session=True,
                preexec_fn=die_with_parent(web_program(self.port).death_signal),
            )
        try:
            while process.poll() is None:
                self.stop.wait(LOOK_SECONDS / 2)
        finally:
            process.kill()
            process.wait()
        if process.returncode:
            self._give_up(f"Kith could not be prepared: {last_line(log)} (more in {log})")

    def _start(self, program: Program) -> None:
        malloc = {name: value for name, value in MALLOC.items() if name not in os.environ}
        self.supervisor.start(program.within(ROOT, malloc | self.environment))

    def _wait_for(self, name: str, is_ready: Callable[[], bool], seconds: float = READY_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        child = self.supervisor.watched[name]
        while not is_ready():
            self.supervisor.watch()
            if child.ends >= ENDS_BEFORE_READY:
                last = last_line(child.tail.path, child.tail.complaint)
                self._give_up(f"{name} could not start: {last} (more in {child.tail.path})")
            if time.monotonic() > deadline:
                raise UpError(f"{name} did not answer within {seconds:.0f} s; see {child.tail.path}")
            self.stop.wait(LOOK_SECONDS / 2)

    def _give_up(self, why: str) -> NoReturn:
        """Raise UpError, or OSError if the disk is full: then the last words in a log are vague or missing."""
        probe(self.home)
        raise UpError(why)
