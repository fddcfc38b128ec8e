"""Everyday sentences in many languages: what any two texts have in common, for the floor of recall."""

from functools import cache
from time import monotonic

import numpy as np
import structlog

from memory.embedding.spaces import CueVector, embedder_of
from memory.errors import WidthError
from memory.models import Space
from memory.recall.small_talk import languages
from providers.embedding import Embedder
from providers.embedding.embedder import Floats
from providers.errors import ProviderError

log = structlog.get_logger(__name__)

FLOAT = "<f4"
TRIED_AGAIN_SECONDS = 3600.0


@cache
def everyday_sentences() -> dict[str, list[str]]:
    """Return some everyday sentences of each known language, by its code."""
    found: dict[str, list[str]] = {}
    for name, language in languages().items():
        told = language["everyday"]
        found |= told if isinstance(told, dict) else {name: told}
    return found


_not_before: dict[int, float] = {}  # when this process tries a space again that could not be measured


def measure_spaces() -> None:
    """Keep with each space that can be asked the mean vector of each language's everyday sentences, if it lacks them.

    Where its embedder is away, refuses them or answers in another width, it is tried again after an hour.
    """
    for space in Space.objects.filter(everyday=b"", answered_width=None).order_by("-edition", "-pk"):
        embedder = embedder_of(space)
        if embedder and monotonic() >= _not_before.get(space.pk, 0.0):
            try:
                _measure(space, embedder)
            except (ProviderError, WidthError) as error:
                _not_before[space.pk] = monotonic() + TRIED_AGAIN_SECONDS
                log.warning("everyday_not_measured", space=str(space), code=error.code)


def _measure(space: Space, embedder: Embedder) -> None:
    means = [embedder.embed_documents(sentences).mean(axis=0) for sentences in everyday_sentences().values()]
    if any(mean.shape != (space.width,) for mean in means):
        raise WidthError(space.model, space.width, means[0].shape)
    space.everyday = np.array(means, dtype=FLOAT).tobytes()
    space.save(update_fields=["everyday"])


def everyday_likeness(cue: CueVector) -> float:
    """Return the cosine that the cue has with everyday sentences of its language: the highest mean of any language.

    The vector has length 1. 0 where the space has not been measured yet.
    """
    means: Floats = np.frombuffer(bytes(cue.space.everyday), dtype=FLOAT).reshape(-1, cue.space.width)
    return float(np.max(means @ cue.vector, initial=0.0))
