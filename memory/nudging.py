"""Nudges: work asked of Celery after the commit, apart from whoever asks. What is lost of them beat finds from rows."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import structlog
from celery import Task
from django.db import transaction
from kombu.exceptions import OperationalError

log = structlog.get_logger(__name__)

# A thread of its own: to reach the broker takes milliseconds, and a second where it is away, and people wait for commits.
SENDING = ThreadPoolExecutor(1, thread_name_prefix="nudges")


def nudge(task: Task[..., Any], *ids: str, seconds: float = 0.0) -> None:
    """Ask for the task after the commit, to be begun `seconds` later. An unreachable broker is only logged."""
    transaction.on_commit(partial(SENDING.submit, _send, task, ids, seconds), robust=True)


def _send(task: Task[..., Any], ids: tuple[str, ...], seconds: float) -> None:
    try:
        task.apply_async(ids, countdown=seconds)
    except OperationalError as error:
        log.warning("not_nudged", task=task.name, error=type(error).__name__)
