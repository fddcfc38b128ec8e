"""The backlog of embedding: what waits is found from rows, and no transaction is held while a model works."""

from collections.abc import Iterator
from functools import cache
from itertools import groupby
from time import monotonic
from uuid import UUID, uuid4

import numpy as np
import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from accounts.models import ModelCall
from accounts.usage import Payer, charged
from memory.embedding.spaces import (
    EVERYDAY_TYPE,
    check_width,
    clear_cache,
    embedder_of,
    known_wanted_space,
    serving_space,
    spaces,
    wanted_space,
)
from memory.errors import WidestError, WidthError
from memory.language import load_languages
from memory.models import Embedding, Memory, Space
from memory.models.memory import MemoryQuerySet
from providers.embedding.embedder import Embedder, Floats
from providers.embedding.selection import get_embedder
from providers.errors import ProviderError, ProviderRefused

log = structlog.get_logger(__name__)

BATCH = 64
REFUSED_TEXT = {400, 413, 422}  # other refusals, as of a key, are for every text
HARMLESS_TEXT = "width"  # as is asked for the width
MEASURE_AGAIN_SECONDS = 3600.0

_measure_after: dict[int, float] = {}  # when this process tries a space again that could not be measured


def unembedded(companion_id: UUID) -> MemoryQuerySet:
    """Return the companion's memories that wait for the wanted space; none where there is no embedder."""
    if get_embedder() is None:
        return Memory.objects.none()
    space = known_wanted_space()  # unknown where its server was never reached: everything waits for it
    return _waiting(space).of(companion_id) if space else Memory.objects.of(companion_id)


def embed_waiting(companion_id: UUID | None = None, limit: int | None = None) -> int:
    """Embed what waits for the wanted space, at most `limit` memories there; return how many were.

    What is new is embedded in the older space too, as long as that serves its companion. Killed anywhere and run again
    it does what is left; two at once share it. Raises ProviderUnavailable, ProviderRefused where every text would be
    refused, WidthError and WidestError, with what was embedded before it kept. A single text that the provider refuses
    is marked so, and is recalled by its words alone.
    """
    clear_cache()
    try:
        with charged(None, ModelCall.Purpose.EMBEDDING):
            space = wanted_space()
    except (ProviderError, WidestError):
        _embed_in_older(None, companion_id)
        raise
    embedder = embedder_of(space) if space else None  # another may be in force meanwhile
    if embedder is None or space is None:
        return 0
    if len(spaces()) > 1:
        _embed_in_older(space, companion_id)
    return _embed_all(embedder, space, _waiting(space), companion_id, limit)


def _embed_in_older(wanted: Space | None, companion_id: UUID | None) -> None:
    """Embed in the spaces that still serve what is new since the wanted space was made, or lies nowhere without one.

    Failures are only logged.
    """
    waiting = _waiting(wanted).order_by().values_list("companion_id", flat=True).distinct()
    new = Q()
    if wanted:
        new = Q(learnt_at__gte=wanted.created_at) | Q(edited_at__gte=wanted.created_at)
    for waiting_id in [companion_id] if companion_id else list(waiting):
        space = serving_space(waiting_id)
        embedder = embedder_of(space) if space else None
        if space is None or embedder is None or space == wanted:
            continue
        try:
            _embed_all(embedder, space, _waiting(space).filter(new), waiting_id)
        except (ProviderError, WidthError) as error:
            log.warning("not_embedded_in_older_space", space=str(space), code=error.code)


def _waiting(space: Space | None) -> MemoryQuerySet:
    """Return what has no embedding in the space; without one, what has none at all."""
    there = Embedding.objects.filter(memory=OuterRef("pk"))
    return Memory.objects.filter(~Exists(there.filter(space=space) if space else there))


def _embed_all(
    embedder: Embedder,
    space: Space,
    waiting: MemoryQuerySet,
    companion_id: UUID | None,
    limit: int | None = None,
) -> int:
    """Embed batch after batch; where another worker did the same one meanwhile, go on from elsewhere: two that have met
    would do each of the next ones twice.
    """
    embedded, has_met = 0, True
    while has_met and (limit is None or embedded < limit):
        has_met = False
        for batch in _batches(waiting, companion_id, None if limit is None else limit - embedded):
            before = embedded
            for _, group in groupby(sorted(batch, key=_companion_of), key=_companion_of):
                memories = list(group)
                payer = Payer(memories[0].companion.user_id, memories[0].companion_id)
                with charged(payer, ModelCall.Purpose.EMBEDDING):
                    embedded += _embed_or_mark(embedder, space, memories)
            has_met = embedded - before < len(batch)
            if has_met:
                break
    return embedded


def _companion_of(memory: Memory) -> UUID:
    return memory.companion_id


def _batches(waiting: MemoryQuerySet, companion_id: UUID | None, limit: int | None) -> Iterator[list[Memory]]:
    """Yield the waiting memories, from a random id on and round again, so that two workers seldom meet."""
    scope = Q(companion_id=companion_id) if companion_id else Q()
    rows = waiting.filter(scope).order_by("pk").select_related("companion", "page").defer("entry")
    start, left = uuid4(), limit
    for half in (Q(pk__gt=start), Q(pk__lte=start)):
        after = Q()
        while left is None or left > 0:
            batch = list(rows.filter(half, after)[: BATCH if left is None else min(BATCH, left)])
            if not batch:
                break
            yield batch
            after = Q(pk__gt=batch[-1].pk)
            left = left if left is None else left - len(batch)


def _embed_or_mark(embedder: Embedder, space: Space, batch: list[Memory]) -> int:
    """Embed the batch; where the provider refuses what it holds, each alone, marking those that it refuses.

    ProviderRefused where the most harmless text is refused as well.
    """
    windows = [
        (memory, n, text)
        for memory in batch
        for n, text in enumerate(embedder.windows(memory.sought) or [" "])
    ]
    try:
        vectors = check_width(space, embedder.embed_documents([text for _, _, text in windows]))
    except ProviderRefused as error:
        if error.status not in REFUSED_TEXT:
            raise
        if len(batch) > 1:
            return sum(_embed_or_mark(embedder, space, [memory]) for memory in batch)
        check_width(space, embedder.embed_documents([HARMLESS_TEXT]))
        log.warning("memory_not_embedded", memory=str(batch[0].pk), code=error.code)
        _keep(space, batch, [(batch[0], 0, None)])
        return 0
    space.note_right_width()
    rows = [(memory, n, vector) for (memory, n, _), vector in zip(windows, vectors, strict=True)]
    return _keep(space, batch, rows)


@transaction.atomic
def _keep(space: Space, batch: list[Memory], rows: list[tuple[Memory, int, Floats | None]]) -> int:
    """Store a vector for each window; return how many memories still were there with the text that was embedded, and
    had none in the space.
    """
    texts = {memory.pk: memory.text for memory in batch}
    now = Memory.objects.select_for_update().filter(pk__in=texts).order_by("pk").values_list("pk", "text")
    there = Embedding.objects.filter(space=space, memory__in=texts).values_list("memory", flat=True)
    wanted = {pk for pk, text in now if texts[pk] == text}.difference(there)
    Embedding.objects.bulk_create(
        [
            Embedding(companion_id=memory.companion_id, memory=memory, space=space, window=n, vector=vector)
            for memory, n, vector in rows
            if memory.pk in wanted
        ]
    )
    return len(wanted)


def everyday_sentences() -> dict[str, list[str]]:
    """Return some everyday sentences of each known language, by its code."""
    found: dict[str, list[str]] = {}
    for name, language in load_languages().items():
        told = language.get("everyday", {})  # a file may hold rules alone
        found |= told if isinstance(told, dict) else {name: told}
    return found


def _average_everyday(embedder: Embedder) -> list[Floats]:
    """Return the mean vector of each language's everyday sentences."""
    return [embedder.embed_documents(texts).mean(axis=0) for texts in everyday_sentences().values()]


# What is built in answers alike as long as the process runs; of a server's model nobody knows.
_average_built_in = cache(_average_everyday)


def measure_everyday() -> None:
    """Keep with each space that can be asked the mean vector of each language's everyday sentences, if it lacks them.

    Where its embedder is away, refuses them or answers in another width, it is tried again after an hour.
    """
    for space in Space.objects.filter(everyday=b"", answered_width=None).order_by("-edition", "-pk"):
        embedder = embedder_of(space)
        if embedder is None or monotonic() < _measure_after.get(space.pk, 0.0):
            continue
        try:
            means = _average_built_in(embedder) if embedder.is_built_in else _average_everyday(embedder)
            if any(mean.shape != (space.width,) for mean in means):
                raise WidthError(space.model, space.width, means[0].shape)
        except (ProviderError, WidthError) as error:
            _measure_after[space.pk] = monotonic() + MEASURE_AGAIN_SECONDS
            log.warning("everyday_not_measured", space=str(space), code=error.code)
        else:
            space.everyday = np.array(means, dtype=EVERYDAY_TYPE).tobytes()
            space.save(update_fields=["everyday"])
