"""One whole answer of the chat model, for a caller that waits for it: within bounds, and noted for an open meter."""

import asyncio
import atexit
from collections.abc import Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from django.conf import settings

from providers.chat import Messages
from providers.clients import aclose_chat, chat
from providers.errors import MalformedError, ProviderError, ProviderUnavailable
from providers.metering import Metered, note
from providers.own_loop import wait_for
from providers.pieces import Piece, Thought, ToolCall, Usage
from providers.tokens import estimate_answer, estimate_messages

MOST_CHARACTERS = 200_000  # of answer and reasoning together
MOST_SECONDS = 900.0  # a server may trickle for as long as it never falls silent


@dataclass
class Heard:
    """What has come of an answer."""

    pieces: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    usage: Usage | None = None
    characters: int = 0

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def thought(self) -> str:
        return "".join(self.thoughts)

    def take(self, event: object) -> None:
        """Keep an event; MalformedError where the answer does not come to an end."""
        match event:
            case Usage():
                self.usage = event
            case ToolCall():
                self.calls.append(event)
            case Piece(text):
                self._count(text, self.pieces)
            case Thought(text):
                self._count(text, self.thoughts)

    def _count(self, text: str, parts: list[str]) -> None:
        parts.append(text)
        self.characters += len(text)
        if self.characters > MOST_CHARACTERS:
            raise MalformedError(f"The answer has more than {MOST_CHARACTERS:,} characters")

    def spent(self, messages: Messages, tools: Messages, error: ProviderError | None) -> Usage:
        """The tokens as they were counted, nothing for a call that failed before it began; else an estimate."""
        told = self.usage or (error.usage if error else None)
        if told is not None:
            return told
        if error is not None and not self.characters:
            return Usage(0, 0)
        completion = estimate_answer(self.text, self.thought, self.calls)
        return Usage(estimate_messages(messages, tools), completion, is_estimated=True)


@contextmanager
def listened(
    messages: Messages,
    tools: Messages = (),
    form: Mapping[str, Any] | None = None,
    seconds: float = MOST_SECONDS,
) -> Iterator[Heard]:
    """The whole answer, for which the calling thread has waited; the call is noted as the block ends.

    Raises ProviderUnavailable, also where it takes longer than so many seconds, ProviderRefused, and MalformedError
    where the answer has no end. A ProviderError raised in the block is the call's, too.
    """
    heard, began = Heard(), perf_counter()
    failed: ProviderError | None = ProviderUnavailable("The call was left before it ended")
    try:
        wait_for(_listen(heard, messages, tools, form, seconds))
        yield heard
        failed = None
    except ProviderError as error:
        failed = error
        raise
    finally:
        _note(heard.spent(messages, tools, failed), began, failed)


def hang_up() -> None:
    """Close the connections that are kept from one call to the next, and forget what the server was found to refuse."""
    wait_for(aclose_chat())


atexit.register(hang_up)


async def _listen(
    heard: Heard, messages: Messages, tools: Messages, form: Mapping[str, Any] | None, seconds: float
) -> None:
    try:
        async with asyncio.timeout(seconds), aclosing(chat().stream(messages, tools, form)) as events:
            async for event in events:
                heard.take(event)
    except TimeoutError:
        raise ProviderUnavailable(f"The answer did not end within {seconds:g} s") from None


def _note(spent: Usage, began: float, error: ProviderError | None) -> None:
    wanted, milliseconds = settings.CHAT, round((perf_counter() - began) * 1000)
    sent, received, cached = spent.prompt_tokens, spent.completion_tokens, spent.cached_tokens
    note(
        Metered(
            wanted["base_url"],
            wanted["model"],
            sent,
            spent.is_estimated,
            milliseconds,
            error,
            received,
            cached,
        )
    )
