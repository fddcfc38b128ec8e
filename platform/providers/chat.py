"""Chat with any OpenAI-compatible server."""

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Self, cast

import httpx2
import openai
from django.conf import settings

from providers.asking import Asking, refused_part
from providers.clock import Clock
from providers.control_tokens import harmless
from providers.errors import ProviderError, ProviderUnavailable
from providers.hearing import Hearing
from providers.pieces import Event
from providers.reading import read
from providers.said import FAILURES, told

FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 8.0
PROBE_SECONDS = 2.0
CHANCE = random.SystemRandom()

Messages = Sequence[Mapping[str, Any]]
AnyStream = openai.AsyncStream[Any]


@dataclass(frozen=True)
class Patience:
    """How long a server is waited for, in seconds, and how often it is asked again."""

    connect_seconds: float
    first_piece_seconds: float
    silence_seconds: float
    retries: int


class Chat:
    """One server and one client for it; used in one event loop only.

    Every method may raise ProviderUnavailable or ProviderRefused, and nothing else of a provider's.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        model: str,
        patience: Patience,
        *,
        chance: random.Random = CHANCE,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.model = model
        self._api_key = api_key
        self._patience = patience
        self._chance = chance
        self._sleep = sleep
        self._asking = Asking(model)
        # A read is timed by what it waits for, a first piece or the next; the client cannot tell which.
        timeout = httpx2.Timeout(None, connect=patience.connect_seconds)
        # On aiohttp a piece costs 22 µs of processor time to receive, on the SDK's own default 60.
        http_client = openai.DefaultAioHttpClient(timeout=timeout)
        self._client = openai.AsyncOpenAI(
            base_url=base_url, api_key=api_key or "none", max_retries=0, http_client=http_client
        )

    @classmethod
    def from_settings(cls) -> Self:
        """The chat that settings.CHAT, CHAT_TIMEOUTS and CHAT_RETRIES describe."""
        patience = Patience(**settings.CHAT_TIMEOUTS, retries=settings.CHAT_RETRIES)
        wanted = settings.CHAT
        return cls(wanted["base_url"], wanted["api_key"], wanted["model"], patience)

    async def stream(
        self, messages: Messages, tools: Messages = (), form: Mapping[str, Any] | None = None
    ) -> AsyncGenerator[Event, None]:
        """The answer's pieces and thoughts as they come, then its tool calls, then its usage, once.

        `form` is the wanted `response_format`, for servers that know it. What is said in the messages is sent without
        control tokens.
        A failure is raised where it happens: before the first piece after retries, later at once, with what
        was used until then in the error's `usage`. Close the iterator (contextlib.aclosing) to stop early.
        """
        first_piece_by = _now() + self._patience.first_piece_seconds
        tries, without, messages = 0, self._asking.refused, harmless(messages)
        while True:
            body = self._asking.body(messages, tools, form, without)
            hearing = Hearing(self._api_key, self._chance)
            try:
                async with aclosing(self._tried(body, hearing, first_piece_by)) as events:
                    async for event in events:
                        yield event
                break
            except ProviderError as error:
                if hearing.has_begun:
                    error.usage = hearing.usage(messages, body.get("tools", ()))
                    raise
                part = refused_part(error, body)
                if part:
                    without |= {part}
                    continue
                wait = self._wait(error, tries)
                if tries >= self._patience.retries or wait is None or _now() + wait >= first_piece_by:
                    raise
                await self._sleep(wait)
                tries += 1
        self._asking.learn(without)
        yield hearing.usage(messages, body.get("tools", ()))

    async def _tried(self, body: dict[str, Any], hearing: Hearing, by: float) -> AsyncGenerator[Event, None]:
        """One request and its answer."""
        clock = Clock(by, self._patience.silence_seconds)
        try:
            response = await self._sent(body, clock)
            try:
                async for event in read(response, hearing, clock):
                    yield event
            finally:
                await response.aclose()
        except FAILURES as error:
            raise told(error, self._api_key) from error
        finally:
            clock.stop()

    async def _sent(self, body: dict[str, Any], clock: Clock) -> httpx2.Response:
        """The response, as soon as its headers are there.

        The SDK's `post` and not its `chat.completions.create`, which rebuilds each message in its own types:
        18 ms of processor time for a prompt of a hundred messages, against 2 ms.
        """
        with clock:
            sent = self._client.post(
                "/chat/completions", cast_to=httpx2.Response, body=body, stream=True, stream_cls=AnyStream
            )
            return cast(httpx2.Response, await sent)

    def _wait(self, error: ProviderError, tries: int) -> float | None:
        """Seconds until the next try; None where trying again is of no use or not wanted so soon."""
        if not isinstance(error, ProviderUnavailable):
            return None
        asked = error.retry_after_seconds
        if asked > LONGEST_WAIT_SECONDS:
            return None
        backoff: float = FIRST_WAIT_SECONDS * 2**tries * (0.5 + self._chance.random())
        return max(asked, backoff)

    async def is_up(self) -> bool:
        """Whether the server answers within 2 seconds and takes the key."""
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                response = await self._client.get("/models", cast_to=httpx2.Response)
        except openai.APIStatusError as error:
            return error.status_code in {404, 405}  # up, and merely without this page
        except (TimeoutError, *FAILURES):
            return False
        return "html" not in response.headers.get("content-type", "")

    async def aclose(self) -> None:
        """Close its connections; it cannot be used afterwards."""
        await self._client.close()


def _now() -> float:
    return asyncio.get_running_loop().time()
