"""Embeddings: texts as vectors of length 1."""

from collections.abc import Sequence
from threading import Lock
from typing import Protocol

from django.conf import settings

from providers.minilm.embedder import MiniLM
from providers.minilm.weights import find_weights
from providers.remote_embedding import RemoteEmbedder
from providers.vectors import Floats


class Embedder(Protocol):
    """Called from worker threads, never from an event loop; raises ProviderUnavailable and ProviderRefused."""

    @property
    def model(self) -> str: ...

    @property
    def width(self) -> int:
        """How many numbers a vector has; may ask the provider once."""

    @property
    def max_tokens(self) -> int: ...

    def windows(self, text: str) -> list[str]:
        """The text, or its overlapping parts where it has more than `max_tokens`."""

    def embed_documents(self, texts: Sequence[str]) -> Floats:
        """(n, width), a row for each text."""

    def embed_query(self, text: str) -> Floats:
        """(width,) for what a search starts from."""


_made: dict[tuple[str, ...], Embedder | None] = {}
_lock = Lock()


def embedder() -> Embedder | None:
    """This process's embedder by settings.EMBEDDING, else the built-in one; None where its weights are missing."""
    wanted = settings.EMBEDDING
    key = (wanted["base_url"], wanted["api_key"], wanted["model"])
    with _lock:
        if key not in _made:
            _made[key] = RemoteEmbedder(*key) if key[0] else _built_in()
        return _made[key]


def _built_in() -> MiniLM | None:
    folder = find_weights()
    return MiniLM(folder) if folder else None
