"""Embedding of memories and cues: what waits is found from rows, and no transaction is held while a model works."""

from collections.abc import Iterator
from itertools import groupby
from uuid import UUID, uuid4

import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from accounts.models import ModelCall
from accounts.usage import Payer, charged
from memory.embedding.spaces import (
    CueVector,
    embedder_of,
    known_wanted_space,
    look_anew,
    serving_space,
    spaces,
    wanted_space,
)
from memory.errors import WidestError, WidthError
from memory.models import Embedding, Memory, Space
from memory.models.memory import MemoryQuerySet
from memory.recall.query import NOBODY, Names, without_names
from providers.embedding import Embedder, get_embedder
from providers.embedding.embedder import Floats, normalised
from providers.errors import ProviderError, ProviderRefused
from text.storable import ends, storable

log = structlog.get_logger(__name__)

BATCH = 64
REFUSED_TEXT = {400, 413, 422}  # other refusals, as of a key, are for every text
UNKNOWN = "\ufffd"  # what stands for a character that could not be kept
HARMLESS = "width"  # as is asked for the width
MOST_CUE_WINDOWS = 8  # of a pasted page the beginning and the end say what it is about


def embed_cue(cue: str, payer: Payer | None = None, names: Names = NOBODY) -> CueVector | None:
    """The cue in the space that serves the payer's companion, a long cue by its windows' mean; without a payer in the
    wanted space. None where no embedder answers, or where it sees no meaning at all.

    `names` are what "user" and "companion" are called; they are left out of it.
    """
    cue = without_names(storable(cue), names)
    if not cue.replace(UNKNOWN, "").strip():
        return None
    try:
        with charged(payer, ModelCall.Purpose.EMBEDDING):
            return _in_space(serving_space(payer.companion_id if payer else None), cue)
    except (ProviderError, WidthError) as error:
        log.warning("cue_not_embedded", code=error.code)
        return None


def _in_space(space: Space | None, cue: str) -> CueVector | None:
    asked = embedder_of(space) if space else None
    if space is None or asked is None:
        return None
    windows = ends(asked.windows(cue), MOST_CUE_WINDOWS)
    vector = normalised(_checked(space, asked.embed_queries(windows)).mean(axis=0))
    return CueVector(space, vector) if vector.any() else None


def unembedded(companion_id: UUID) -> MemoryQuerySet:
    """The companion's memories that wait for the wanted space; none where there is no embedder."""
    if get_embedder() is None:
        return Memory.objects.none()
    space = known_wanted_space()  # unknown where its server was never reached: everything waits for it
    return _waiting(space).of(companion_id) if space else Memory.objects.of(companion_id)


def embed_waiting(companion_id: UUID | None = None, limit: int | None = None) -> int:
    """Embed what waits for the wanted space, at most `limit` memories there; how many were.

    What is new is embedded in the older space too, as long as that serves its companion. Killed anywhere and run again
    it does what is left; two at once do no harm. Raises ProviderUnavailable, ProviderRefused where every text would be
    refused, WidthError and WidestError, with what was embedded before it kept. A single text that the provider refuses
    is marked so, and is recalled by its words alone.
    """
    look_anew()
    serving = get_embedder()
    try:
        space = wanted_space()
    except (ProviderError, WidestError):
        _embed_in_older(None, companion_id)
        raise
    if serving is None or space is None:
        return 0
    if len(spaces()) > 1:
        _embed_in_older(space, companion_id)
    return _embed_all(serving, space, _waiting(space), companion_id, limit)


def _embed_in_older(wanted: Space | None, companion_id: UUID | None) -> None:
    """Embed what is new since the wanted space was made, or where that is not known yet lies nowhere, in the spaces that
    still serve. Failures are only logged.
    """
    waiting = _waiting(wanted).order_by().values_list("companion_id", flat=True).distinct()
    new = Q()
    if wanted:
        new = Q(learnt_at__gte=wanted.created_at) | Q(edited_at__gte=wanted.created_at)
    for one in [companion_id] if companion_id else list(waiting):
        space = serving_space(one)
        asked = embedder_of(space) if space else None
        if space is None or asked is None or space == wanted:
            continue
        try:
            _embed_all(asked, space, _waiting(space).filter(new), one)
        except (ProviderError, WidthError) as error:
            log.warning("not_embedded_in_older_space", space=str(space), code=error.code)


def _embed_all(
    asked: Embedder,
    space: Space,
    waiting: MemoryQuerySet,
    companion_id: UUID | None,
    limit: int | None = None,
) -> int:
    embedded = 0
    for batch in _batches(waiting, companion_id, limit):
        for payer, memories in groupby(sorted(batch, key=_payer_key), key=_payer):
            with charged(payer, ModelCall.Purpose.EMBEDDING):
                embedded += _embed_or_mark(asked, space, list(memories))
    return embedded


def _payer(memory: Memory) -> Payer:
    return Payer(memory.companion.user_id, memory.companion_id)


def _payer_key(memory: Memory) -> UUID:
    return memory.companion_id


def _waiting(space: Space | None) -> MemoryQuerySet:
    """What has no embedding in the space; without one, what has none at all."""
    there = Embedding.objects.filter(memory=OuterRef("pk"))
    return Memory.objects.filter(~Exists(there.filter(space=space) if space else there))


def _batches(waiting: MemoryQuerySet, companion_id: UUID | None, limit: int | None) -> Iterator[list[Memory]]:
    """The waiting memories, from a random id on and round again, so that two workers seldom meet."""
    scope = Q(companion_id=companion_id) if companion_id else Q()
    start = uuid4()
    left = limit
    for half in (Q(pk__gt=start), Q(pk__lte=start)):
        after = Q()
        while left is None or left > 0:
            size = BATCH if left is None else min(BATCH, left)
            batch = list(
                waiting.filter(scope, half, after)
                .order_by("pk")
                .select_related("companion", "page")
                .defer("entry")[:size]
            )
            if not batch:
                break
            yield batch
            after = Q(pk__gt=batch[-1].pk)
            left = left if left is None else left - len(batch)


def _embed_or_mark(asked: Embedder, space: Space, batch: list[Memory]) -> int:
    """Embed the batch; where the provider refuses what it holds, each alone, marking those that it refuses."""
    try:
        return _embed(asked, space, batch)
    except ProviderRefused as error:
        if error.status not in REFUSED_TEXT:
            raise
        if len(batch) == 1:
            _mark_refused(asked, space, batch, error)
            return 0
        return sum(_embed_or_mark(asked, space, [memory]) for memory in batch)


def _mark_refused(asked: Embedder, space: Space, batch: list[Memory], error: ProviderRefused) -> None:
    """Keep that the text was refused; ProviderRefused where the most harmless text is refused as well."""
    _checked(space, asked.embed_documents([HARMLESS]))
    log.warning("memory_not_embedded", memory=str(batch[0].pk), code=error.code)
    _keep(space, batch, [(batch[0], 0, None)])


def _embed(asked: Embedder, space: Space, batch: list[Memory]) -> int:
    windows = [
        (memory, n, text) for memory in batch for n, text in enumerate(asked.windows(memory.sought) or [" "])
    ]
    vectors = _checked(space, asked.embed_documents([text for _, _, text in windows]))
    space.note_right_width()
    rows = [(memory, n, vector) for (memory, n, _), vector in zip(windows, vectors, strict=True)]
    return _keep(space, batch, rows)


def _keep(space: Space, batch: list[Memory], rows: list[tuple[Memory, int, Floats | None]]) -> int:
    """Store a vector for each window; how many of the memories still were there with the text that was embedded."""
    with transaction.atomic():
        unchanged = _unchanged(batch)
        Embedding.objects.bulk_create(
            [
                Embedding(
                    companion_id=memory.companion_id, memory=memory, space=space, window=n, vector=vector
                )
                for memory, n, vector in rows
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


def _checked(space: Space, vectors: Floats) -> Floats:
    """The vectors (n, width); an alarm and WidthError where they do not fit into the space."""
    if vectors.ndim == 2 and vectors.shape[1] == space.width:
        return vectors
    if space.note_wrong_width(vectors.shape[-1]):
        log.error("embedding_width_changed", space=str(space), width=space.width, answered=vectors.shape[-1])
    raise WidthError(space.model, space.width, vectors.shape)
