"""What all of Kith's HTTP clients are made with: one TLS context, and a hook that limits the bodies of errors."""

import ssl
from collections.abc import AsyncIterator, Iterator
from functools import cache
from typing import Any

import httpx2

MAX_ERROR_BYTES = 16_384  # as received, maybe compressed


@cache
def get_tls_context() -> ssl.SSLContext:
    """Return the one TLS context of the process: making another takes 25 ms, to read the trusted certificates."""
    return httpx2.create_ssl_context()


def cut_error_body(response: httpx2.Response) -> None:
    """Limit the body of an unsuccessful response to its first MAX_ERROR_BYTES. To be used as a client's response hook.

    Clients read the bodies of errors and redirects whole before they raise, however long they are.
    """
    if not response.is_success:
        response.stream = CutStream(response.stream)


async def cut_error_body_async(response: httpx2.Response) -> None:
    """Do what `cut_error_body` does, as a hook of an asynchronous client."""
    cut_error_body(response)


class CutStream(httpx2.AsyncByteStream, httpx2.SyncByteStream):
    """The first MAX_ERROR_BYTES of another stream."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MAX_ERROR_BYTES
        async for part in self._stream:
            yield part[:left]
            left -= len(part)
            if left <= 0:
                return

    def __iter__(self) -> Iterator[bytes]:
        left = MAX_ERROR_BYTES
        for part in self._stream:
            yield part[:left]
            left -= len(part)
            if left <= 0:
                return

    async def aclose(self) -> None:
        await self._stream.aclose()

    def close(self) -> None:
        self._stream.close()
