"""One embedding model on several servers: if one fails the next is asked, and one that fails often is not asked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TypeVar

from providers.availability import choose_next, note_answer, note_error
from providers.chat_provider import ChatProvider
from providers.embedding.embedder import EmbeddingProfile, Floats
from providers.embedding.remote import MAX_TOKENS, RemoteEmbedder
from providers.errors import ProviderError
from providers.failures import may_another_server_answer
from providers.http.clients import run_in_background

T = TypeVar("T")


class FallbackEmbedder:
    """Providers of the same model and prefixes, in order of fallback, as one embedder."""

    is_built_in = False

    def __init__(self, providers: Sequence[ChatProvider]) -> None:
        self.max_tokens = min(provider.context_tokens or MAX_TOKENS for provider in providers)
        self._providers = list(providers)
        self._embedders = {provider: connect(provider, self.max_tokens) for provider in providers}
        self._first = self._embedders[providers[0]]
        self.model, self.profile = self._first.model, self._first.profile

    @property
    def width(self) -> int:
        """Return how many numbers a vector has now, found by embedding one word."""
        return self._ask(lambda embedder: embedder.width)

    def windows(self, text: str) -> list[str]:
        """Return the text, or its overlapping parts, each short enough for all the providers."""
        return self._first.windows(text)

    def embed_documents(self, texts: Sequence[str]) -> Floats:
        return self._ask(lambda embedder: embedder.embed_documents(texts))

    def embed_queries(self, texts: Sequence[str]) -> Floats:
        return self._ask(lambda embedder: embedder.embed_queries(texts))

    def _ask(self, work: Callable[[RemoteEmbedder], T]) -> T:
        """Return the result of `work` from the first provider that may be asked and does not fail.

        If all fail, raise the last one's error, or ProviderBusy if none may be asked now.
        """
        left, error = self._providers, None
        while True:
            provider, left = run_in_background(choose_next(left, error))
            try:
                answer = work(self._embedders[provider])
            except ProviderError as failed:
                run_in_background(note_error(provider, failed))
                if not left or not may_another_server_answer(failed):
                    raise
                error = failed
            else:
                run_in_background(note_answer(provider))
                return answer


def connect(provider: ChatProvider, max_tokens: int = MAX_TOKENS) -> RemoteEmbedder:
    """Return the provider's embedder. Raise ProviderRefused if its key cannot be decrypted."""
    return RemoteEmbedder(
        provider.base_url,
        provider.require_key(),
        provider.model,
        profile=EmbeddingProfile(provider.query_prefix, provider.document_prefix),
        max_tokens=max_tokens,
    )


@dataclass(frozen=True, slots=True)
class EmbeddingTrial:
    """How many numbers a text's vector has, and the milliseconds until it came; or the `error` instead."""

    width: int = 0
    milliseconds: int = 0
    error: ProviderError | None = None


def try_embedding(provider: ChatProvider, text: str) -> EmbeddingTrial:
    """Have the provider embed the text, even if its breaker is open, and return the outcome."""
    began = perf_counter()
    try:
        width = connect(provider).embed_documents([text]).shape[1]
    except ProviderError as error:
        return EmbeddingTrial(error=error)
    return EmbeddingTrial(width, round((perf_counter() - began) * 1000))
