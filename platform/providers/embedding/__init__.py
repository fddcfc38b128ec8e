"""Embeddings: texts as vectors of length 1."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from threading import Lock
from typing import Any, Protocol

from django.conf import settings

from providers.embedding.profile import EmbeddingProfile
from providers.embedding.vectors import Floats


class Embedder(Protocol):
    """Called from worker threads, never from an event loop; raises ProviderUnavailable and ProviderRefused."""

    @property
    def model(self) -> str: ...

    @property
    def profile(self) -> EmbeddingProfile: ...

    @property
    def is_built_in(self) -> bool:
        """Whether no provider outside is asked, so that an embedding costs nothing but a moment."""

    @property
    def width(self) -> int:
        """How many numbers a vector has; may ask the provider."""

    @property
    def max_tokens(self) -> int: ...

    def windows(self, text: str) -> list[str]:
        """Return the text, or its overlapping parts where it has more than `max_tokens`."""

    def embed_documents(self, texts: Sequence[str]) -> Floats:
        """Return (n, width), a row for each text."""

    def embed_queries(self, texts: Sequence[str]) -> Floats:
        """Return (n, width), a row for each text that a search starts from."""


_lock = Lock()  # what is loaded is large: it is not loaded twice


def get_embedder() -> Embedder | None:
    """Return this process's embedder by settings.EMBEDDING, else the built-in one; None where its weights are missing."""
    return _load(settings.EMBEDDING)


def get_embedders() -> list[Embedder]:
    """Return all that can be asked: the wanted one, that before it (settings.EMBEDDING_PREVIOUS), the built-in one."""
    candidates = (get_embedder(), _load(settings.EMBEDDING_PREVIOUS), _load({}))
    return list(dict.fromkeys(embedder for embedder in candidates if embedder is not None))


def _load(wanted: Mapping[str, Any]) -> Embedder | None:
    with _lock:
        if wanted.get("base_url"):
            return _connect(json.dumps(dict(wanted), sort_keys=True))
        return _load_built_in()


@cache
def _connect(wanted_json: str) -> Embedder:
    from providers.embedding.remote import RemoteEmbedder  # the SDK takes most of a second to load

    return RemoteEmbedder.from_settings(json.loads(wanted_json))


@cache
def _load_built_in() -> Embedder | None:
    from providers.embedding.minilm import MiniLM, find_weights  # only those who embed wait for its libraries

    folder = find_weights()
    return MiniLM(folder, settings.KITH_HOME / "models") if folder else None
