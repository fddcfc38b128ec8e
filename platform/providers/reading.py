"""A response's events, read against the clock."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from contextlib import suppress
from typing import cast

import httpx2

from providers.clock import Clock
from providers.decoding import Lines, parse
from providers.errors import ProviderError, ProviderUnavailable
from providers.hearing import Hearing
from providers.pieces import Event, Piece, Thought
from providers.said import FAILURES

DRAIN_SECONDS = 0.1  # what follows [DONE] is read, so that the connection can be used again
SHOWN_CHARACTERS = 500
MOST_BYTES = 32_000_000


async def read(response: httpx2.Response, hearing: Hearing, clock: Clock) -> AsyncIterator[Event]:
    """What the response says, tool calls last; ProviderError where it breaks off, fails or takes too long."""
    kind = response.headers.get("content-type", "")
    if "html" in kind:
        shown = (await _all(response, clock))[:SHOWN_CHARACTERS].decode(errors="replace")
        raise ProviderUnavailable(f"HTML came in place of an answer: {shown}", status=response.status_code)
    if "json" in kind and "stream" not in kind and "ndjson" not in kind:
        whole = parse(await _all(response, clock))
        for heard in hearing.hear(whole):
            yield heard
        if "choices" not in whole:
            raise ProviderUnavailable(f"What came was no answer: {str(whole)[:SHOWN_CHARACTERS]}")
    else:
        async for heard in _streamed(response, hearing, clock):
            yield heard
        if not hearing.is_whole:
            raise ProviderUnavailable("The stream ended before the answer did")
    for rest in hearing.end():
        yield rest


async def _all(response: httpx2.Response, clock: Clock) -> bytes:
    with clock:
        return b"".join([data async for data in _bounded(response)])


async def _streamed(
    response: httpx2.Response, hearing: Hearing, clock: Clock
) -> AsyncIterator[Piece | Thought]:
    """What one read after the other says, up to the closing mark."""
    lines, reads = Lines(), _bounded(response)
    while not hearing.is_ended:
        with clock:
            data = await anext(reads, None)
        payloads = lines.rest() if data is None else lines.feed(data)
        for heard in joined(hearing.take(payloads)):
            yield heard
        if data is None:
            return
        if payloads:
            clock.go_on(has_begun=hearing.has_begun)
    await _drain(reads)


def joined(heard: Iterable[Piece | Thought]) -> Iterator[Piece | Thought]:
    """The same text in as few events as may be: a busy process reads many at once, and each costs it time.

    What was heard before a failure is given before the failure is raised.
    """
    kind: type[Piece | Thought] = Piece
    texts: list[str] = []
    try:
        for one in heard:
            if texts and type(one) is not kind:
                yield kind("".join(texts))
                texts.clear()
            kind = type(one)
            texts.append(one.text)
    except ProviderError:
        if texts:
            yield kind("".join(texts))
        raise
    if texts:
        yield kind("".join(texts))


async def _bounded(response: httpx2.Response) -> AsyncIterator[bytes]:
    """The body as it comes; ProviderUnavailable where it does not come to an end."""
    left = MOST_BYTES
    async for data in _body(response):
        left -= len(data)
        if left < 0:
            raise ProviderUnavailable(f"The server sent more than {MOST_BYTES:,} bytes")
        yield data


def _body(response: httpx2.Response) -> AsyncIterable[bytes]:
    """The body, unpacked where it is packed; else past the client's two layers that unpack and count."""
    if response.headers.get("content-encoding", "identity") == "identity":
        return cast(httpx2.AsyncByteStream, response.stream)
    return response.aiter_bytes()


async def _drain(reads: AsyncIterator[bytes]) -> None:
    with suppress(TimeoutError, *FAILURES):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in reads:
                pass
