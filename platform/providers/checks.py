"""System checks of the settings for embedding and speech."""

import shutil
from collections.abc import Iterator, Mapping
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.core.exceptions import ImproperlyConfigured

from providers.embedding.embedder import parse_fields
from providers.models import MAX_PREFIX
from providers.speech.espeak import PROGRAM
from providers.speech.synthesis import BROWSER, ENGINES, choose_engine_name

MAX_FIELDS = 300  # characters; like prefixes, fields are part of an embedding space's key in a database index
FIELDS_EXAMPLE = (
    "Write a JSON object, such as EMBEDDING_QUERY_FIELDS="
    """'{"task": "retrieval.query", "dimensions": 512}'."""
)
REFERENCES_EXAMPLE = (
    """Write an object, such as SPEECH_REFERENCES='{"Mira": {"path": "/srv/mira.wav", "text": "Hello."}}'."""
)


@register
def check_embedding(**_: Any) -> list[CheckMessage]:
    """Return what is wrong with the embedding settings."""
    every = {"EMBEDDING": settings.EMBEDDING, "EMBEDDING_PREVIOUS": settings.EMBEDDING_PREVIOUS}
    return [message for name, wanted in every.items() for message in _check_embedder(name, wanted)]


def _check_embedder(name: str, wanted: Mapping[str, Any]) -> Iterator[CheckMessage]:
    dimensions = set()
    for side in ("query", "document"):
        text, prefix = wanted.get(f"{side}_fields", ""), wanted.get(f"{side}_prefix", "")
        setting = f"{name}_{side.upper()}"
        try:
            dimensions.add(str(parse_fields(text).get("dimensions")))
        except ImproperlyConfigured as error:
            yield Error(f"{setting}_FIELDS: {error}", hint=FIELDS_EXAMPLE, id="providers.E001")
        if len(text) > MAX_FIELDS or len(prefix) > MAX_PREFIX:
            hint = f"A prefix has at most {MAX_PREFIX} characters, fields {MAX_FIELDS}."
            yield Error(f"{setting}_FIELDS or _PREFIX is too long.", hint=hint, id="providers.E002")
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


@register
def check_speech(**_: Any) -> list[CheckMessage]:
    """Return what is wrong with the settings of speech."""
    return list(_check_speech(settings.SPEECH, choose_engine_name(settings.SPEECH)))


def _check_speech(wanted: Mapping[str, Any], name: str) -> Iterator[CheckMessage]:
    if name != BROWSER and ENGINES[name].needs_address and not wanted["base_url"]:
        hint = "Set SPEECH_BASE_URL."
        yield Error(f"SPEECH_ENGINE is {name}, and it has no address.", hint=hint, id="providers.E005")
    if not _are_references(wanted["references"]):
        yield Error("SPEECH_REFERENCES is in another form.", hint=REFERENCES_EXAMPLE, id="providers.E007")
    elif name in ENGINES and ENGINES[name].needs_reference and not wanted["references"]:
        hint = "Set SPEECH_REFERENCES."
        yield Warning(
            f"{name} has no recording to imitate and will be silent.", hint=hint, id="providers.W002"
        )
    if name == "espeak" and not shutil.which(PROGRAM):
        hint = "Install it (Debian: apt-get install espeak-ng), or leave SPEECH_ENGINE empty."
        yield Warning(f"SPEECH_ENGINE is espeak, and {PROGRAM} is not there.", hint=hint, id="providers.W003")


def _are_references(given: Mapping[str, object]) -> bool:
    """Return whether each name is mapped to an object of strings with a path among them."""
    return all(
        isinstance(reference, Mapping)
        and reference.get("path")
        and all(isinstance(text, str) for text in reference.values())
        for reference in given.values()
    )
