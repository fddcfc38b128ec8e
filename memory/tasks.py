"""Celery tasks of memory. Each finds its work in the database, and may run twice."""

from collections.abc import Callable
from time import monotonic
from uuid import UUID

import structlog
from celery import shared_task

from jobs.slots import Slots
from memory.embedding import backlog
from memory.errors import WidestError, WidthError
from providers.errors import ProviderUnavailable

log = structlog.get_logger(__name__)

# A long backlog, e.g. of an import, must leave the worker's threads to others: each run ends, and the next sweep goes on.
COMPANION_SECONDS = 20.0
SWEEP_SECONDS = 100.0  # longer than the time between sweeps: two are at work while there is much to do
NUDGED = Slots[str](4)


@shared_task(autoretry_for=(ProviderUnavailable,), retry_backoff=5, retry_backoff_max=300)
def embed_companion(companion_id: str) -> None:
    """Embed those of one companion's memories that have no embedding yet.

    A nudge that comes while this process is at work for the companion, or for as many as it may, is enqueued once more
    when its turn comes: what it tells of may have come after the others had looked.
    """
    with NUDGED.take(companion_id, pass_on=embed_companion.delay) as is_free:
        if is_free:
            ends_at = monotonic() + COMPANION_SECONDS
            _embed(lambda: backlog.embed_waiting(UUID(companion_id), ends_at=ends_at))


@shared_task(autoretry_for=(ProviderUnavailable,), retry_backoff=5, retry_backoff_max=300)
def embed_waiting() -> None:
    """Embed memories that have no embedding yet: the periodic sweep, for lost nudges and for what these left."""
    _embed(lambda: backlog.embed_in_turn(SWEEP_SECONDS))


def _embed(work: Callable[[], object]) -> None:
    try:
        work()
        backlog.measure_everyday()
    except (WidthError, WidestError) as error:
        log.warning("nothing_embedded", code=error.code)  # an alarm tells of it already
