"""Embedding of memories and cues: what waits is found from rows, and no transaction is held while a model works."""

from collections.abc import Iterator
from itertools import groupby
from uuid import UUID, uuid4

import numpy as np
import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from accounts.models import ModelCall
from accounts.usage import Payer, charged
from memory.cue import NOBODY, Names, without_names
from memory.errors import WidthError
from memory.models import Embedding, Memory, Space
from memory.models.memory import MemoryQuerySet
from memory.text import ends, storable
from providers.embedding import Embedder, embedder
from providers.errors import ProviderError, ProviderRefused
from providers.vectors import Floats, normalised

log = structlog.get_logger(__name__)

BATCH = 64
REFUSED_TEXT = {400, 413, 422}  # other refusals, as of a key, are for every text
MOST_CUE_WINDOWS = 8  # of a pasted page the beginning and the end say what it is about


def serving_space() -> Space | None:
    """The space of the embedder that serves now; None where there is no embedder."""
    serving = embedder()
    return space_of(serving) if serving else None


def space_of(serving: Embedder) -> Space:
    """The embedder's space, made when it serves for the first time."""
    space, _ = Space.objects.get_or_create(
        model=serving.model,
        width=serving.width,
        query_prefix="",
        document_prefix="",
        defaults={"max_tokens": serving.max_tokens},
    )
    return space


def embed_cue(cue: str, payer: Payer | None = None, names: Names = NOBODY) -> Floats | None:
    """The cue's vector (its space's width), a long cue's from its windows' mean; None where no embedder answers.

    `names` are what "user" and "companion" are called; they are left out of it.
    """
    cue = without_names(storable(cue), names)
    serving = embedder()
    if serving is None or not cue.strip():
        return None
    try:
        with charged(payer, ModelCall.Purpose.EMBEDDING):
            return normalised(_cue_vectors(serving, cue).mean(axis=0))
    except (ProviderError, WidthError) as error:
        log.warning("cue_not_embedded", code=error.code)
        return None


def _cue_vectors(serving: Embedder, cue: str) -> Floats:
    windows = serving.windows(cue)
    if len(windows) < 2:
        return _checked(serving, serving.embed_query(cue)[np.newaxis])
    return _checked(serving, serving.embed_documents(ends(windows, MOST_CUE_WINDOWS)))


def unembedded(companion_id: UUID) -> MemoryQuerySet:
    """The companion's memories that have no embedding in the serving space; none where there is no embedder."""
    serving = embedder()
    if serving is None:
        return Memory.objects.none()
    try:
        space = space_of(serving)
    except ProviderError:  # its width is not known yet: any space of that model will do
        return Memory.objects.of(companion_id).exclude(embeddings__space__model=serving.model)
    return _waiting(space).of(companion_id)


def waiting(companion_id: UUID) -> int:
    """How many of the companion's memories have no embedding in the serving space."""
    return unembedded(companion_id).count()


def embed_waiting(companion_id: UUID | None = None, limit: int | None = None) -> int:
    """Embed what has no embedding in the serving space, at most `limit` memories; how many were embedded.

    Killed anywhere and run again it does what is left; two at once do no harm. Raises ProviderUnavailable,
    and ProviderRefused where every text would be refused, with what was embedded before it kept. A single text
    that the provider refuses is passed over until the next run; it is recalled by its words alone.
    """
    serving = embedder()
    if serving is None:
        return 0
    space = space_of(serving)
    embedded = 0
    for batch in _batches(space, companion_id, limit):
        for payer, memories in groupby(sorted(batch, key=_payer_key), key=_payer):
            with charged(payer, ModelCall.Purpose.EMBEDDING):
                embedded += _embed_or_pass_over(serving, space, list(memories))
    return embedded


def _payer(memory: Memory) -> Payer:
    return Payer(memory.companion.user_id, memory.companion_id)


def _payer_key(memory: Memory) -> UUID:
    return memory.companion_id


def _waiting(space: Space) -> MemoryQuerySet:
    there = Embedding.objects.filter(memory=OuterRef("pk"), space=space)
    return Memory.objects.filter(~Exists(there))


def _batches(space: Space, companion_id: UUID | None, limit: int | None) -> Iterator[list[Memory]]:
    """The waiting memories, from a random id on and round again, so that two workers seldom meet."""
    scope = Q(companion_id=companion_id) if companion_id else Q()
    start = uuid4()
    left = limit
    for half in (Q(pk__gt=start), Q(pk__lte=start)):
        after = Q()
        while left is None or left > 0:
            size = BATCH if left is None else min(BATCH, left)
            batch = list(
                _waiting(space)
                .filter(scope, half, after)
                .order_by("pk")
                .select_related("companion")
                .defer("entry")[:size]
            )
            if not batch:
                break
            yield batch
            after = Q(pk__gt=batch[-1].pk)
            left = left if left is None else left - len(batch)


def _embed_or_pass_over(serving: Embedder, space: Space, batch: list[Memory]) -> int:
    """Embed the batch; where the provider refuses what it holds, each alone, passing over those that it refuses."""
    try:
        return _embed(serving, space, batch)
    except ProviderRefused as error:
        if error.status not in REFUSED_TEXT:
            raise
        if len(batch) == 1:
            log.warning("memory_not_embedded", memory=str(batch[0].pk), code=error.code)
            return 0
        return sum(_embed_or_pass_over(serving, space, [memory]) for memory in batch)


def _embed(serving: Embedder, space: Space, batch: list[Memory]) -> int:
    windows = [
        (memory, n, text) for memory in batch for n, text in enumerate(serving.windows(memory.text) or [" "])
    ]
    vectors = _checked(serving, serving.embed_documents([text for _, _, text in windows]))
    if len(vectors) != len(windows):
        raise WidthError(serving.model, serving.width, vectors.shape)
    with transaction.atomic():
        unchanged = _unchanged(batch)
        Embedding.objects.bulk_create(
            [
                Embedding(
                    companion_id=memory.companion_id, memory=memory, space=space, window=n, vector=vector
                )
                for (memory, n, _), vector in zip(windows, vectors, strict=True)
                if memory.pk in unchanged
            ],
            ignore_conflicts=True,  # another worker was here first
        )
    return len(unchanged)


def _unchanged(batch: list[Memory]) -> set[UUID]:
    """Those of the batch, locked, that still are there with the text that was embedded."""
    texts = {memory.pk: memory.text for memory in batch}
    now = Memory.objects.select_for_update().filter(pk__in=texts).order_by("pk").values_list("pk", "text")
    return {pk for pk, text in now if texts[pk] == text}


def _checked(serving: Embedder, vectors: Floats) -> Floats:
    if vectors.ndim != 2 or vectors.shape[1] != serving.width or not np.isfinite(vectors).all():
        raise WidthError(serving.model, serving.width, vectors.shape)
    return vectors
