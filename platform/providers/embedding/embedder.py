"""The protocol of embedders, how their models are asked, and their vectors: rows of 32-bit floats."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from django.core.exceptions import ImproperlyConfigured
from numpy.typing import NDArray

Floats = NDArray[np.float32]
RESERVED_FIELDS = frozenset({"model", "input", "encoding_format"})


@dataclass(frozen=True, slots=True)
class EmbeddingProfile:
    """How a model is asked, e.g. E5 with a prefix before each text, jina-embeddings-v3 with a `task` in each request.

    Vectors of one model that were made with different profiles are not comparable.
    """

    query_prefix: str = ""
    document_prefix: str = ""
    query_fields: Mapping[str, Any] = field(default_factory=dict)
    document_fields: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_settings(cls, wanted: Mapping[str, Any]) -> "EmbeddingProfile":
        """Return the profile in an entry of the settings. Raise ImproperlyConfigured if its fields are invalid."""
        return cls(
            wanted.get("query_prefix", ""),
            wanted.get("document_prefix", ""),
            parse_fields(wanted.get("query_fields", "")),
            parse_fields(wanted.get("document_fields", "")),
        )


PLAIN_PROFILE = EmbeddingProfile()


def parse_fields(text: str) -> dict[str, Any]:
    """Return the JSON object in the text, {} if it is empty. Raise ImproperlyConfigured if it is invalid."""
    try:
        fields = json.loads(text) if text.strip() else {}
    except ValueError:
        fields = None
    if not isinstance(fields, dict):
        raise ImproperlyConfigured(f"{text!r} is no JSON object.")
    if taken := RESERVED_FIELDS & fields.keys():
        raise ImproperlyConfigured(
            f"{text!r} may not hold {', '.join(sorted(taken))}: Kith sends that itself."
        )
    return fields


class Embedder(Protocol):
    """A model that embeds texts. Call it from threads, never in an event loop.

    Its methods may raise ProviderUnavailable or ProviderRefused.
    """

    def __hash__(self) -> int: ...

    @property
    def model(self) -> str: ...

    @property
    def profile(self) -> EmbeddingProfile: ...

    @property
    def is_built_in(self) -> bool:
        """Return whether the model runs in this process, so that an embedding costs only a moment."""

    @property
    def width(self) -> int:
        """Return how many numbers a vector has. This may ask the provider."""

    @property
    def max_tokens(self) -> int: ...

    def windows(self, text: str) -> list[str]:
        """Return the text, or its overlapping parts if it has more than `max_tokens`."""

    def embed_documents(self, texts: Sequence[str]) -> Floats:
        """Return an array of shape (n, width) with a row for each text."""

    def embed_queries(self, texts: Sequence[str]) -> Floats:
        """Return an array of shape (n, width) with a row for each text, the query of a search."""


def normalised(vectors: Floats) -> Floats:
    """Return the vectors scaled to length 1; a vector of length 0 stays as it is."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    directions: Floats = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return directions
