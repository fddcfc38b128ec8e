"""Limits for the bodies of errors and redirects: clients read them whole before they raise, however long they are."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2

MAX_BYTES = 16_384  # as received, maybe compressed


class CutStream(httpx2.AsyncByteStream, httpx2.SyncByteStream):
    """The first MAX_BYTES of another stream."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MAX_BYTES
        async for part in self._stream:
            yield part[:left]
            left -= len(part)
            if left <= 0:
                return

    def __iter__(self) -> Iterator[bytes]:
        left = MAX_BYTES
        for part in self._stream:
            yield part[:left]
            left -= len(part)
            if left <= 0:
                return

    async def aclose(self) -> None:
        await self._stream.aclose()

    def close(self) -> None:
        self._stream.close()


def cut_error_body(response: httpx2.Response) -> None:
    """Limit the body of an unsuccessful response to its first MAX_BYTES. To be used as a client's response hook."""
    if not response.is_success:
        response.stream = CutStream(response.stream)


async def cut_error_body_async(response: httpx2.Response) -> None:
    """Do what `cut_error_body` does, as a hook of an asynchronous client."""
    cut_error_body(response)
