"""Celery tasks of memory. Each finds its work in the database, and may run twice."""

from uuid import UUID

import structlog
from celery import shared_task

from memory.embedding import backlog
from memory.errors import WidestError, WidthError
from providers.errors import ProviderUnavailable

log = structlog.get_logger(__name__)


@shared_task(autoretry_for=(ProviderUnavailable,), retry_backoff=5, retry_backoff_max=300)
def embed_companion(companion_id: str) -> None:
    """Embed those of one companion's memories that have no embedding yet."""
    _embed(UUID(companion_id))


@shared_task(autoretry_for=(ProviderUnavailable,), retry_backoff=5, retry_backoff_max=300)
def embed_waiting() -> None:
    """Embed every memory that has no embedding yet: the periodic sweep, in case a nudge was lost."""
    _embed()


def _embed(companion_id: UUID | None = None) -> None:
    try:
        backlog.embed_waiting(companion_id)
        backlog.measure_everyday()
    except (WidthError, WidestError) as error:
        log.warning("nothing_embedded", code=error.code)  # an alarm tells of it already
