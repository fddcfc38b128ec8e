"""Calls of speech and transcription providers: limited per person, shared by identical requests, and each recorded."""

import asyncio
import contextvars
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any, TypeVar

from django.utils.functional import Promise

from accounts.errors import GateError
from accounts.limits.usage import note_sound
from accounts.models import SoundCall
from jobs.background import in_thread, one_per_loop
from jobs.lease import Clock
from providers.errors import ProviderError

T = TypeVar("T")
RETRY_AFTER_SECONDS = 5


class ConcurrencyLimit:
    """A limit on what one person may have under way in this process, so that nobody takes all of its workers."""

    def __init__(self, limit: int, code: str, detail: Promise) -> None:
        self.limit, self.code, self.detail = limit, code, detail
        self._under_way: Counter[int] = Counter()
        self._lock = Lock()

    @contextmanager
    def of(self, user_id: int) -> Iterator[None]:
        """Count one more of the person's during the block; raise GateError if the limit is reached."""
        with self._lock:  # some callers are in threads
            if self._under_way[user_id] >= self.limit:
                raise GateError(self.code, str(self.detail), RETRY_AFTER_SECONDS)
            self._under_way[user_id] += 1
        try:
            yield
        finally:
            with self._lock:
                self._under_way[user_id] -= 1
                if not self._under_way[user_id]:
                    del self._under_way[user_id]


@dataclass(slots=True)
class _Flight:
    task: asyncio.Task[Any]
    waiting: int = 0


@one_per_loop
def _get_flights() -> dict[Hashable, _Flight]:
    return {}


async def make_once(key: Hashable, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Return the result of `make`, or of another caller's `make` that is under way for the same key.

    The task is cancelled once all who wait for it have been cancelled.
    """
    flights = _get_flights()
    if key not in flights:
        flights[key] = _Flight(asyncio.create_task(make(), context=contextvars.Context()))
    flight = flights[key]
    flight.waiting += 1
    try:
        return await asyncio.shield(flight.task)
    finally:
        flight.waiting -= 1
        if not flight.waiting:
            flight.task.cancel()
        if (flight.task.done() or not flight.waiting) and flights.get(key) is flight:
            del flights[key]


@asynccontextmanager
async def recorded_call(
    user_id: int, capability: SoundCall.Capability, clock: Clock, **fields: Any
) -> AsyncIterator[dict[str, Any]]:
    """Record a call of a provider when the block ends, with `fields` and what the block adds to the yielded dict."""
    started_at = clock()
    error: BaseException | None = None
    try:
        yield fields
    except (ProviderError, asyncio.CancelledError) as failed:
        error = failed
        raise
    finally:
        fields |= {"error": error, "started_at": started_at, "ended_at": clock()}
        await asyncio.shield(asyncio.ensure_future(in_thread(note_sound, user_id, capability, **fields)))
