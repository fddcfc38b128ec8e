"""Tasks of memory; each finds its work from rows, and may run twice."""

from uuid import UUID

import structlog
from celery import shared_task

from memory.embedding import backlog
from memory.errors import WidestError, WidthError
from providers.errors import ProviderUnavailable

log = structlog.get_logger(__name__)


@shared_task(autoretry_for=(ProviderUnavailable,), retry_backoff=5, retry_backoff_max=300)
def embed_companion(companion_id: str) -> None:
    """Embed what one companion remembers and has no embedding yet."""
    _embed(UUID(companion_id))


@shared_task(autoretry_for=(ProviderUnavailable,), retry_backoff=5, retry_backoff_max=300)
def embed_waiting() -> None:
    """Embed whatever has no embedding yet: the sweep, for nudges that were lost."""
    _embed()


def _embed(companion_id: UUID | None = None) -> None:
    try:
        backlog.embed_waiting(companion_id)
        backlog.measure_everyday()
    except (WidthError, WidestError) as error:
        log.warning("nothing_embedded", code=error.code)  # the alarm is raised already
