"""Nudges: work asked of Celery after the commit, apart from whoever asks. What is lost of them beat finds from rows."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import monotonic, sleep
from typing import Any

import structlog
from celery import Task
from django.db import transaction
from kombu.exceptions import OperationalError

log = structlog.get_logger(__name__)

# A thread of its own: to reach the broker takes milliseconds, and a second where it is away, and people wait for commits.
SENDING = ThreadPoolExecutor(1, thread_name_prefix="nudges")
HOLDING = ThreadPoolExecutor(1, thread_name_prefix="nudges held back")  # each as long: the first is due first
HELD_BACK_SECONDS = 0.3  # in which somebody may be waiting for an answer on the same few cores


def nudge(task: Task[..., Any], *ids: str, seconds: float = 0.0) -> None:
    """Ask for the task after the commit, to be begun `seconds` later. An unreachable broker is only logged."""
    transaction.on_commit(partial(SENDING.submit, _send, task, ids, seconds), robust=True)


def nudge_quietly(task: Task[..., Any], *ids: str, seconds: float) -> None:
    """The same, asked a moment later: what a turn waits for comes first."""

    def hold_back() -> None:
        left = max(seconds - HELD_BACK_SECONDS, 0.0)
        HOLDING.submit(_send_at, monotonic() + HELD_BACK_SECONDS, task, ids, left)

    transaction.on_commit(hold_back, robust=True)


def _send_at(due: float, task: Task[..., Any], ids: tuple[str, ...], seconds: float) -> None:
    sleep(max(due - monotonic(), 0.0))
    _send(task, ids, seconds)


def _send(task: Task[..., Any], ids: tuple[str, ...], seconds: float) -> None:
    try:
        task.apply_async(ids, countdown=seconds)
    except OperationalError as error:
        log.warning("not_nudged", task=task.name, error=type(error).__name__)
