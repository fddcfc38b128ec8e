"""Embeddings: texts as vectors of length 1."""

import json
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, Protocol

from django.conf import settings

from providers.manner import Manner
from providers.minilm.embedder import MiniLM
from providers.minilm.weights import find_weights
from providers.remote_embedding import MAX_TOKENS, RemoteEmbedder
from providers.vectors import Floats


class Embedder(Protocol):
    """Called from worker threads, never from an event loop; raises ProviderUnavailable and ProviderRefused."""

    @property
    def model(self) -> str: ...

    @property
    def manner(self) -> Manner: ...

    @property
    def width(self) -> int:
        """How many numbers a vector has; may ask the provider."""

    @property
    def max_tokens(self) -> int: ...

    def windows(self, text: str) -> list[str]:
        """The text, or its overlapping parts where it has more than `max_tokens`."""

    def embed_documents(self, texts: Sequence[str]) -> Floats:
        """(n, width), a row for each text."""

    def embed_queries(self, texts: Sequence[str]) -> Floats:
        """(n, width), a row for each text that a search starts from."""


_made: dict[str, Embedder | None] = {}
_lock = Lock()


def embedder() -> Embedder | None:
    """This process's embedder by settings.EMBEDDING, else the built-in one; None where its weights are missing."""
    return _by(settings.EMBEDDING)


def embedders() -> list[Embedder]:
    """All that can be asked: the wanted one, the one before it (settings.EMBEDDING_PREVIOUS), the built-in one."""
    every = [embedder(), _by(settings.EMBEDDING_PREVIOUS), _by({})]
    return [one for n, one in enumerate(every) if one is not None and one not in every[:n]]


def asks_nobody() -> bool:
    """Whether no provider outside is asked for any embedding, so that one costs nothing but a moment."""
    return all(isinstance(one, MiniLM) for one in embedders())


def _by(wanted: Mapping[str, Any]) -> Embedder | None:
    key = json.dumps(dict(wanted), sort_keys=True) if wanted.get("base_url") else ""
    with _lock:
        if key not in _made:
            _made[key] = _remote(wanted) if key else _built_in()
        return _made[key]


def _remote(wanted: Mapping[str, Any]) -> RemoteEmbedder:
    return RemoteEmbedder(
        wanted["base_url"],
        wanted["api_key"],
        wanted["model"],
        manner=Manner.wanted(wanted),
        max_tokens=wanted.get("max_tokens") or MAX_TOKENS,
    )


def _built_in() -> MiniLM | None:
    folder = find_weights()
    return MiniLM(folder) if folder else None
