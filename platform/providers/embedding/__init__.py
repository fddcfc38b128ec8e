"""Embeddings: texts as vectors of length 1; which embedder this process has."""

import json
from collections.abc import Mapping
from functools import cache
from threading import Lock
from typing import Any

from django.conf import settings

from providers.embedding.embedder import Embedder

__all__ = ["Embedder", "get_embedder", "get_embedders"]
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
