"""One real short sentence of a chat provider, to see whether it answers, and how soon."""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from time import perf_counter

from django.conf import settings

from providers.chat.client import ChatClient, Timeouts
from providers.chat.events import Piece, Retracted, Thought
from providers.chat.sampling import Sampling
from providers.errors import EmptyAnswer, ProviderError, ProviderUnavailable
from providers.selection import ChatProvider

TIMEOUT_SECONDS = 60.0


@dataclass
class Trial:
    """What it said, and after how long the first piece and the last came; or the error in which it ended."""

    text: str = ""
    first_piece_seconds: float = 0.0
    seconds: float = 0.0
    error: ProviderError | None = None


async def try_provider(
    provider: ChatProvider, sentence: str, timeout_seconds: float = TIMEOUT_SECONDS
) -> Trial:
    """Say the sentence to it, once, and return what came of that."""
    timeouts = Timeouts(**settings.CHAT_TIMEOUTS, retries=0)
    client = ChatClient(provider.base_url, provider.api_key, provider.model, timeouts)
    trial, began = Trial(), perf_counter()
    try:
        async with asyncio.timeout(timeout_seconds):
            await _ask(client, sentence, trial, began)
    except TimeoutError:
        trial.error = ProviderUnavailable(f"The answer did not end within {timeout_seconds:g} s")
    except ProviderError as error:
        trial.error = error
    finally:
        await client.aclose()
    trial.seconds = perf_counter() - began
    return trial


async def _ask(client: ChatClient, sentence: str, trial: Trial, began: float) -> None:
    """Stream the answer into the trial; a piece of reasoning counts as the first one too."""
    messages = [{"role": "user", "content": sentence}]
    async with aclosing(
        client.stream(messages, sampling=Sampling(max_tokens=settings.ANSWER_TOKENS))
    ) as events:
        async for event in events:
            if isinstance(event, Piece | Thought) and not trial.first_piece_seconds:
                trial.first_piece_seconds = perf_counter() - began
            if isinstance(event, Retracted):
                trial.text = ""
            elif isinstance(event, Piece):
                trial.text += event.text
    if not trial.text.strip():
        raise EmptyAnswer("It said nothing")
