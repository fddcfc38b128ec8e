"""Tasks of memory; each finds its work from rows, and may run twice."""

from uuid import UUID

from celery import shared_task

from memory import embedding
from providers.errors import ProviderUnavailable


@shared_task(autoretry_for=(ProviderUnavailable,), retry_backoff=5, retry_backoff_max=300)
def embed_companion(companion_id: str) -> None:
    """Embed what one companion remembers and has no embedding yet."""
    embedding.embed_waiting(UUID(companion_id))


@shared_task(autoretry_for=(ProviderUnavailable,), retry_backoff=5, retry_backoff_max=300)
def embed_waiting() -> None:
    """Embed whatever has no embedding yet: the sweep, for nudges that were lost."""
    embedding.embed_waiting()
