"""Work outside the event loop: in a worker thread, as a task that nobody waits for, or as a Celery task.

A worker thread has its own database connection, which is returned to the pool when the call ends. Outside of such
threads all asynchronous ORM calls of a process would share one database thread, and a request would hold its connection
until its answer has been read.
"""

import asyncio
import contextvars
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial, wraps
from typing import Any, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import redis
import structlog
from asgiref.sync import sync_to_async
from celery import current_app
from channels.db import database_sync_to_async
from django.conf import settings
from django.db import connections, transaction
from kombu.exceptions import OperationalError as BrokerUnavailable
from redis.asyncio import Redis

from database.queries import DATABASE_UNAVAILABLE, describe_full_disk

P = ParamSpec("P")
T = TypeVar("T")
log = structlog.get_logger(__name__)

# -- in a thread

RETRY_TIMEOUT_SECONDS = 60.0
RETRY_SECONDS = 0.5


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call the function in a worker thread with its own database connection; return its result."""
    return await database_sync_to_async(function, thread_sensitive=False)(*args, **kwargs)


async def in_request_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call the function in the current request's own thread; return its result.

    The database connection is returned to the pool at once, unless it is within a transaction, so that a request that
    waits for something else afterwards holds none.
    """

    def call() -> T:
        try:
            return function(*args, **kwargs)
        finally:
            release_connections()

    return await sync_to_async(call, thread_sensitive=True)()


def release_connections() -> None:
    """Return this thread's connections to the pool, e.g. before a long wait, except those within a transaction."""
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()


async def in_thread_with_retry(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call the function as `in_thread` does, again and again for a minute while the database is unavailable.

    The function may run twice, so it has to be one transaction. A full disk is not waited for, since somebody has to
    free some space.
    """
    deadline = time.monotonic() + RETRY_TIMEOUT_SECONDS
    while True:
        try:
            return await in_thread(function, *args, **kwargs)
        except DATABASE_UNAVAILABLE as error:
            if time.monotonic() > deadline or describe_full_disk(error):
                raise
        await asyncio.sleep(RETRY_SECONDS)


def with_retry(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call the function in this thread, again and again for a minute while the database is unavailable.

    The function may run twice, so it has to be one transaction. The thread may not be within another one.
    """
    deadline = time.monotonic() + RETRY_TIMEOUT_SECONDS
    while True:
        try:
            return function(*args, **kwargs)
        except DATABASE_UNAVAILABLE:
            if time.monotonic() > deadline:
                raise
        release_connections()
        time.sleep(RETRY_SECONDS)


# -- as a task of the event loop

TASKS: set[asyncio.Task[None]] = set()


def one_per_loop(make: Callable[[], T]) -> Callable[[], T]:
    """Decorate a factory function, so that it is called once for each event loop and its result is kept."""
    made: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()

    @wraps(make)
    def get() -> T:
        loop = asyncio.get_running_loop()
        if loop not in made:
            made[loop] = make()
        return made[loop]

    return get


@one_per_loop
def get_redis() -> Redis:
    """Return the running event loop's Redis client, which times out after a second."""
    return Redis.from_url(settings.REDIS_URL, socket_connect_timeout=1, socket_timeout=1)


@cache
def get_blocking_redis(url: str, timeout_seconds: float = 1.0) -> redis.Redis:
    """Return this process's Redis client for all threads. Its connections are kept: a new one takes longer than most
    commands.
    """
    return redis.Redis.from_url(url, socket_connect_timeout=timeout_seconds, socket_timeout=timeout_seconds)


def run_in_background(work: Coroutine[Any, Any, None]) -> None:
    """Run the coroutine as a task with an empty context; keep a reference to it until it is done, and log its error."""
    task = asyncio.create_task(work, context=contextvars.Context())
    TASKS.add(task)
    task.add_done_callback(_note_end)


def _note_end(task: asyncio.Task[None]) -> None:
    TASKS.discard(task)
    error = None if task.cancelled() else task.exception()
    if error and describe_full_disk(error):
        log.error("disk_full")
    elif error:
        log.error("background_task_failed", exc_info=error)


# -- as a Celery task

# Reaching the broker takes milliseconds, or a second while it is away, for which no person should wait after a commit.
SENDER = ThreadPoolExecutor(1, thread_name_prefix="enqueue")


def enqueue(task_name: str, *args: str, delay_seconds: float = 0.0) -> None:
    """Enqueue the task on commit, to begin `delay_seconds` later. An unreachable broker is only logged."""
    transaction.on_commit(partial(SENDER.submit, _send, task_name, args, delay_seconds), robust=True)


def _send(task_name: str, args: tuple[str, ...], delay_seconds: float) -> None:
    try:
        current_app.send_task(task_name, args, countdown=delay_seconds)
    except BrokerUnavailable as error:
        log.warning("not_enqueued", task=task_name, error=type(error).__name__)
