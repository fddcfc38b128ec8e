"""Bodies of errors and redirects, cut: clients read them whole before they raise, and a server may never end one."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2

MAX_BYTES = 16_384  # as they come, maybe packed


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
    """Have no more than the beginning of the body read, where it is no answer: a hook of a client."""
    if not response.is_success:
        response.stream = CutStream(response.stream)


async def cut_error_body_async(response: httpx2.Response) -> None:
    """As cut_error_body, for an asynchronous client."""
    cut_error_body(response)
