"""A server that keeps every byte of a request and answers with given bytes."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

Writing = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Request:
    """One request as it came."""

    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def parts(self) -> bytes:
        """A multipart body whose boundary is the letter B."""
        return self.body.replace(self.headers["content-type"].split("boundary=")[1].encode(), b"B")


@dataclass
class Raw:
    """Answers each connection's one request with the next answer, the last one again and again."""

    answers: Sequence[bytes | Writing]
    requests: list[Request] = field(default_factory=list)
    left: int = 0  # connections that the client closed before all was sent

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.requests.append(await _request(reader))
        answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
        with contextlib.suppress(ConnectionError):
            if isinstance(answer, bytes):
                writer.write(answer)
                await writer.drain()
            else:
                writing = asyncio.ensure_future(answer(writer))
                gone = asyncio.ensure_future(reader.read())
                try:
                    await asyncio.wait({writing, gone}, return_when=asyncio.FIRST_COMPLETED)
                    self.left += not writing.done()
                finally:
                    writing.cancel()
                    gone.cancel()
                    await asyncio.gather(writing, gone, return_exceptions=True)
        writer.close()


async def _request(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)
    }
    if headers.get("transfer-encoding") == "chunked":
        return Request(head[0], headers, b"".join([part async for part in _parts(reader)]))
    return Request(head[0], headers, await reader.readexactly(int(headers.get("content-length", 0))))


async def _parts(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while size := int(await reader.readline(), 16):
        yield await reader.readexactly(size)
        await reader.readline()
    await reader.readline()


def answer(body: bytes, kind: str = "audio/wav", status: int = 200, head: str = "") -> bytes:
    """A whole response."""
    return _head(kind, status, f"Content-Length: {len(body)}\r\n{head}") + body


def _head(kind: str, status: int, more: str) -> bytes:
    return f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n{more}Connection: close\r\n\r\n".encode()


def cut(body: bytes, after: int) -> bytes:
    """A response that promises the whole body and ends after so many bytes of it."""
    return _head("audio/wav", 200, f"Content-Length: {len(body)}\r\n") + body[:after]


def slowly(body: bytes, at_once: int, pause_seconds: float) -> Writing:
    """A response whose body comes in parts; without an end where the pause is long enough."""

    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(_head("audio/wav", 200, f"Content-Length: {len(body)}\r\n"))
        for at in range(0, len(body), at_once):
            writer.write(body[at : at + at_once])
            await writer.drain()
            await asyncio.sleep(pause_seconds)

    return write


async def leave(writer: asyncio.StreamWriter) -> None:
    """The connection is closed without a word, as a server does with one that was kept too long."""


async def hang(writer: asyncio.StreamWriter) -> None:
    """No response at all."""
    await asyncio.sleep(60)


async def flood(writer: asyncio.StreamWriter) -> None:
    """A body that never ends."""
    writer.write(_head("audio/wav", 200, ""))
    while True:
        writer.write(b"\0" * 1_000_000)
        await writer.drain()
