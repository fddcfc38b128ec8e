"""A response's events, read against the clock."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import suppress

import httpx2

from providers.decoding import DONE, Lines, parse
from providers.errors import ProviderError, ProviderUnavailable
from providers.hearing import Hearing
from providers.pieces import Event, Piece, Thought
from providers.said import FAILURES

DRAIN_SECONDS = 0.1  # what follows [DONE] is read, so that the connection can be used again
SHOWN_CHARACTERS = 500
MOST_BYTES = 32_000_000


class Clock:
    """When to give up: at `first_piece_by` until the answer has begun, then after some silence."""

    def __init__(self, first_piece_by: float, silence_seconds: float) -> None:
        self._give_up_at = first_piece_by
        self._silence_seconds = silence_seconds
        self.has_begun = False

    def timeout(self, *, is_alive: bool) -> asyncio.Timeout:
        """The next read's time-out; `is_alive` where the last one brought an event and no mere comment."""
        if self.has_begun and is_alive:
            # Counted from here and not from the last event: a slow reader is not the server's silence.
            self._give_up_at = asyncio.get_running_loop().time() + self._silence_seconds
        return asyncio.timeout_at(self._give_up_at)

    def late(self) -> ProviderUnavailable:
        what = (
            f"fell silent for {self._silence_seconds:g} s"
            if self.has_begun
            else "gave no first piece in time"
        )
        return ProviderUnavailable(f"The server {what}")


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
        async for payloads in _payloads(response, clock):
            for heard in joined(one for payload in payloads for one in hearing.take(payload)):
                yield heard
            clock.has_begun = hearing.has_begun
        if not hearing.is_whole:
            raise ProviderUnavailable("The stream ended before the answer did")
    for rest in hearing.end():
        yield rest


async def _all(response: httpx2.Response, clock: Clock) -> bytes:
    try:
        async with clock.timeout(is_alive=False):
            return b"".join([data async for data in _bounded(response)])
    except TimeoutError:
        raise clock.late() from None


async def _payloads(response: httpx2.Response, clock: Clock) -> AsyncIterator[list[bytes]]:
    """The payloads of one read after the other, up to the closing mark."""
    lines, reads, is_alive = Lines(), _bounded(response), True
    while True:
        try:
            async with clock.timeout(is_alive=is_alive):
                data = await anext(reads, None)
        except TimeoutError:
            raise clock.late() from None
        payloads = until_done(lines.feed(data) if data is not None else lines.rest())
        is_alive = bool(payloads)
        if payloads:
            yield payloads
            if payloads[-1].startswith(DONE):
                await _drain(reads)
                return
        if data is None:
            return


def until_done(payloads: Iterable[bytes]) -> list[bytes]:
    """The payloads up to the closing mark, that among them."""
    kept = []
    for payload in payloads:
        kept.append(payload)
        if payload.startswith(DONE):
            break
    return kept


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
    async for data in response.aiter_bytes():
        left -= len(data)
        if left < 0:
            raise ProviderUnavailable(f"The server sent more than {MOST_BYTES:,} bytes")
        yield data


async def _drain(reads: AsyncIterator[bytes]) -> None:
    with suppress(TimeoutError, *FAILURES):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in reads:
                pass
