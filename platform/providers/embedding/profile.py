"""How an embedding model is to be asked: what is put before a text, and what else a request holds."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ImproperlyConfigured

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
