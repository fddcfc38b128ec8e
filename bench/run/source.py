"""A chat provider that does nothing but stream: what Kith is measured with where many pieces a second are wanted.

The rehearsal model spends about as much processor time on a piece as Kith does, and would be measured with it. The
last plan in a request says what is streamed; a piece is the time at which it left.
"""

import asyncio
import re
import sys
import time
from typing import cast

import uvloop

from bench.run.plan import Plan, stamp

LENGTH = re.compile(rb"(?i)content-length: *(\d+)")
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENT = b'data: {"id":"0","object":"chat.completion.chunk","choices":[{"index":0,"delta":%b}]}\n\n'
MODELS = b'{"object":"list","data":[{"id":"source","object":"model"}]}'
LISTED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(MODELS)
END = (
    b'data: {"id":"0","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
    b'data: {"id":"0","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}\n\n'
    b"data: [DONE]\n\n"
)


def _part(payload: bytes) -> bytes:
    """A payload as one part of a body sent in parts."""
    return b"%x\r\n%b\r\n" % (len(payload), payload)


class Source(asyncio.Protocol):
    """One connection; its requests are answered one after the other."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.received = b""

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, mark, body = self.received.partition(b"\r\n\r\n")
        length = LENGTH.search(head)
        if mark and len(body) >= (int(length[1]) if length else 0):
            self.received = b""
            self._answer(head, body)

    def _answer(self, head: bytes, body: bytes) -> None:
        if head.startswith(b"GET "):
            self.transport.write(LISTED + MODELS)
            return
        self.transport.write(HEAD)
        self._stream(Plan.read(body.decode()), time.time())

    def _stream(self, plan: Plan, due: float) -> None:
        """Send the pieces that are due, and come again for the next."""
        now = time.time()
        while due <= now and not self.transport.is_closing():
            self.transport.write(_part(EVENT % (b'{"content":"%08x "}' % stamp())))
            due = plan.after(due)
        if self.transport.is_closing():
            return
        if due < plan.ends_at:
            asyncio.get_running_loop().call_later(due - now, self._stream, plan, due)
        else:
            self.transport.write(_part(END) + b"0\r\n\r\n")


async def serve() -> None:
    """Listen on a free port of the loopback address, print it, and never end."""
    server = await asyncio.get_running_loop().create_server(Source, "127.0.0.1", 0, backlog=512)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve())
