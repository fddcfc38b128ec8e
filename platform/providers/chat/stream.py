"""The bytes of a chat stream, read with limits on time and size; `stream_parser` reads the events in them."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import cast

import httpx2

from providers.chat.events import Event
from providers.chat.stream_parser import StreamParser, parse_event
from providers.errors import ProviderUnavailable
from providers.http.sdk_errors import SDK_ERRORS, excerpt

MAX_LINE_BYTES = 256_000
ANSWER_SECONDS = 900.0  # of the whole answer: a server may send slowly without ever falling silent
DRAIN_SECONDS = 0.1  # for reading what follows [DONE], so that the connection can be reused
MAX_BYTES = 32_000_000
MAX_WHOLE_BYTES = 4_000_000  # of an answer that is not streamed, but read as a whole


class Deadline:
    """When to give up a stream: at `first_piece_by`; once the answer has begun, after a silence or a total time."""

    def __init__(
        self, first_piece_by: float, silence_seconds: float, answer_seconds: float = ANSWER_SECONDS
    ) -> None:
        self._silence_seconds = silence_seconds
        self._answer_seconds = answer_seconds
        self._at = first_piece_by
        self._end_by: float | None = None  # known once the answer has begun

    def extend(self) -> None:
        """Measure the silence from now on.

        Call this when reading resumes, not when an event comes: a slow consumer is not the server's silence.
        """
        now = asyncio.get_running_loop().time()
        self._end_by = self._end_by or now + self._answer_seconds
        self._at = min(now + self._silence_seconds, self._end_by)

    @asynccontextmanager
    async def bound(self) -> AsyncIterator[None]:
        """Raise ProviderUnavailable if the block, which waits for the server, does not end by the deadline."""
        try:
            async with asyncio.timeout_at(self._at):
                yield
        except TimeoutError:
            if self._end_by is None:
                late = "The server gave no first piece in time"
            elif self._at == self._end_by:
                late = f"The answer did not end within {self._answer_seconds:g} s"
            else:
                late = f"The server fell silent for {self._silence_seconds:g} s"
            raise ProviderUnavailable(late) from None


async def read_events(
    response: httpx2.Response, parser: StreamParser, deadline: Deadline, api_key: str
) -> AsyncIterator[Event]:
    """Yield the response's events, tool calls last. Raise ProviderError if it breaks off, fails or takes too long."""
    kind = response.headers.get("content-type", "")
    if "html" in kind:
        shown = excerpt(await _read_all(response, deadline), api_key)
        raise ProviderUnavailable(f"HTML came in place of an answer: {shown}", status=response.status_code)
    if "json" in kind and "stream" not in kind and "ndjson" not in kind:
        answer = await _read_all(response, deadline)
        for text in parser.read(answer):
            yield text
        if "choices" not in parse_event(answer, api_key):
            raise ProviderUnavailable(f"What came was no answer: {excerpt(answer, api_key)}")
    else:
        async for event in _read_stream(response, parser, deadline):
            yield event
        if not parser.is_whole:
            error = ProviderUnavailable("The stream ended before the answer did")
            error.is_broken_off = True
            raise error
    for last in parser.end():
        yield last


async def _read_all(response: httpx2.Response, deadline: Deadline) -> bytes:
    async with deadline.bound():
        return b"".join([data async for data in _read_bounded(response, MAX_WHOLE_BYTES)])


async def _read_stream(
    response: httpx2.Response, parser: StreamParser, deadline: Deadline
) -> AsyncIterator[Event]:
    """Yield what the response's server-sent events say. Their lines may end in LF or CRLF."""
    rest, reads = bytearray(), _read_bounded(response, MAX_BYTES)
    while not parser.is_ended:
        async with deadline.bound():
            data = await anext(reads, None)
        end, *begun = (b"\n" if data is None else data).split(b"\n")
        rest += end
        lines: list[bytes] = []
        if begun:
            lines, rest = [bytes(rest), *begun[:-1]], bytearray(begun[-1])
        if any(len(line) > MAX_LINE_BYTES for line in (*lines, rest)):
            raise ProviderUnavailable(f"A line of the stream is longer than {MAX_LINE_BYTES:,} bytes")
        payloads = [line[5:].strip() for line in lines if line.startswith(b"data:")]
        received = parser.received
        for event in parser.feed(payloads):
            yield event
        if data is None:
            return
        if parser.received > received:
            deadline.extend()
    with suppress(TimeoutError, *SDK_ERRORS):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in reads:
                pass


async def _read_bounded(response: httpx2.Response, max_bytes: int) -> AsyncIterator[bytes]:
    """Yield the body as it comes. Raise ProviderUnavailable if it exceeds `max_bytes`."""
    body: AsyncIterable[bytes] = response.aiter_bytes()
    if response.headers.get("content-encoding", "identity") == "identity":
        body = cast(httpx2.AsyncByteStream, response.stream)  # skips two layers that decompress and count
    left = max_bytes
    async for data in body:
        left -= len(data)
        if left < 0:
            raise ProviderUnavailable(f"The server sent more than {max_bytes:,} bytes")
        yield data
