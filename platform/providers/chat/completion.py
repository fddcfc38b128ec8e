"""A whole answer of a chat model, for a caller that waits for it: limited in time and size, and metered."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from time import monotonic, perf_counter
from typing import Any

from django.conf import settings

from providers.availability import MAX_WAIT_SECONDS, choose_next, note_answer, note_error, run_in_pause
from providers.chat.events import Messages, Piece, Retracted, Thought, ToolCall, Truncated, Usage
from providers.chat.sampling import Sampling
from providers.chat_provider import ChatProvider
from providers.errors import (
    AnswerUnfinished,
    MalformedError,
    ProviderBusy,
    ProviderError,
    ProviderUnavailable,
)
from providers.failures import may_another_server_answer
from providers.http.clients import get_chat_client, run_in_background
from providers.selection import find_fallbacks, leave_out_small
from providers.tokens import Metered, estimate_answer, estimate_messages, neutralise_messages, note
from text.strings import storable

MAX_CHARACTERS = 200_000  # of answer and reasoning together
TIMEOUT_SECONDS = 900.0  # of the whole answer: a server may send slowly without ever falling silent

NOTHING = Usage(0, 0)


@dataclass
class Completion:
    """A model's answer, its reasoning, its tool calls, and the tokens used."""

    text: str = ""
    thought: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    is_cut: bool = False  # the answer was cut at its limit of tokens
    usage: Usage = NOTHING
    broken_off: Usage = NOTHING  # used by tries that gave their slot up to a talk

    @property
    def received(self) -> dict[str, Any]:
        """Return what came back, as JSON that can be stored, without what is empty."""
        calls = [{"name": storable(call.name), "arguments": storable(call.arguments)} for call in self.calls]
        came = {"text": storable(self.text), "thought": storable(self.thought), "calls": calls}
        return {name: value for name, value in came.items() if value}


def complete(
    provider: ChatProvider,
    messages: Messages,
    tools: Messages = (),
    *,
    sampling: Sampling | None = None,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> Completion:
    """Return the provider's answer to the messages; the calling thread waits for it, and for a free slot.

    If the provider fails, others with the same model are asked. At most settings.TOOL_CALLS tool calls are returned, as
    the model wrote them. Raise ProviderUnavailable, also if the answer does not end in time, ProviderRefused, or
    MalformedError if the answer is too long.
    """
    sampling = sampling or Sampling.for_talk(())
    with metered_completion(
        [provider, *find_fallbacks(provider)],
        messages,
        tools,
        timeout_seconds=timeout_seconds,
        sampling=sampling,
    ) as completion:
        completion.calls = completion.calls[: settings.TOOL_CALLS]
        return completion


@contextmanager
def metered_completion(
    providers: Sequence[ChatProvider],
    messages: Messages,
    tools: Messages = (),
    form: Mapping[str, Any] | None = None,
    timeout_seconds: float = TIMEOUT_SECONDS,
    sampling: Sampling | None = None,
) -> Iterator[Completion]:
    """Yield the whole answer of the first provider that answers, and meter the call at the end of the block.

    A ProviderError raised in the block is metered as the call's error. A provider that fails before another answers is
    metered as a call of its own.
    """
    left = leave_out_small(providers, messages, tools)
    deadline = monotonic() + timeout_seconds
    error: ProviderError | None = None
    task = (form or {}).get("json_schema", {}).get("name", "")
    while True:
        provider, left = run_in_background(choose_next(left, error))
        has_answered, completion = False, Completion()
        chosen = (
            sampling.fill_in(provider.dry_multiplier, provider.answer_tokens)
            if sampling
            else Sampling.for_form(task, provider.context_tokens)
        )
        seconds = max(0.0, deadline - monotonic()) if error else timeout_seconds
        if provider.is_own:
            seconds = min(seconds, settings.OWN_ANSWER_SECONDS)
        collect = partial(_collect, provider, completion, messages, tools, form, chosen, seconds)
        try:
            with _noted(provider, completion, messages, tools):
                run_in_background(_run(collect, provider, completion, min(seconds, MAX_WAIT_SECONDS)))
                has_answered = True
                yield completion
                return
        except ProviderError as failed:
            if has_answered or not left or not may_another_server_answer(failed):
                raise
            error = failed


@contextmanager
def _noted(
    provider: ChatProvider, completion: Completion, messages: Messages, tools: Messages
) -> Iterator[None]:
    """Meter the call at the end of the block, with the ProviderError that the block raised, if any.

    The call includes tries that were cancelled for a talk, also if it is postponed after them.
    """
    began = perf_counter()
    failed: ProviderError | None = ProviderUnavailable("The call was left before it ended")
    try:
        yield
        failed = None
    except ProviderError as error:
        failed = error
        raise
    finally:
        usage = completion.usage
        if failed is not None and usage == NOTHING:
            usage = failed.usage or usage
            if not failed.usage and (completion.text or completion.thought):  # an answer had begun
                received = estimate_answer(completion.text, completion.thought, completion.calls)
                usage = Usage(estimate_messages(messages, tools), received, is_estimated=True)
        usage += completion.broken_off
        if usage != NOTHING or not isinstance(failed, ProviderBusy):
            note(
                Metered(
                    provider=provider.place,
                    model=provider.model,
                    prompt_tokens=usage.prompt_tokens,
                    completion_tokens=usage.completion_tokens,
                    cached_tokens=usage.cached_tokens,
                    is_estimated=usage.is_estimated,
                    milliseconds=round((perf_counter() - began) * 1000),
                    error=failed,
                    sent=neutralise_messages(messages),
                    received=completion.received,
                )
            )


async def _run(
    collect: Callable[[], Coroutine[Any, Any, None]],
    provider: ChatProvider,
    completion: Completion,
    wait_seconds: float,
) -> None:
    """Collect the answer once there is a free slot, and report the outcome to the provider's breaker."""
    try:
        await run_in_pause(collect, provider, wait_seconds)
    except ProviderError as error:
        await note_error(provider, error)
        raise
    await note_answer(provider, completion.usage)


async def _collect(
    provider: ChatProvider,
    completion: Completion,
    messages: Messages,
    tools: Messages,
    form: Mapping[str, Any] | None,
    sampling: Sampling,
    timeout_seconds: float,
) -> None:
    """Fill the completion from the provider's stream. Raise MalformedError if the answer exceeds MAX_CHARACTERS."""
    pieces: list[str] = []
    thoughts: list[str] = []
    characters = 0
    completion.calls.clear()
    completion.usage, completion.is_cut = NOTHING, False
    try:
        async with (
            asyncio.timeout(timeout_seconds),
            aclosing(get_chat_client(provider).stream(messages, tools, form, sampling)) as events,
        ):
            async for event in events:
                match event:
                    case Usage():
                        completion.usage = event
                    case ToolCall():
                        completion.calls.append(event)
                    case Truncated():
                        completion.is_cut = True
                    case Retracted():
                        thoughts += pieces
                        pieces.clear()
                    case Piece(text) | Thought(text):
                        (pieces if isinstance(event, Piece) else thoughts).append(text)
                        characters += len(text)
                if characters > MAX_CHARACTERS:
                    raise MalformedError(f"The answer has more than {MAX_CHARACTERS:,} characters")
    except TimeoutError:
        failure = AnswerUnfinished if characters else ProviderUnavailable
        raise failure(f"The answer did not end within {timeout_seconds:g} s") from None
    except ProviderUnavailable as error:
        if not characters and not error.is_broken_off:
            raise
        raise AnswerUnfinished(error.said, status=error.status, usage=error.usage) from error
    except asyncio.CancelledError:
        received = estimate_answer("".join(pieces), "".join(thoughts), completion.calls)
        estimated = Usage(estimate_messages(messages, tools), received, is_estimated=True)
        completion.broken_off += estimated if completion.usage == NOTHING else completion.usage
        completion.usage, pieces, thoughts = NOTHING, [], []
        raise
    finally:
        completion.text, completion.thought = "".join(pieces), "".join(thoughts)
