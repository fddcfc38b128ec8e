"""The web server's HTTP protocol, with limits on slow clients and on connections."""

import asyncio
from collections.abc import Callable
from typing import Any

from django.conf import settings
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from accounts.limits.admission import arrive, leave, network_of

MIN_BODY_BYTES = 8_000  # of a body, in each period of HTTP_BODY_SECONDS
MAX_HEAD_BYTES = 64_000  # of request line and headers, or of what follows a body
TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class PatientProtocol(HttpToolsProtocol):
    """Uvicorn's protocol, which cuts off clients that send a request, or read a response, too slowly.

    A request's head may take HTTP_HEAD_SECONDS and about MAX_HEAD_BYTES. Of its body MIN_BODY_BYTES must arrive every
    HTTP_BODY_SECONDS while Kith reads. A response may wait HTTP_READ_SECONDS for the client to go on reading. These
    limits end with an upgrade to a WebSocket. If there are no proxies in front of Kith, an address may have only so
    many connections at once, sockets included.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._request_timer: asyncio.TimerHandle | None = None  # runs while a request is being received
        self._answer_timer: asyncio.TimerHandle | None = None  # runs while a response waits to be read
        self._body_bytes = 0
        self._network = ""  # that the connection is counted against, if any
        self._head_bytes = 0  # since a head was last complete, or a part of a body was parsed
        self._has_progressed = False  # whether one of these happened in the data received last

    def data_received(self, data: bytes) -> None:
        """Parse the data; answer 431 to a head that is too long, which the parser itself would buffer without limit."""
        self._has_progressed = False
        super().data_received(data)
        self._head_bytes = 0 if self._has_progressed else self._head_bytes + len(data)
        if self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
            self.transport.write(TOO_LARGE)
            self.transport.close()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        peer = (transport.get_extra_info("peername") or ("",))[0]
        if not settings.ALLAUTH_TRUSTED_PROXY_COUNT and peer:
            network = network_of(peer)
            if not arrive("connections", network):
                transport.abort()
                return
            self._network = network
        self._set_request_timer(settings.HTTP_HEAD_SECONDS, self._cut_off)

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_request_timer()
        self._cancel_answer_timer()
        self._uncount()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._set_request_timer(settings.HTTP_HEAD_SECONDS, self._cut_off)

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self._body_bytes, self._has_progressed = 0, True
        self._set_request_timer(settings.HTTP_BODY_SECONDS, self._check_body)

    def on_body(self, body: bytes) -> None:
        self._body_bytes, self._has_progressed = self._body_bytes + len(body), True
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._cancel_request_timer()
        self._has_progressed = True
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        self._cancel_request_timer()
        self._cancel_answer_timer()
        super().handle_websocket_upgrade()
        upgraded: Any = self.transport.get_protocol()
        ended = upgraded.connection_lost

        def lost(exc: Exception | None) -> None:
            self._uncount()
            ended(exc)

        upgraded.connection_lost = lost  # uvicorn no longer calls this protocol's own

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._answer_timer is None:
            self._answer_timer = self.loop.call_later(settings.HTTP_READ_SECONDS, self._cut_off)

    def resume_writing(self) -> None:
        self._cancel_answer_timer()
        super().resume_writing()

    def _set_request_timer(self, seconds: float, then: Callable[[], None]) -> None:
        self._cancel_request_timer()
        self._request_timer = self.loop.call_later(seconds, then)

    def _check_body(self) -> None:
        is_enough = self._body_bytes >= MIN_BODY_BYTES or self.flow.read_paused
        if not is_enough:
            self._cut_off()
            return
        self._body_bytes = 0
        self._set_request_timer(settings.HTTP_BODY_SECONDS, self._check_body)

    def _cancel_request_timer(self) -> None:
        if self._request_timer:
            self._request_timer.cancel()
        self._request_timer = None

    def _cancel_answer_timer(self) -> None:
        if self._answer_timer:
            self._answer_timer.cancel()
        self._answer_timer = None

    def _uncount(self) -> None:
        if self._network:
            leave("connections", self._network)
            self._network = ""

    def _cut_off(self) -> None:
        self.transport.abort()
