"""Somebody who talks with a companion, by sockets and over HTTP, from any web process."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from accounts.models import User
from providers.http.options import get_tls_context

ENDINGS = ("reply.done", "reply.stopped", "reply.interrupted", "reply.failed")
Frame = dict[str, Any]


class Person:
    """A user with a token and a companion of theirs; `urls` are those of the web processes."""

    def __init__(self, user: User, token: str, urls: list[str]) -> None:
        self.user, self.urls = user, urls
        self.headers = {"Authorization": f"Bearer {token}"}
        made = self.api().post("companions", json={"name": "Mira", "persona": "Mira is calm."})
        assert made.status_code == 201, made.text
        self.companion_id: str = made.json()["id"]

    def api(self, number: int = 0) -> httpx.Client:
        return httpx.Client(
            base_url=f"{self.urls[number]}/api/v1/",
            headers=self.headers,
            timeout=30,
            verify=get_tls_context(),
        )

    @property
    def path(self) -> str:
        return f"companions/{self.companion_id}"

    @contextlib.contextmanager
    def socket(self, number: int = 0) -> Iterator["Socket"]:
        address = f"{self.urls[number].replace('http', 'ws')}/ws/{self.path}/"
        with connect(address, additional_headers=self.headers, close_timeout=0.5) as wire:
            socket = Socket(wire)
            socket.greet()
            yield socket


class Socket:
    """An open socket; all that came is in `frames`, in its order."""

    def __init__(self, wire: ClientConnection) -> None:
        self.wire = wire
        self.frames: list[Frame] = []
        self.is_open = True
        self._came = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with contextlib.suppress(ConnectionClosed):
            for text in self.wire:
                with self._came:
                    self.frames.append(json.loads(text))
                    self._came.notify_all()
        with self._came:
            self.is_open = False
            self._came.notify_all()

    def greet(self) -> None:
        """Have Kith answer, if only that it does not understand: from then on the socket hears everything."""
        self.send("hello")
        self.wait(lambda: self.frames)
        self.frames.clear()

    def cut(self) -> None:
        """As when the network goes: no closing handshake."""
        self.wire.socket.shutdown(socket.SHUT_RDWR)
        self.wait(lambda: not self.is_open)

    def send(self, type: str, **fields: Any) -> None:
        self.wire.send(json.dumps({"type": type, **fields}))

    def say(self, text: str, client_id: str) -> None:
        self.send("message.send", text=text, client_id=client_id)

    def wait(self, fact: Callable[[], Any], seconds: float = 60.0) -> Any:
        """What `fact` gives once it is true, looked at whenever a frame has come."""
        deadline = time.monotonic() + seconds
        with self._came:
            while not (found := fact()):
                left = deadline - time.monotonic()
                assert self.is_open, f"closed ({self.wire.close_code}); the last frames: {self.frames[-3:]}"
                assert left > 0, f"not within {seconds} s; the last frames: {self.frames[-3:]}"
                self._came.wait(left)
        return found

    def first(self, *types: str, seconds: float = 60.0, **fields: Any) -> Frame:
        """The first frame of one of these types with these fields."""
        found: Frame = self.wait(lambda: next(iter(self.all(*types, **fields)), None), seconds)
        return found

    def all(self, *types: str, **fields: Any) -> list[Frame]:
        return [
            frame
            for frame in list(self.frames)
            if frame["type"] in types and all(frame.get(name) == value for name, value in fields.items())
        ]

    def pieces(self, count: int, reply_id: str | None = None) -> list[Frame]:
        """At least so many pieces."""
        fields = {"id": reply_id} if reply_id else {}
        found: list[Frame] = self.wait(
            lambda: found if len(found := self.all("reply.piece", **fields)) >= count else None
        )
        return found

    def saved(self, client_id: str) -> Frame:
        """The `message.saved` of the message under this client id."""
        found: Frame = self.wait(
            lambda: next(
                (f for f in self.all("message.saved") if f["message"]["client_id"] == client_id), None
            )
        )
        return found

    def ending(self, reply_id: str, seconds: float = 60.0) -> Frame:
        return self.first(*ENDINGS, id=reply_id, seconds=seconds)

    def heard(self, reply_id: str, before: str = "") -> str:
        """The reply's text as these frames give it; one that is missing, or comes with two texts, is an error."""
        text, pieces = before, {}
        for frame in self.all("reply.started", "reply.piece", "reply.thought", id=reply_id):
            if frame["type"] == "reply.started":
                text, pieces = frame["text"], {}
                continue
            # A socket that comes late may hear a piece before its resume is answered; then it comes once more.
            assert pieces.setdefault(frame["seq"], frame) == frame
        assert sorted(pieces) == list(range(min(pieces, default=1), max(pieces, default=0) + 1)), sorted(
            pieces
        )
        return text + "".join(
            pieces[seq]["text"] for seq in sorted(pieces) if pieces[seq]["type"] == "reply.piece"
        )
