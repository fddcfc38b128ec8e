"""A server for speech or transcription, asked with limits on the time and size of its answer."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec

import aiohttp
import httpx2
import openai

from providers.errors import ProviderUnavailable
from providers.http.clients import get_http_client
from providers.http.sdk_errors import (
    SDK_ERRORS,
    excerpt,
    extract_message,
    list_causes,
    make_error,
    redact,
    translate_error,
)

P = ParamSpec("P")
Request = Callable[P, Coroutine[Any, Any, bytes]]

MAX_BYTES = 50_000_000
FIRST_ERROR_STATUS = 400


def _retry_if_disconnected(request: Request[P]) -> Request[P]:
    """Decorate a request so that it is made once more if the server had closed the reused connection."""

    @wraps(request)
    async def retrying(*args: P.args, **kwargs: P.kwargs) -> bytes:
        try:
            return await request(*args, **kwargs)
        except ProviderUnavailable as error:
            if not any(isinstance(each, aiohttp.ServerDisconnectedError) for each in list_causes(error)):
                raise
        return await request(*args, **kwargs)

    return retrying


@dataclass(frozen=True, slots=True)
class SoundServer:
    """The server's address and key, and how long to wait for a connection and for the whole answer."""

    base_url: str
    api_key: str
    connect_seconds: float
    seconds: float

    @classmethod
    def from_settings(cls, wanted: Mapping[str, Any]) -> "SoundServer":
        """Return the server that `wanted`, a value of `get_sound_settings`, describes."""
        base_url = wanted["base_url"].rstrip("/")
        return cls(base_url, wanted["api_key"], wanted["connect_seconds"], wanted["seconds"])

    @property
    def root(self) -> str:
        """Return the address without /v1, for servers that have other paths beside it."""
        return self.base_url.removesuffix("/v1")

    @_retry_if_disconnected
    async def request(self, method: str, url: str, **content: Any) -> bytes:
        """Return the body of the answer.

        Raise ProviderUnavailable or ProviderRefused, with the server's words if there are any, on failure.
        """
        headers = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        headers |= content.pop("headers", {})
        async with self._bound():
            sent = get_http_client().stream(method, url, headers=headers, timeout=self._timeout, **content)
            async with sent as response:
                body = await _read_bounded(response)
                if response.status_code < FIRST_ERROR_STATUS:
                    return body
                try:
                    words = redact(extract_message(json.loads(body)), self.api_key)
                except (ValueError, RecursionError):
                    words = excerpt(body, self.api_key)
                raise make_error(response.status_code, words)

    @_retry_if_disconnected
    async def request_by_sdk(self, create: Callable[[openai.resources.AsyncAudio], Any]) -> bytes:
        """Return the body of the streaming response that `create` requests from the SDK's `audio` resource."""
        sdk = openai.AsyncOpenAI(  # costs next to nothing and is not to be closed
            base_url=self.base_url,
            api_key=self.api_key or "none",
            max_retries=0,
            timeout=self._timeout,
            http_client=get_http_client(),
        )
        async with self._bound(), create(sdk.audio) as response:
            return await _read_bounded(response.http_response)

    @property
    def _timeout(self) -> httpx2.Timeout:
        return httpx2.Timeout(self.seconds, connect=self.connect_seconds)

    @asynccontextmanager
    async def _bound(self) -> AsyncIterator[None]:
        """Raise a ProviderError if a request in the block fails, or the block takes longer than `self.seconds`."""
        try:
            async with asyncio.timeout(self.seconds):
                yield
        except TimeoutError:
            raise ProviderUnavailable(f"No whole answer came within {self.seconds:g} seconds") from None
        except SDK_ERRORS as error:
            raise translate_error(error, self.api_key) from error
        except httpx2.InvalidURL as error:
            raise ProviderUnavailable(f"{self.base_url} is no address: {error}") from error


async def _read_bounded(response: httpx2.Response) -> bytes:
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > MAX_BYTES:
            raise ProviderUnavailable(f"More than {MAX_BYTES} bytes came")
    return bytes(body)
