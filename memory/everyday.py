"""Everyday sentences in many languages: what any two texts have in common, for the floor of recall (`memory.floor`)."""

from functools import cache

import numpy as np
import structlog

from memory.models import Space
from memory.small_talk import languages
from memory.spaces import CueVector, embedder_of
from providers.embedding import Embedder
from providers.errors import ProviderRefused
from providers.vectors import Floats

log = structlog.get_logger(__name__)

FLOAT = "<f4"


@cache
def everyday_sentences() -> dict[str, list[str]]:
    """Return some everyday sentences of each known language, by its code."""
    found: dict[str, list[str]] = {}
    for name, language in languages().items():
        told = language["everyday"]
        found |= told if isinstance(told, dict) else {name: told}
    return found


def measure_spaces() -> None:
    """Keep with each space that can be asked the mean vector of each language's everyday sentences, if it lacks them.

    An embedder that refuses them, or answers in another width, leaves its space without. Raises ProviderUnavailable.
    """
    for space in Space.objects.filter(everyday=b""):
        if embedder := embedder_of(space):
            _measure(space, embedder)


def _measure(space: Space, embedder: Embedder) -> None:
    languages = everyday_sentences().values()
    try:
        vectors = embedder.embed_documents([sentence for sentences in languages for sentence in sentences])
    except ProviderRefused as error:
        log.warning("everyday_not_measured", space=str(space), code=error.code)
        return
    if vectors.shape[1:] != (space.width,):
        return
    ends = np.cumsum([len(sentences) for sentences in languages])[:-1]
    means = [part.mean(axis=0) for part in np.split(vectors, ends)]
    space.everyday = np.array(means, dtype=FLOAT).tobytes()
    space.save(update_fields=["everyday"])


def everyday_likeness(cue: CueVector) -> float:
    """Return the cosine that the cue has with everyday sentences of its language: the highest mean of any language.

    The vector has length 1. 0 where the space has not been measured yet.
    """
    means: Floats = np.frombuffer(bytes(cue.space.everyday), dtype=FLOAT).reshape(-1, cue.space.width)
    return float(np.max(means @ cue.vector, initial=0.0))
