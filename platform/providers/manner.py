"""The manner in which an embedder is asked: what is put before a text, and what else a request holds."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ImproperlyConfigured

FIELDS_OF_OURS = frozenset({"model", "input", "encoding_format"})


@dataclass(frozen=True, slots=True)
class Manner:
    """E5 wants a prefix before each text, jina-embeddings-v3 a `task` in each request: other manner, other vectors."""

    query_prefix: str = ""
    document_prefix: str = ""
    query_fields: Mapping[str, Any] = field(default_factory=dict)
    document_fields: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def wanted(cls, settings: Mapping[str, Any]) -> "Manner":
        """That of an entry of the settings; ImproperlyConfigured where its fields are no JSON object."""
        return cls(
            settings.get("query_prefix", ""),
            settings.get("document_prefix", ""),
            fields(settings.get("query_fields", "")),
            fields(settings.get("document_fields", "")),
        )


PLAIN = Manner()


def fields(text: str) -> dict[str, Any]:
    """The JSON object, {} for nothing; ImproperlyConfigured says what else was written."""
    try:
        read = json.loads(text) if text.strip() else {}
    except ValueError:
        read = None
    if not isinstance(read, dict):
        raise ImproperlyConfigured(f"{text!r} is no JSON object.")
    if taken := FIELDS_OF_OURS & read.keys():
        raise ImproperlyConfigured(
            f"{text!r} may not hold {', '.join(sorted(taken))}: Kith sends that itself."
        )
    return read
