"""The backlog of embedding: memories without a vector are found and embedded, with no transaction open meanwhile."""

from collections.abc import Iterator
from functools import cache
from math import inf
from time import monotonic
from uuid import UUID, uuid4

import numpy as np
import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from accounts.limits.usage import charged
from accounts.models import ModelCall
from memory.embedding.spaces import (
    EVERYDAY_TYPE,
    check_width,
    clear_cache,
    find_embedder,
    find_serving_space,
    find_wanted_space,
    get_or_create_wanted_space,
    list_spaces,
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
ROUND = 2 * BATCH  # memories of a companion before it is the next one's turn
REFUSED_TEXT = {400, 413, 422}  # others, e.g. of a wrong key, refuse every text
HARMLESS_TEXT = "width"  # embedded too where a model's width is asked for
MEASURE_AGAIN_SECONDS = 3600.0

_measure_after: dict[int, float] = {}  # when this process retries a space that could not be measured


def select_unembedded(companion_id: UUID) -> MemoryQuerySet:
    """Return the companion's memories that wait to be embedded in the wanted space; none if there is no embedder."""
    if get_embedder() is None:
        return Memory.objects.none()
    space = find_wanted_space()  # None if its server was never reached: then all wait
    return _waiting(space).of(companion_id) if space else Memory.objects.of(companion_id)


def embed_in_turn(seconds: float) -> None:
    """Embed memories that wait for the wanted space, ROUND of each companion in turn, for about so many seconds: however
    much one of them has, the others need not wait for all of it. Raise the errors of `embed_waiting`.
    """
    ends_at = monotonic() + seconds
    embedded = 1
    while embedded:
        embedded = 0
        for companion_id in _find_waiting_companions():
            embedded += embed_waiting(companion_id, ROUND, ends_at)
            if monotonic() >= ends_at:
                return


def _find_waiting_companions() -> list[UUID]:
    if get_embedder() is None:
        return []
    waiting = _waiting(find_wanted_space())  # None if its server was never reached: then all wait
    return list(waiting.order_by().values_list("companion_id", flat=True).distinct())


def embed_waiting(companion_id: UUID, limit: float = inf, ends_at: float = inf) -> int:
    """Embed at most `limit` of the companion's memories that wait for the wanted space; return how many were embedded
    there. No batch is begun after the time `ends_at` of the monotonic clock, except the first.

    New memories are embedded in the older space too, as long as that serves the companion. If a run is killed, the
    next one does what is left; concurrent runs share the work. Raise ProviderUnavailable, ProviderRefused if every
    text would be refused, WidthError and WidestError; what was embedded before that is kept. A single text that the
    provider refuses is marked as refused, and is recalled by its words alone.
    """
    clear_cache()
    try:
        with charged(None, ModelCall.Purpose.EMBEDDING):
            space = get_or_create_wanted_space()
    except (ProviderError, WidestError):
        _embed_in_older(None, companion_id, limit, ends_at)
        raise
    embedder = find_embedder(space) if space else None  # None if another is in force by now
    if embedder is None or space is None:
        return 0
    if len(list_spaces()) > 1:
        _embed_in_older(space, companion_id, limit, ends_at)
    return _embed_all(embedder, space, _waiting(space).of(companion_id), limit, ends_at)


def _embed_in_older(wanted: Space | None, companion_id: UUID, limit: float, ends_at: float) -> None:
    """Embed, in the older space that still serves, the memories that are new since the wanted space was made; without a
    wanted space, all that are missing there. At most `limit`, and until `ends_at`. Failures are only logged.
    """
    space = find_serving_space(companion_id)
    embedder = find_embedder(space) if space else None
    if space is None or embedder is None or space == wanted:
        return
    waiting = _waiting(space).of(companion_id)
    if wanted:
        waiting = waiting.filter(Q(learnt_at__gte=wanted.created_at) | Q(edited_at__gte=wanted.created_at))
    try:
        _embed_all(embedder, space, waiting, limit, ends_at)
    except (ProviderError, WidthError) as error:
        log.warning("not_embedded_in_older_space", space=str(space), code=error.code)


def _waiting(space: Space | None) -> MemoryQuerySet:
    """Return the memories that have no embedding in the space or, without a space, no embedding at all."""
    there = Embedding.objects.filter(memory=OuterRef("pk"))
    return Memory.objects.filter(~Exists(there.filter(space=space) if space else there))


def _embed_all(
    embedder: Embedder, space: Space, waiting: MemoryQuerySet, limit: float, ends_at: float
) -> int:
    """Embed one companion's `waiting` memories, batch after batch, until `limit` or `ends_at`; return how many were
    embedded. When another worker has done the same batch, go on from another place: otherwise both would do each of the
    next batches.
    """
    embedded, has_met = 0, True
    while has_met and embedded < limit:
        has_met = False
        for batch in _batches(waiting, limit - embedded):
            before = embedded
            with charged(batch[0].companion.payer, ModelCall.Purpose.EMBEDDING):
                embedded += _embed_or_mark(embedder, space, batch)
            if monotonic() >= ends_at:
                return embedded
            has_met = embedded - before < len(batch)
            if has_met:
                break
    return embedded


def _batches(waiting: MemoryQuerySet, limit: float) -> Iterator[list[Memory]]:
    """Yield the waiting memories in batches, from a random id on and round again, so that two workers seldom meet."""
    rows = waiting.order_by("pk").select_related("companion", "page").defer("entry")
    start, left = uuid4(), limit
    for half in (Q(pk__gt=start), Q(pk__lte=start)):
        after = Q()
        while left > 0:
            batch = list(rows.filter(half, after)[: int(min(BATCH, left))])
            if not batch:
                break
            yield batch
            after = Q(pk__gt=batch[-1].pk)
            left -= len(batch)


def _embed_or_mark(embedder: Embedder, space: Space, batch: list[Memory]) -> int:
    """Embed the batch; return how many memories were embedded. If the provider refuses the batch, embed each memory
    alone and mark those that it refuses.

    Raise ProviderRefused if it refuses a harmless text as well, or refuses for another reason than a text.
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
    """Store a vector for each window of the companion's memories that still have the text that was embedded, and have no
    vector in the space yet; return how many these are.
    """
    batch[0].companion.lock()
    texts = {memory.pk: memory.text for memory in batch}
    current = Memory.objects.filter(pk__in=texts).values_list("pk", "text")
    there = Embedding.objects.filter(space=space, memory__in=texts).values_list("memory", flat=True)
    wanted = {pk for pk, text in current if texts[pk] == text}.difference(there)
    Embedding.objects.bulk_create(
        [
            Embedding(companion_id=memory.companion_id, memory=memory, space=space, window=n, vector=vector)
            for memory, n, vector in rows
            if memory.pk in wanted
        ]
    )
    return len(wanted)


def list_everyday_sentences() -> dict[str, list[str]]:
    """Return some everyday sentences of each known language, by its code."""
    found: dict[str, list[str]] = {}
    for name, language in load_languages().items():
        told = language.get("everyday", {})  # a file may hold rules only
        found |= told if isinstance(told, dict) else {name: told}
    return found


def _average_everyday(embedder: Embedder) -> list[Floats]:
    """Return the mean vector of each language's everyday sentences."""
    return [embedder.embed_documents(texts).mean(axis=0) for texts in list_everyday_sentences().values()]


# A built-in model's answers stay the same as long as the process runs; those of a server may change.
_average_built_in = cache(_average_everyday)


def measure_everyday() -> None:
    """Save the mean vector of each language's everyday sentences for each space that lacks them and has an embedder.

    If the embedder is away, refuses the sentences or answers in another width, the space is tried again after an hour.
    """
    for space in Space.objects.filter(everyday=b"", answered_width=None).order_by("-edition", "-pk"):
        embedder = find_embedder(space)
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
