"""MemoryBank's people as a stranger's program would have them: REST for the log, the WebSocket for the questions."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import httpx2
from websockets.sync.client import connect

from bench.memorybank.people import Person
from config.up.ports import find_free_port
from tests.fixtures.embedded import Embedded

if TYPE_CHECKING:
    from bench.memorybank.__main__ import Live

ROOT = Path(__file__).absolute().parents[2]
READY = "Kith is ready at "
ANSWER_SECONDS = 300.0
PATIENCE = {"KITH_MESSAGES_PER_MINUTE": "100000", "KITH_TOKENS_PER_DAY": "1000000000"}
ENDS = {"reply.done", "reply.failed", "reply.stopped", "reply.interrupted"}


@contextmanager
def own_kith() -> Iterator[tuple[str, Iterator[str]]]:
    """A Kith started as `make up` does, in a folder of its own: its address, and tokens, each of a new account."""
    with tempfile.TemporaryDirectory(prefix="kith-bench-") as folder:
        Path(folder).chmod(0o755)  # Postgres runs as an account of its own where we are root
        with Embedded(Path(folder)) as stores:
            own = {
                "DATABASE_URL": stores.database_url,
                "REDIS_URL": stores.redis_url,
                "KITH_HOME": folder,
                "PORT": str(find_free_port()),
                "PYTHONPATH": str(ROOT / "platform"),
            }
            yield from _up(own)


def _up(own: dict[str, str]) -> Iterator[tuple[str, Iterator[str]]]:
    command = [sys.executable, "-m", "config.up"]
    up = subprocess.Popen(
        command, cwd=ROOT, env=os.environ | PATIENCE | own, stdout=subprocess.PIPE, text=True
    )
    try:
        yield _address(up), _tokens(own)
    finally:
        up.send_signal(signal.SIGINT)
        up.wait()


def _address(up: "subprocess.Popen[str]") -> str:
    assert up.stdout is not None
    for line in up.stdout:
        print(line, end="", flush=True)
        if READY in line:
            return line.partition(READY)[2].split()[0]
    raise SystemExit("Kith did not start.")


def living(url: str, tokens: Iterator[str]) -> "Live":
    """A way to live through a person's log at that address, each person with the next token."""

    def live(person: Person) -> Iterator[tuple[list[str], bool]]:
        authorization = {"Authorization": f"Bearer {next(tokens)}"}
        api = httpx2.Client(base_url=f"{url.rstrip('/')}/api/v1", headers=authorization, timeout=120)
        companion = _post(api, "/companions", {"name": "Juno"})["id"]
        path = f"/companions/{companion}"
        _wait(api, path, _post(api, f"{path}/import/log", {"messages": person.log}))
        labels = _labels(api, path)
        for question in person.questions:
            _wait(api, path, _post(api, f"{path}/close"))
            socket = f"{url.rstrip('/').replace('http', 'ws', 1)}/ws{path}/"
            recalled, is_answered = _asked(socket, authorization, question.text)
            yield [labels.get(message, "") for message in recalled], is_answered

    return live


def _asked(socket: str, authorization: dict[str, str], text: str) -> tuple[list[str], bool]:
    """The ids of the messages recalled for the question, best first, and whether an answer came."""
    recalled: list[str] = []
    with connect(socket, additional_headers=authorization) as wire:
        wire.send(json.dumps({"type": "message.send", "text": text, "client_id": str(uuid4())}))
        while True:
            frame: dict[str, Any] = json.loads(wire.recv(ANSWER_SECONDS))
            if frame["type"] == "reply.recalled":
                recalled = [one["message_id"] for one in frame["recalled"]]
            if frame["type"] == "error":
                raise SystemExit(f"{frame['code']}: {frame['detail']}")
            if frame["type"] in ENDS:
                return recalled, frame["type"] == "reply.done"


def _post(api: httpx2.Client, path: str, body: Any = None) -> Any:
    response = api.post(path, json=body)
    if response.is_error:
        raise SystemExit(f"{path}: {response.status_code} {response.text[:500]}")
    return response.json()


def _wait(api: httpx2.Client, path: str, answer: Any) -> None:
    """Until the job is done: what was taken in can be recalled."""
    while (job := answer["job"])["state"] != "done":
        if job["state"] == "failed":
            raise SystemExit(f"{path}: {job['error']}")
        time.sleep(0.2)
        answer = api.get(f"{path}/jobs/{job['id']}").json()


def _labels(api: httpx2.Client, path: str) -> dict[str, str]:
    """The label of each message that was taken in, by its id."""
    labels: dict[str, str] = {}
    following: str | None = ""
    while following is not None:
        page = api.get(f"{path}/messages", params={"cursor": following} if following else {}).json()
        labels |= {one["id"]: one["client_id"] or "" for one in page["items"]}
        following = page["next"]
    return labels


def _tokens(own: dict[str, str]) -> Iterator[str]:
    """Tokens of new accounts, from the command line: one account may not import as many logs as there are people."""
    for number in count(1):
        email = f"person{number}@example.org"
        _manage(own, "create_account", email)
        yield _manage(own, "create_token", email)


def _manage(own: dict[str, str], *arguments: str) -> str:
    command = [sys.executable, "manage.py", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | own, check=True, capture_output=True, text=True)
    return done.stdout.strip()
