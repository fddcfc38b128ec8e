"""Which embedders are in force: the environment's, else the database's active ones, else the built-in one.

Only providers with the same model and prefixes replace each other: vectors of two models cannot be compared.
"""

import json
from collections.abc import Mapping
from functools import cache, lru_cache
from threading import Lock
from typing import Any

from django.conf import settings

from providers.chat_provider import ChatProvider
from providers.embedding.embedder import Embedder
from providers.selection import Capability, find_active

_loading = Lock()  # keeps the libraries and models, which are large, from being loaded twice


def get_embedder() -> Embedder | None:
    """Return the embedder in force: settings.EMBEDDING's, else the first active provider's, else the built-in one.

    Return None if it would be the built-in one, but its weights are missing.
    """
    if not is_embedding_set_by_environment() and (active := _find_active_embedders()):
        return active[0]
    return _load_embedder(settings.EMBEDDING)


def get_embedders() -> list[Embedder]:
    """Return all embedders that can be asked: the one in force, those of the other active providers, the previous one
    (settings.EMBEDDING_PREVIOUS), the built-in one.
    """
    previous, built_in = _load_embedder(settings.EMBEDDING_PREVIOUS), _load_embedder({})
    candidates = (get_embedder(), *_find_active_embedders(), previous, built_in)
    return list(dict.fromkeys(embedder for embedder in candidates if embedder is not None))


def is_embedding_set_by_environment() -> bool:
    """Return whether the environment names an embedder, which then takes precedence."""
    return bool(settings.EMBEDDING.get("base_url"))


def _find_active_embedders() -> list[Embedder]:
    rows = tuple(find_active(Capability.EMBEDDING))
    with _loading:
        return _connect_rows(rows)


@lru_cache(maxsize=1)  # after a change of any row, e.g. of its key, the embedders are built anew
def _connect_rows(rows: tuple[ChatProvider, ...]) -> list[Embedder]:
    """Return an embedder for each model with its prefixes, in the order of the providers."""
    alike: dict[tuple[str, str, str], list[ChatProvider]] = {}
    for row in rows:
        alike.setdefault((row.model, row.query_prefix, row.document_prefix), []).append(row)
    if not alike:
        return []
    from providers.embedding.fallback import FallbackEmbedder  # the SDK takes most of a second to load

    return [FallbackEmbedder(providers) for providers in alike.values()]


def _load_embedder(wanted: Mapping[str, Any]) -> Embedder | None:
    with _loading:
        if wanted.get("base_url"):
            return _connect_embedder(json.dumps(dict(wanted), sort_keys=True))
        return _load_built_in_embedder()


@cache
def _connect_embedder(wanted_json: str) -> Embedder:
    from providers.embedding.remote import RemoteEmbedder  # the SDK takes most of a second to load

    return RemoteEmbedder.from_settings(json.loads(wanted_json))


@cache
def _load_built_in_embedder() -> Embedder | None:
    from providers.embedding.minilm import MiniLM, find_weights  # loads its libraries

    folder = find_weights()
    return MiniLM(folder, settings.KITH_HOME / "models") if folder else None
