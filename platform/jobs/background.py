"""Work that nobody waits for: a task of this process's event loop, or one of Celery's."""

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import structlog
from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

T = TypeVar("T")
TASKS: set[asyncio.Task[None]] = set()


def one_per_loop(make: Callable[[], T]) -> Callable[[], T]:
    """Decorate a function that makes something, so that each event loop has its own and makes it once."""
    made: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()

    @wraps(make)
    def get() -> T:
        loop = asyncio.get_running_loop()
        if loop not in made:
            made[loop] = make()
        return made[loop]

    return get


def run_in_background(work: Coroutine[Any, Any, None]) -> None:
    """Run the coroutine as a task with a context of its own."""
    task = asyncio.get_running_loop().create_task(work, context=contextvars.Context())
    TASKS.add(task)
    task.add_done_callback(TASKS.discard)


log = structlog.get_logger(__name__)

# A thread of its own: to reach the broker takes milliseconds, and a second where it is away, and people wait for commits.
SENDER = ThreadPoolExecutor(1, thread_name_prefix="enqueue")


def enqueue(task_name: str, *args: str, delay_seconds: float = 0.0) -> None:
    """Ask for the task after the commit, to begin `delay_seconds` later. An unreachable broker is only logged."""
    transaction.on_commit(partial(SENDER.submit, _send, task_name, args, delay_seconds), robust=True)


def _send(task_name: str, args: tuple[str, ...], delay_seconds: float) -> None:
    try:
        current_app.send_task(task_name, args, countdown=delay_seconds)
    except OperationalError as error:
        log.warning("not_enqueued", task=task_name, error=type(error).__name__)
