"""One server that is asked for sound or about it: within a time, and never more than so many bytes."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import aiohttp
import httpx2
import openai

from providers.connections import client
from providers.errors import ProviderUnavailable
from providers.said import FAILURES, failure, hide, told, words

T = TypeVar("T")

MOST_BYTES = 50_000_000
SHOWN_CHARACTERS = 500
FIRST_REFUSAL = 400


@dataclass(frozen=True, slots=True)
class Server:
    """Where it is, its key, and how long it is waited for."""

    base_url: str
    api_key: str
    connect_seconds: float
    seconds: float

    @classmethod
    def of(cls, wanted: Mapping[str, Any]) -> "Server":
        """The server of settings.SPEECH or settings.TRANSCRIPTION."""
        base_url = wanted["base_url"].rstrip("/")
        return cls(base_url, wanted["api_key"], wanted["connect_seconds"], wanted["seconds"])

    @property
    def timeout(self) -> httpx2.Timeout:
        return httpx2.Timeout(self.seconds, connect=self.connect_seconds)

    @property
    def root(self) -> str:
        """The address without /v1, for servers whose other pages lie beside it."""
        return self.base_url.removesuffix("/v1")

    def sdk(self) -> openai.AsyncOpenAI:
        """The SDK for it, on this loop's connections; it costs next to nothing and is not to be closed."""
        return openai.AsyncOpenAI(
            base_url=self.base_url,
            api_key=self.api_key or "none",
            max_retries=0,
            timeout=self.timeout,
            http_client=client(),
        )

    @asynccontextmanager
    async def patience(self) -> AsyncIterator[None]:
        """Within it whatever fails is a ProviderError, also where it takes too long as a whole."""
        try:
            async with asyncio.timeout(self.seconds):
                yield
        except TimeoutError:
            raise ProviderUnavailable(f"No whole answer came within {self.seconds:g} seconds") from None
        except FAILURES as error:
            raise told(error, self.api_key) from error
        except httpx2.InvalidURL as error:
            raise ProviderUnavailable(f"{self.base_url} is no address: {error}") from error

    async def asked(self, method: str, url: str, **content: Any) -> bytes:
        """The body of the answer; ProviderUnavailable or ProviderRefused with the server's words else."""
        return await afresh(lambda: self._answer(method, url, **content))

    async def _answer(self, method: str, url: str, **content: Any) -> bytes:
        headers = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        headers |= content.pop("headers", {})
        async with self.patience():
            sent = client().stream(method, url, headers=headers, timeout=self.timeout, **content)
            async with sent as response:
                body = await taken(response)
                if response.status_code >= FIRST_REFUSAL:
                    raise failure(response.status_code, hide(_words(body), self.api_key))
                return body


async def afresh(call: Callable[[], Awaitable[T]]) -> T:
    """What the call gives; made once more where the server had closed the kept connection as it was asked."""
    try:
        return await call()
    except ProviderUnavailable as error:
        if not _was_closed(error):
            raise
    return await call()


def _was_closed(error: BaseException) -> bool:
    """Whether the connection ended before any answer."""
    cause = error.__cause__ or error.__context__
    return isinstance(error, aiohttp.ServerDisconnectedError) or (cause is not None and _was_closed(cause))


async def taken(response: httpx2.Response) -> bytes:
    """The body, as long as it is not too long."""
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > MOST_BYTES:
            raise ProviderUnavailable(f"More than {MOST_BYTES} bytes came")
    return bytes(body)


def _words(body: bytes) -> str:
    try:
        return words(json.loads(body))
    except ValueError:
        return body[:SHOWN_CHARACTERS].decode(errors="replace")
