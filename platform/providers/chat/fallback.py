"""A talk's request to the first of several providers that answers. None continues what another has begun."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from django.conf import settings

from providers.availability import choose_next, is_failing, note_answer, note_error
from providers.chat.events import Event, Messages, Piece, Thought, Usage
from providers.chat.sampling import Sampling
from providers.chat_provider import ChatProvider
from providers.errors import ProviderError
from providers.failures import may_another_server_answer
from providers.http.clients import get_chat_client
from providers.selection import leave_out_small
from providers.tokens import estimate, estimate_messages

# A provider that failed last is waited for this part of LLM_FIRST_PIECE_SECONDS, if there is another.
FAILING_PATIENCE = 1 / 4


@dataclass(frozen=True, slots=True)
class ProviderChosen:
    """The events that follow come from this provider. `error` is how the previous one failed; None for the first."""

    provider: ChatProvider
    error: ProviderError | None = None


async def stream_with_fallback(
    providers: Sequence[ChatProvider],
    messages: Messages,
    tools: Messages,
    sampling: Sampling,
    *,
    passes_breakers: bool = True,
) -> AsyncGenerator[Event | ProviderChosen, None]:
    """Yield ProviderChosen, then what `ChatClient.stream` yields; if a provider fails at once, the same from the next.

    All have the same model. A provider that fails after its first event is not replaced. One that has failed since its
    last answer, as by hanging, has FAILING_PATIENCE of the usual time. Raise the last one's error, or LimitReached, or,
    without `passes_breakers`, ProviderBusy if the breakers of all are open.
    """
    left = leave_out_small(providers, messages, tools)
    error: ProviderError | None = None
    while True:
        provider, left = await choose_next(left, error, passes_breakers=passes_breakers)
        yield ProviderChosen(provider, error)
        error = None
        filled_in = sampling.fill_in(provider.dry_multiplier, provider.answer_tokens)
        first_piece_seconds = None
        if left and await is_failing(provider):
            first_piece_seconds = settings.CHAT_TIMEOUTS["first_piece_seconds"] * FAILING_PATIENCE
        texts: list[str] = []
        usage: Usage | None = None
        try:
            async with aclosing(
                get_chat_client(provider).stream(
                    messages, tools, sampling=filled_in, first_piece_seconds=first_piece_seconds
                )
            ) as events:
                async for event in events:
                    if isinstance(event, Usage):
                        usage = event
                    texts.append(event.text if isinstance(event, Piece | Thought) else "")
                    yield event
            return
        except ProviderError as failed:
            error = failed
            await note_error(provider, failed)
            if texts or not left or not may_another_server_answer(failed):
                raise
        finally:
            if texts and error is None:  # also if the consumer stops early
                usage = usage or Usage(estimate_messages(messages, tools), estimate("".join(texts)))
                await note_answer(provider, usage)
