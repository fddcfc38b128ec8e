"""A response's events, read before a deadline."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import cast

import httpx2

from providers.chat.events import Event
from providers.chat.stream_parser import MAX_SHOWN_CHARACTERS, LineSplitter, StreamParser, parse_event
from providers.errors import ProviderUnavailable
from providers.sdk_errors import SDK_ERRORS

DRAIN_SECONDS = 0.1  # what follows [DONE] is read, so that the connection can be used again
MAX_BYTES = 32_000_000


class Deadline:
    """When to give up a stream: at `first_piece_by` until the answer has begun, then after some silence."""

    def __init__(self, first_piece_by: float, silence_seconds: float) -> None:
        self._silence_seconds = silence_seconds
        self._at = first_piece_by
        self._has_begun = False

    def extend(self) -> None:
        """Count the silence from here on.

        To be called when reading goes on and not when an event comes: a slow reader is not the server's silence.
        """
        self._at = asyncio.get_running_loop().time() + self._silence_seconds
        self._has_begun = True

    @asynccontextmanager
    async def bound(self) -> AsyncIterator[None]:
        """Raise ProviderUnavailable where the wait for the server in the block takes too long."""
        try:
            async with asyncio.timeout_at(self._at):
                yield
        except TimeoutError:
            silence = f"fell silent for {self._silence_seconds:g} s"
            late = silence if self._has_begun else "gave no first piece in time"
            raise ProviderUnavailable(f"The server {late}") from None


async def read_events(
    response: httpx2.Response, parser: StreamParser, deadline: Deadline
) -> AsyncIterator[Event]:
    """Yield what the response says, tool calls last; ProviderError where it breaks off, fails or takes too long."""
    kind = response.headers.get("content-type", "")
    if "html" in kind:
        shown = (await _read_all(response, deadline))[:MAX_SHOWN_CHARACTERS].decode(errors="replace")
        raise ProviderUnavailable(f"HTML came in place of an answer: {shown}", status=response.status_code)
    if "json" in kind and "stream" not in kind and "ndjson" not in kind:
        answer = parse_event(await _read_all(response, deadline))
        for text in parser.read(answer):
            yield text
        if "choices" not in answer:
            raise ProviderUnavailable(f"What came was no answer: {str(answer)[:MAX_SHOWN_CHARACTERS]}")
    else:
        async for event in _read_stream(response, parser, deadline):
            yield event
        if not parser.is_whole:
            raise ProviderUnavailable("The stream ended before the answer did")
    for last in parser.end():
        yield last


async def _read_all(response: httpx2.Response, deadline: Deadline) -> bytes:
    async with deadline.bound():
        return b"".join([data async for data in _read_bounded(response)])


async def _read_stream(
    response: httpx2.Response, parser: StreamParser, deadline: Deadline
) -> AsyncIterator[Event]:
    lines, reads = LineSplitter(), _read_bounded(response)
    while not parser.is_ended:
        async with deadline.bound():
            data = await anext(reads, None)
        payloads = lines.end() if data is None else lines.feed(data)
        for event in parser.feed(payloads):
            yield event
        if data is None:
            return
        if payloads and parser.has_begun:
            deadline.extend()
    with suppress(TimeoutError, *SDK_ERRORS):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in reads:
                pass


async def _read_bounded(response: httpx2.Response) -> AsyncIterator[bytes]:
    """Yield the body as it comes; ProviderUnavailable where it does not come to an end."""
    body: AsyncIterable[bytes] = response.aiter_bytes()
    if response.headers.get("content-encoding", "identity") == "identity":
        body = cast(httpx2.AsyncByteStream, response.stream)  # past two layers that unpack and count
    left = MAX_BYTES
    async for data in body:
        left -= len(data)
        if left < 0:
            raise ProviderUnavailable(f"The server sent more than {MAX_BYTES:,} bytes")
        yield data
