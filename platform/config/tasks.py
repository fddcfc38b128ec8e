"""Signs of life: beat sends one every ten seconds, a worker takes it."""

import redis
from celery import shared_task
from celery.signals import beat_init, worker_ready
from django.conf import settings

WORKER_KEY = "kith:alive:worker"
BEAT_KEY = "kith:alive:beat"
SECONDS = 45


def _leave(*keys: str) -> None:
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        for key in keys:
            client.set(key, 1, ex=SECONDS)


@shared_task
def pulse() -> None:
    """A task that came through says that beat and a worker live."""
    _leave(WORKER_KEY, BEAT_KEY)


@worker_ready.connect
def _worker_is_ready(**_: object) -> None:
    _leave(WORKER_KEY)


@beat_init.connect
def _beat_is_ready(**_: object) -> None:
    _leave(BEAT_KEY)
