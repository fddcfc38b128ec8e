"""Tasks of lives: nudges, and the sweeps that find the work from rows. Each may run twice."""

from uuid import UUID

from celery import shared_task
from django.utils import timezone

from companions.life import inner_state, reflection


@shared_task
def reflect_upon(companion_id: str) -> None:
    """Let one companion reflect."""
    reflection.run(UUID(companion_id), timezone.now(), clock=timezone.now)


@shared_task
def reflect_waiting() -> None:
    """Let whoever is due reflect, and begin the inner states that are missing: the sweep."""
    now = timezone.now()
    inner_state.seed_missing(now)
    for companion_id in reflection.due(now):
        reflect_upon.delay(str(companion_id))
