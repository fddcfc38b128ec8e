"""System checks of how embedders are asked."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.core.exceptions import ImproperlyConfigured

from providers.manner import fields

MOST_PREFIX, MOST_FIELDS = 200, 300  # characters: they tell a space, in an index of the database
EXAMPLE = """Write a JSON object, such as EMBEDDING_QUERY_FIELDS='{"task": "retrieval.query", "dimensions": 512}'."""


@register
def check_embedding(**_: Any) -> list[CheckMessage]:
    """What is wrong with the embedding settings."""
    every = {"EMBEDDING": settings.EMBEDDING, "EMBEDDING_PREVIOUS": settings.EMBEDDING_PREVIOUS}
    return [message for name, wanted in every.items() for message in _messages(name, wanted)]


def _messages(name: str, wanted: Mapping[str, Any]) -> Iterator[CheckMessage]:
    dimensions = set()
    for side in ("query", "document"):
        text, prefix = wanted.get(f"{side}_fields", ""), wanted.get(f"{side}_prefix", "")
        setting = f"{name}_{side.upper()}"
        try:
            dimensions.add(str(fields(text).get("dimensions")))
        except ImproperlyConfigured as error:
            yield Error(f"{setting}_FIELDS: {error}", hint=EXAMPLE, id="providers.E001")
        if len(text) > MOST_FIELDS or len(prefix) > MOST_PREFIX:
            yield Error(
                f"{setting}_FIELDS or _PREFIX is too long.",
                hint=f"A prefix has at most {MOST_PREFIX} characters, fields {MOST_FIELDS}.",
                id="providers.E002",
            )
        if (text or prefix) and not wanted.get("base_url"):
            yield Warning(
                f"{setting}_FIELDS or _PREFIX is set, and the built-in embedder knows neither.",
                hint=f"Set {name}_BASE_URL and {name}_MODEL, or unset them.",
                id="providers.W001",
            )
    if len(dimensions) > 1:
        yield Error(
            f"{name}_QUERY_FIELDS and {name}_DOCUMENT_FIELDS want other dimensions of the same space.",
            hint="Give both the same `dimensions`.",
            id="providers.E003",
        )
