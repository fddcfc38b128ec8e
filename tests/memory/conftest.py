"""What memory needs: things said to a companion without a turn, and an embedding server that does as it is told."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import repeat
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction

from companions.conversations.messages import say_all
from companions.models import Companion, Message
from memory.embedding import select_unembedded
from memory.models import Memory

DAY = datetime(2023, 5, 2, 9, tzinfo=UTC)
Say = Callable[..., list[Memory]]


@pytest.fixture(scope="session")
def say() -> Say:
    """Says texts to a companion, a minute apart from `at` on, all in one role or each in its own; the memories in their
    order.
    """

    def say(
        companion: Companion,
        *texts: str,
        role: str = "user",
        roles: Sequence[str] = (),
        at: datetime = DAY,
    ) -> list[Memory]:
        session = companion.sessions.select_related("conversation").get(ended_at=None)
        messages = [
            Message(
                companion=companion,
                conversation=session.conversation,
                session=session,
                role=own_role,
                text=text,
                said_at=at + timedelta(minutes=n),
            )
            for n, (text, own_role) in enumerate(zip(texts, roles or repeat(role), strict=False))
        ]
        with transaction.atomic():
            say_all(companion, messages, at)
        memories = {memory.message_id: memory for memory in Memory.objects.filter(message__in=messages)}
        for message in messages:
            memories[message.pk].message = message
        return [memories[message.pk] for message in messages]

    return say


class EmbeddingServer(ThreadingHTTPServer):
    """Answers /embeddings with vectors of `width`, or of `widths` by model; breaks down after `breaks_after` requests.

    It refuses the word REFUSED, with `refuses_all` everything, and sees no meaning in the word NOTHING. `meanwhile` is
    called in each request that does not ask for the width, before the answer. `bodies` are the requests as they came,
    `keys` the keys that came with them.
    """

    def __init__(self) -> None:
        self.width = 4
        self.breaks_after = 1000
        self.refuses_key = self.refuses_all = False
        self.widths: dict[str, int] = {}
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.asked: list[str] = []
        self.requests = 0
        self.meanwhile: Callable[[], None] = lambda: None
        super().__init__(("127.0.0.1", 0), Handler)

    def answer(self, body: dict[str, Any]) -> tuple[int, Any]:
        texts = body["input"]
        self.bodies.append(body)
        if self.refuses_all:
            return 400, {"error": {"message": "no such field"}}
        if texts == ["width"]:  # the embedder asks for the width
            return 200, self.vectors(body)
        self.requests += 1
        if self.requests > self.breaks_after:
            return 503, {"error": {"message": "out of order"}}
        if self.refuses_key:
            return 401, {"error": {"message": f"no such key: {self.keys[-1]}"}}
        self.meanwhile()
        if any("REFUSED" in text for text in texts):
            return 400, {"error": {"message": "this is refused"}}
        self.asked += texts
        return 200, self.vectors(body)

    def vectors(self, body: dict[str, Any]) -> dict[str, Any]:
        width = self.widths.get(body["model"], self.width)
        rows = [
            [0.0] * width if "NOTHING" in text else [1.0 + len(text), *[1.0] * (width - 1)]
            for text in body["input"]
        ]
        return {"data": [{"index": n, "embedding": row} for n, row in enumerate(rows)]}


class Handler(BaseHTTPRequestHandler):
    server: EmbeddingServer

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.keys.append(self.headers["Authorization"].removeprefix("Bearer "))
        status, answer = self.server.answer(sent)
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def waiting(companion_id: UUID) -> int:
    """How many of the companion's memories wait for the wanted space."""
    return select_unembedded(companion_id).count()


def asking(server: EmbeddingServer, model: str = "some-model", **manner: str) -> dict[str, str]:
    """The settings that ask this server."""
    return {"base_url": f"http://127.0.0.1:{server.server_port}/v1", "api_key": "", "model": model, **manner}


@pytest.fixture
def embedding_server(settings: Any) -> Iterator[EmbeddingServer]:
    """The serving embedder of this test: a real server over HTTP."""
    with EmbeddingServer() as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        settings.EMBEDDING = asking(server)
        yield server
        server.shutdown()
