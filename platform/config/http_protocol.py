"""The web server's side of a connection, which waits for nobody for ever."""

import asyncio
from collections.abc import Callable
from typing import Any

from django.conf import settings
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LEAST_BYTES = 8_000  # of a body, in each stretch of HTTP_BODY_SECONDS


class PatientProtocol(HttpToolsProtocol):
    """Cuts a connection off whose request does not come, or whose answer is not read, in good time.

    A request's head has HTTP_HEAD_SECONDS. Of its body some kilobytes must come every HTTP_BODY_SECONDS, while Kith takes
    them. An answer that waits to be read goes on being read within HTTP_READ_SECONDS. An upgrade to a socket ends all of
    these.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._asking: asyncio.TimerHandle | None = None  # until when the rest of a request must come
        self._reading: asyncio.TimerHandle | None = None  # until when an answer must be read
        self._body_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._ask_within(settings.HTTP_HEAD_SECONDS, self._cut_off)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_asking()
        self._stop_reading()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._ask_within(settings.HTTP_HEAD_SECONDS, self._cut_off)

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self._body_bytes = 0
        self._ask_within(settings.HTTP_BODY_SECONDS, self._look_at_body)

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._stop_asking()
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        self._stop_asking()
        self._stop_reading()
        super().handle_websocket_upgrade()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._reading is None:
            self._reading = self.loop.call_later(settings.HTTP_READ_SECONDS, self._cut_off)

    def resume_writing(self) -> None:
        self._stop_reading()
        super().resume_writing()

    def _ask_within(self, seconds: float, then: Callable[[], None]) -> None:
        self._stop_asking()
        self._asking = self.loop.call_later(seconds, then)

    def _look_at_body(self) -> None:
        is_enough = self._body_bytes >= LEAST_BYTES or self.flow.read_paused
        if not is_enough:
            self._cut_off()
            return
        self._body_bytes = 0
        self._ask_within(settings.HTTP_BODY_SECONDS, self._look_at_body)

    def _stop_asking(self) -> None:
        if self._asking:
            self._asking.cancel()
        self._asking = None

    def _stop_reading(self) -> None:
        if self._reading:
            self._reading.cancel()
        self._reading = None

    def _cut_off(self) -> None:
        self.transport.abort()
