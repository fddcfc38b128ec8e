"""What every embedder can do, how its model is to be asked, and the vectors that it gives: rows of 32-bit floats."""

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
    """E5 wants a prefix before each text, jina-embeddings-v3 a `task` in each request: another profile, other vectors."""

    query_prefix: str = ""
    document_prefix: str = ""
    query_fields: Mapping[str, Any] = field(default_factory=dict)
    document_fields: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_settings(cls, wanted: Mapping[str, Any]) -> "EmbeddingProfile":
        """Read an entry of the settings; ImproperlyConfigured where its fields are no JSON object."""
        return cls(
            wanted.get("query_prefix", ""),
            wanted.get("document_prefix", ""),
            parse_fields(wanted.get("query_fields", "")),
            parse_fields(wanted.get("document_fields", "")),
        )


PLAIN_PROFILE = EmbeddingProfile()


def parse_fields(text: str) -> dict[str, Any]:
    """Return the JSON object, {} for nothing; ImproperlyConfigured says what else was written."""
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
    """Called from worker threads, never from an event loop; raises ProviderUnavailable and ProviderRefused."""

    def __hash__(self) -> int: ...

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


def normalised(vectors: Floats) -> Floats:
    """Return the same directions with length 1; a vector of length 0 stays as it is."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    directions: Floats = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return directions
