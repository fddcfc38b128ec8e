"""Embedding spaces, and the vectors of cues and texts in them.

The wanted space serves a companion once it holds as many of its memories as any other; until then the fullest one does.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any
from uuid import UUID

import numpy as np
import structlog
from django.db.models import Count
from django.utils import timezone

from accounts.limits.usage import Payer, charged, has_tokens_left
from accounts.models import ModelCall
from accounts.models.user import OwnedQuerySet
from memory.errors import WidestError, WidthError
from memory.models import Embedding, Space
from memory.models.embedding import MAX_WIDTH
from memory.recall.query import NOBODY, Names, without_names
from providers.embedding.embedder import Embedder, Floats, normalised
from providers.embedding.selection import get_embedder, get_embedders
from providers.errors import ProviderError
from text.strings import ends, storable

log = structlog.get_logger(__name__)

CACHE_SECONDS = 30.0  # for so long a process may not know that another has made or deleted a space
MAX_SETTLED = 100_000
MAX_WINDOWS = 8  # of a long text: half at its beginning, half at its end
MAX_TEXTS = 128  # windows at once: if there are many texts, each has fewer windows
UNKNOWN_CHARACTER = "\ufffd"  # replaces a character that cannot be stored
IDENTITY = ("model", "query_prefix", "document_prefix", "query_fields", "document_fields")
EVERYDAY_TYPE = "<f4"  # the type of the numbers in Space.everyday


@dataclass(frozen=True, slots=True)
class CueVector:
    """The vector of a cue, of length 1, and the only space in which it can be compared. `parts` are the vectors of its
    sentences, by their texts.
    """

    space: Space
    vector: Floats
    parts: Mapping[str, Floats] = field(default_factory=dict)


class _Cache:
    """What this process knows of the spaces. The companions in `settled` are served by the space `settled_in`."""

    def __init__(self) -> None:
        self.settled_in: Space | None = None
        self.settled: set[UUID] = set()
        self.clear()

    def clear(self) -> None:
        self.listed: tuple[list[Space], float] = ([], 0.0)  # with the time until which it holds
        self.silent: tuple[Embedder | None, float] = (None, 0.0)


_cache = _Cache()
clear_cache = _cache.clear


def embed_cue(
    cue: str, payer: Payer | None = None, names: Names = NOBODY, parts: Sequence[str] = ()
) -> CueVector | None:
    """Return the cue's vector in the space that serves the payer's companion or, without a payer, in the wanted space.

    The vector of a long cue is the mean of its windows'. Return None if no embedder answers, if the cue has no text or
    a vector of zeros, or if embedding costs tokens and the payer has none left today. `names` are what "user" and
    "companion" are called; they are left out of the cue. `parts` are sentences of the cue that are embedded one by one
    as well. All of it is one request.
    """
    cue = without_names(storable(cue), names)
    if not cue.replace(UNKNOWN_CHARACTER, "").strip():
        return None
    try:
        with charged(payer, ModelCall.Purpose.EMBEDDING):
            space = find_serving_space(payer.companion_id if payer else None)
            embedder = find_embedder(space) if space else None
            if space is None or embedder is None:
                return None
            if payer and not embedder.is_built_in and not has_tokens_left(payer.user_id, timezone.now()):
                return None
            windows = ends(embedder.windows(cue), MAX_WINDOWS)
            texts = [*windows, *(without_names(storable(part), names) for part in parts)]
            vectors = check_width(space, embedder.embed_queries(texts))
            vector, of_parts = normalised(vectors[: len(windows)].mean(axis=0)), vectors[len(windows) :]
            known = {part: normalised(one) for part, one in zip(parts, of_parts, strict=True) if one.any()}
            return CueVector(space, vector, known) if vector.any() else None
    except (ProviderError, WidthError) as error:
        log.warning("cue_not_embedded", code=error.code)
        return None


def embed_texts(
    companion_id: UUID, texts: Sequence[str], payer: Payer | None = None
) -> tuple[Space, Floats] | None:
    """Return the space that serves the companion and the vectors of the texts in it; None if no embedder answers.

    The vectors (n, width) have length 1; that of a long text is the mean of its windows'.
    """
    space = find_serving_space(companion_id)
    embedder = find_embedder(space) if space else None
    if space is None or embedder is None:
        return None
    if not texts:
        return space, np.zeros((0, space.width), dtype=np.float32)
    most = max(1, min(MAX_WINDOWS, MAX_TEXTS // len(texts)))
    try:
        windows = [ends(embedder.windows(text), most) or [text] for text in texts]
        with charged(payer, ModelCall.Purpose.EMBEDDING):
            vectors = embedder.embed_documents([window for of_text in windows for window in of_text])
        if vectors.shape != (sum(map(len, windows)), space.width):
            raise WidthError(space.model, space.width, vectors.shape)
    except (ProviderError, WidthError) as error:
        log.warning("texts_not_embedded", code=error.code)
        return None
    starts = np.cumsum([0, *map(len, windows[:-1])])
    return space, normalised(np.add.reduceat(vectors, starts, axis=0))


def check_width(space: Space, vectors: Floats) -> Floats:
    """Return the vectors (n, width) if they fit into the space; else record the wrong width and raise WidthError."""
    if vectors.ndim == 2 and vectors.shape[1] == space.width:
        return vectors
    if space.note_wrong_width(vectors.shape[-1]):
        log.error("embedding_width_changed", space=str(space), width=space.width, answered=vectors.shape[-1])
    raise WidthError(space.model, space.width, vectors.shape)


def measure_everyday_likeness(cue: CueVector) -> float:
    """Return the cosine of the cue with everyday sentences: the highest mean of any language, at least 0.

    That is what any two texts have in common. The cue's vector must have length 1. 0 if the space is not measured yet.
    """
    means: Floats = np.frombuffer(bytes(cue.space.everyday), dtype=EVERYDAY_TYPE)
    return float(np.max(means.reshape(-1, cue.space.width) @ cue.vector, initial=0.0))


def list_spaces() -> list[Space]:
    """Return all spaces, newest first, as they were at most half a minute ago."""
    listed, until = _cache.listed
    if monotonic() >= until:
        listed = list(Space.objects.order_by("-edition", "-pk"))
        _cache.listed = listed, monotonic() + CACHE_SECONDS
    return listed


def find_embedder(space: Space) -> Embedder | None:
    """Return the embedder for vectors of this space; None if neither settings nor providers name its model any more."""
    wanted = space.model, space.profile
    return next(
        (embedder for embedder in get_embedders() if (embedder.model, embedder.profile) == wanted), None
    )


def get_or_create_wanted_space() -> Space | None:
    """Return the space of the embedder in force, created when needed first; None if there is no embedder.

    Raise ProviderError if its width must be asked for and nobody answers, WidestError if the width is beyond 16,000.
    """
    wanted = get_embedder()
    if wanted is None:
        return None
    for space in list_spaces():
        if (space.model, space.profile) == (wanted.model, wanted.profile):
            return space
    identity = {name: getattr(wanted.profile, name) for name in IDENTITY if name != "model"}
    return _make({**identity, "model": wanted.model, "edition": 1}, wanted.width, wanted.max_tokens)


def create_next_edition(space: Space, width: int) -> Space:
    """Create the next edition of the space, for embedding all again with its model, now of this width.

    Raise WidestError if that is beyond 16,000.
    """
    identity = {name: getattr(space, name) for name in IDENTITY}
    return _make({**identity, "edition": space.edition + 1}, width, space.max_tokens)


def _make(identity: dict[str, Any], width: int, max_tokens: int) -> Space:
    if width > MAX_WIDTH:
        raise WidestError(identity["model"], width, MAX_WIDTH)
    defaults = {"width": width, "max_tokens": max_tokens}
    space, _ = Space.objects.get_or_create(**identity, defaults=defaults)
    _cache.listed = [], 0.0
    return space


def find_wanted_space() -> Space | None:
    """Return the wanted space, or None if there is none or its server is needed and does not answer.

    After that, None is returned at once for half a minute, so that not every caller waits for the server.
    """
    wanted, (silent, until) = get_embedder(), _cache.silent
    if wanted is None or (wanted is silent and monotonic() < until):
        return None
    try:
        return get_or_create_wanted_space()
    except (ProviderError, WidestError):
        _cache.silent = wanted, monotonic() + CACHE_SECONDS
        return None


def find_serving_space(companion_id: UUID | None = None) -> Space | None:
    """Return the space in which the companion's memories are recalled, or None if none can be asked.

    Of the spaces whose embedder can be asked, it is the one that holds most of the companion's memories; among equals,
    and without a companion, the wanted one. No query if there is only one space, or if the wanted one served before.
    """
    wanted = find_wanted_space()
    older = [space for space in list_spaces() if space != wanted and _can_be_asked(space)]
    if companion_id is None or not older:
        return wanted
    if wanted and wanted != _cache.settled_in:
        _cache.settled_in, _cache.settled = wanted, set()
    if wanted and companion_id in _cache.settled:
        return wanted
    done = _count_done(Embedding.objects.filter(companion_id=companion_id))
    serving = _fullest([wanted, *older] if wanted else older, done.get(companion_id, {}))
    if serving == wanted:
        if len(_cache.settled) >= MAX_SETTLED:
            _cache.settled.clear()
        _cache.settled.add(companion_id)
    return serving


def count_served() -> dict[int, int]:
    """Count how many companions each space serves, by space id; a companion without any embedding is not counted."""
    wanted = find_wanted_space()
    every = [space for space in list_spaces() if space == wanted or _can_be_asked(space)]
    every.sort(key=lambda space: space != wanted)
    served: dict[int, int] = defaultdict(int)
    for done in _count_done(Embedding.objects.all()).values() if every else ():
        served[_fullest(every, done).pk] += 1
    return dict(served)


def _count_done(embeddings: OwnedQuerySet[Embedding]) -> dict[UUID, dict[int, int]]:
    """Count, by companion id and space id, how many memories are embedded or were refused."""
    rows = embeddings.filter(window=0).order_by().values_list("companion_id", "space_id")
    counted: dict[UUID, dict[int, int]] = defaultdict(dict)
    for companion_id, space_id, count in rows.annotate(count=Count("*")):
        counted[companion_id][space_id] = count
    return counted


def _fullest(every: list[Space], done: dict[int, int]) -> Space:
    return max(every, key=lambda space: done.get(space.pk, 0))  # the first among equals


def _can_be_asked(space: Space) -> bool:
    return space.answered_width is None and find_embedder(space) is not None
