"""A client for one chat server."""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, cast

import httpx2
import openai

from providers.chat.adaptation import (
    MAX_SHORTENINGS,
    Adaptation,
    build_body,
    find_refused_part,
    is_too_long,
    lower_max_tokens,
    read_room,
    shorten_history,
)
from providers.chat.events import Event, Messages, Retracted, Truncated
from providers.chat.sampling import Sampling
from providers.chat.stream import Deadline, read_events
from providers.chat.stream_parser import StreamParser
from providers.errors import ContextTooLong, ModelLoading, ProviderError, ProviderUnavailable
from providers.http.guarded_client import build_guard
from providers.http.guarded_http import OutboundError
from providers.http.options import cut_error_body_async, get_tls_context
from providers.http.sdk_errors import SDK_ERRORS, translate_error
from providers.tokens import estimate_messages, neutralise_messages

MAX_BACKOFF_SECONDS = 8.0
LOADING_SECONDS = 1.0  # between two tries while the model is being loaded
PROBE_TIMEOUT_SECONDS = 2.0
ROOM_SECONDS = 600.0  # how long to keep prompts as short as the server wanted before sending them whole again
CHANCE = random.SystemRandom()
ANY_SAMPLING = Sampling()


@dataclass(frozen=True)
class Timeouts:
    """How long to wait for a server, in seconds, and how often to retry."""

    connect_seconds: float
    first_piece_seconds: float
    silence_seconds: float
    retries: int
    first_backoff_seconds: float = 0.5


class ChatClient:
    """The client of one model on one server, for one event loop. With `is_guarded`, it asks through the guard.

    `stream` may raise any ProviderError, but no error of the SDK or its HTTP client.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        model: str,
        timeouts: Timeouts,
        clock: Callable[[], float] = time.monotonic,
        *,
        is_guarded: bool = False,
    ) -> None:
        self.model = model
        self._clock = clock
        self._api_key = api_key
        self._timeouts = timeouts
        self._known = Adaptation()  # what the server is known to refuse
        # Whether the model's template opens a block of reasoning, which the model only closes.
        self._begins_in_thought = False
        # No timeout for reads: that depends on whether the first piece or the next is awaited, so Deadline sets it.
        timeout = httpx2.Timeout(None, connect=timeouts.connect_seconds)
        # With aiohttp, receiving a piece takes 22 µs of processor time; with the SDK's own default client, 60 µs.
        # A key is sent only to the address that it was entered for, so redirects are not followed with one.
        options: dict[str, Any] = build_guard() if is_guarded else {"follow_redirects": not api_key}
        hooks: dict[str, Any] = options.pop("event_hooks", {})
        hooks = {**hooks, "response": [*hooks.get("response", ()), cut_error_body_async]}
        http_client = openai.DefaultAioHttpClient(
            timeout=timeout, verify=get_tls_context(), event_hooks=hooks, **options
        )
        self._client = openai.AsyncOpenAI(
            base_url=base_url, api_key=api_key or "none", max_retries=0, http_client=http_client
        )

    async def stream(
        self,
        messages: Messages,
        tools: Messages = (),
        form: Mapping[str, Any] | None = None,
        sampling: Sampling = ANY_SAMPLING,
        *,
        first_piece_seconds: float | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Yield the answer's pieces and thoughts as they come, then its tool calls, whether it was cut, and its usage.

        `form` is the wanted `response_format`, for servers that support it; `first_piece_seconds` replaces the usual
        limit. Control tokens in the messages are neutralised. If the server refuses a part of the request or the order
        of messages, it is asked again without that; if the prompt is too long, the oldest messages are left out.
        A failure before the first piece is raised after retries, a later one at once, with the tokens used so far in
        the error's `usage`. Retracted tells that the pieces before it were reasoning; after it, the model's later
        answers are read as beginning with reasoning. Close the iterator (contextlib.aclosing) to stop early.
        """
        first_piece_by = _now() + (first_piece_seconds or self._timeouts.first_piece_seconds)
        tries = shortenings = 0
        is_broken_off = False
        known, messages = self._known.at(self._clock()), neutralise_messages(messages)
        if known.room and estimate_messages(messages, tools) > known.room:
            messages = shorten_history(messages, tools, known.room) or messages
        while True:
            body = build_body(self.model, messages, tools, form, sampling, known.refused)
            parser = StreamParser(self._api_key, begins_in_thought=self._begins_in_thought)
            try:
                async with aclosing(self._request(body, parser, first_piece_by)) as events:
                    async for event in events:
                        if isinstance(event, Retracted):
                            self._begins_in_thought = True
                        yield event
                break
            except ProviderError as error:
                # Also if a later try finds the server, which restarts, unreachable.
                is_broken_off = error.is_broken_off = is_broken_off or error.is_broken_off
                if parser.has_begun:
                    error.usage = parser.count_usage(messages, body.get("tools", ()))
                    raise
                if is_too_long(error):
                    room = read_room(error, messages, tools, sampling)
                    shorter = (
                        shorten_history(messages, tools, room) if shortenings < MAX_SHORTENINGS else None
                    )
                    fewer = None if shorter else lower_max_tokens(error, sampling)
                    if not shorter and not fewer:
                        raise ContextTooLong(error.said, status=error.status) from error
                    shortenings += 1
                    messages, sampling = shorter or messages, fewer or sampling
                    if shorter:
                        known = replace(known, room=room, room_until=self._clock() + ROOM_SECONDS)
                    continue
                if part := find_refused_part(error, body, known.refused):
                    known = known.without(part)
                    continue
                backoff = self._backoff(error, tries)
                if backoff is None or _now() + backoff >= first_piece_by:
                    raise
                await asyncio.sleep(backoff)
                tries += 1
        if parser.has_only_thought and parser.is_cut:  # its reasoning is longer than the limit of an answer
            known = known.without("max_tokens").without("max_completion_tokens")
        self._learn(known)
        if parser.is_without_thought and not form:  # an answer in a form may have no room for reasoning
            self._begins_in_thought = False
        if parser.is_cut:
            yield Truncated()
        yield parser.count_usage(messages, body.get("tools", ()))

    def _learn(self, known: Adaptation) -> None:
        """Remember the adaptation that the server answered to, merged with what other requests found out meanwhile."""
        now = self._clock()
        self._known = self._known.at(now).merge(known.at(now))

    async def _request(
        self, body: dict[str, Any], parser: StreamParser, first_piece_by: float
    ) -> AsyncGenerator[Event, None]:
        """Yield the events of one request.

        The request uses the SDK's `post` instead of its `chat.completions.create`, which rebuilds each message in its
        own types: 18 ms of processor time for a prompt of a hundred messages, against 2 ms.
        """
        deadline = Deadline(first_piece_by, self._timeouts.silence_seconds)
        try:
            async with deadline.bound():
                posted = self._client.post(
                    "/chat/completions",
                    cast_to=httpx2.Response,
                    body=body,
                    stream=True,
                    stream_cls=openai.AsyncStream[Any],
                )
                response = cast(httpx2.Response, await posted)
            try:
                async for event in read_events(response, parser, deadline, self._api_key):
                    yield event
            finally:
                await response.aclose()
        except SDK_ERRORS as error:
            raise translate_error(error, self._api_key) from error

    def _backoff(self, error: ProviderError, tries: int) -> float | None:
        """Return the seconds until the next try, or None if a retry is useless or the server wants it much later.

        While a model is being loaded, the number of tries is not limited.
        """
        if isinstance(error, ModelLoading):
            return LOADING_SECONDS
        is_unasked = isinstance(error.__cause__, OutboundError)
        if not isinstance(error, ProviderUnavailable) or is_unasked or tries >= self._timeouts.retries:
            return None
        if error.retry_after_seconds > MAX_BACKOFF_SECONDS:
            return None
        backoff: float = self._timeouts.first_backoff_seconds * 2**tries * CHANCE.uniform(0.5, 1.5)
        return max(error.retry_after_seconds, backoff)

    async def is_up(self) -> bool:
        """Return whether the server answers within 2 seconds and takes the key."""
        try:
            async with asyncio.timeout(PROBE_TIMEOUT_SECONDS):
                response = await self._client.get("/models", cast_to=httpx2.Response)
        except openai.APIStatusError as error:
            return error.status_code in {404, 405}  # the server is up, but has no /models
        except (TimeoutError, *SDK_ERRORS):
            return False
        return "html" not in response.headers.get("content-type", "")

    async def aclose(self) -> None:
        """Close the client's connections. It cannot be used afterwards."""
        await self._client.close()


def _now() -> float:
    return asyncio.get_running_loop().time()
