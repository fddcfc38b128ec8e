"""What memory needs: things said to a companion without a turn, and an embedding server that does as it is told."""

import json
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.db import transaction

from companions.models import Companion, Message
from companions.saying import say_all
from memory.models import Memory

DAY = datetime(2023, 5, 2, 9, tzinfo=UTC)
Say = Callable[..., list[Memory]]


@pytest.fixture
def say() -> Say:
    """Says texts to a companion, a minute apart from `at` on; the memories in their order."""

    def say(companion: Companion, *texts: str, role: str = "user", at: datetime = DAY) -> list[Memory]:
        session = companion.sessions.get(ended_at=None)
        messages = [
            Message(
                companion=companion,
                conversation=session.conversation,
                session=session,
                role=role,
                text=text,
                said_at=at + timedelta(minutes=n),
            )
            for n, text in enumerate(texts)
        ]
        with transaction.atomic():
            say_all(companion, messages, at)
        return [message.memory for message in messages]

    return say


class EmbeddingServer(ThreadingHTTPServer):
    """Answers /embeddings with vectors of `width`; refuses the word REFUSED; breaks down after `breaks_after` requests.

    `meanwhile` is called in each request that holds more than one word, before the answer.
    """

    def __init__(self) -> None:
        self.width = 4
        self.breaks_after = 1000
        self.refuses_key = False
        self.asked: list[str] = []
        self.requests = 0
        self.meanwhile: Callable[[], None] = lambda: None
        super().__init__(("127.0.0.1", 0), Handler)

    def answer(self, texts: list[str]) -> tuple[int, Any]:
        if texts == ["width"]:  # the embedder asks for the width
            return 200, self.vectors(texts)
        self.requests += 1
        if self.requests > self.breaks_after:
            return 503, {"error": {"message": "out of order"}}
        if self.refuses_key:
            return 401, {"error": {"message": "no such key"}}
        self.meanwhile()
        if any("REFUSED" in text for text in texts):
            return 400, {"error": {"message": "this is refused"}}
        self.asked += texts
        return 200, self.vectors(texts)

    def vectors(self, texts: list[str]) -> dict[str, Any]:
        return {
            "data": [
                {"index": n, "embedding": [1.0 + len(text), *[1.0] * (self.width - 1)]}
                for n, text in enumerate(texts)
            ]
        }


class Handler(BaseHTTPRequestHandler):
    server: EmbeddingServer

    def do_POST(self) -> None:
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        status, answer = self.server.answer(texts)
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def embedding_server(settings: Any) -> Iterator[EmbeddingServer]:
    """The serving embedder of this test: a real server over HTTP."""
    with EmbeddingServer() as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        settings.EMBEDDING = {
            "base_url": f"http://127.0.0.1:{server.server_port}/v1",
            "api_key": "",
            "model": "some-model",
        }
        yield server
        server.shutdown()
