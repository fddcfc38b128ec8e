"""Looking ahead: what a message brings to mind is looked for while the message itself is still being saved."""

import asyncio
import contextlib
import contextvars
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from threading import BoundedSemaphore
from typing import Any, Protocol
from uuid import UUID

from django.conf import settings

from accounts.places import places
from accounts.shares import at_work
from accounts.usage import Payer
from companions.models import Companion
from companions.replies.start import Started, start
from database.threads import DATABASE_UNAVAILABLE, in_thread, in_thread_with_retry
from memory.among import EVERYTHING
from memory.embedding import embed_cue
from memory.held import NOTHING_ALIKE, Held, Likeness, compared, likeness, lying
from memory.reference import leans_on_talk
from memory.spaces import CueVector
from providers.embedding import asks_nobody

MOST_CHARACTERS = 2_000  # a window or two of the embedder's
# Turns that hold their companion while they wait for what is looked for: a few, and for a moment. Each has a connection,
# and so has whoever waits for that companion; those who look need some too.
WAITING = BoundedSemaphore(settings.POOL["max_size"] // 6)
WAIT_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Ahead:
    """The vector of what memory is asked with, and what its companion held just now. Whoever uses it looks whether that
    is there yet. `cue` is what it was asked with, where that is not the message alone.
    """

    vector: CueVector | None
    there: Held | None = None
    like: Likeness = NOTHING_ALIKE
    cue: str = ""

    @property
    def held(self) -> Held | None:
        """What it held, compared with the message."""
        return None if self.there is None else compared(self.there, self.like)


Looking = asyncio.Task[Ahead]
Clock = Callable[[], datetime]


LOOKING: dict[
    int, Looking
] = {}  # one a person: whoever sends faster than may be answered makes no more work so


class Begin(Protocol):
    """`start`, or what does more in the same transaction."""

    def __call__(
        self, companion: Companion, text: str, client_id: str | None, now: datetime, /, *, at_once: bool
    ) -> Started: ...


async def start_and_look(
    companion: Companion, text: str, client_id: str | None, clock: Clock, *, begin: Begin = start
) -> tuple[Started, Looking | None]:
    """Begin when it is the person's turn, and what looks meanwhile.

    Where the message is refused or is not new, nobody looks any more. The clock is read when it begins: a reply that
    seems to have begun long ago would be taken for one that nobody makes.
    """

    def begun() -> Started:
        return begin(companion, text, client_id, clock(), at_once=True)

    looking, is_new = begin_to_look(companion, text), False
    try:
        async with at_work(companion.user_id):
            started = await in_thread(begun)
        is_new = started.is_new
    finally:
        if looking and not is_new:
            looking.cancel()
    return started, looking


def begin_to_look(companion: Companion, text: str) -> Looking | None:
    """A task of its own that looks; None where somebody outside would be asked before it is known whether one may.

    Nor is looked, before the gate has let it in, for a long text, or for the next one of somebody's that is looked for;
    nor for one that is to be read with what was said before it.
    """
    is_for_now = asks_nobody() and companion.user_id not in LOOKING
    if not is_for_now or len(text) > MOST_CHARACTERS or leans_on_talk(text, companion.names):
        return None
    looking = look(companion, text, Payer(companion.user_id, companion.pk))
    task = asyncio.get_running_loop().create_task(looking, context=contextvars.Context())
    LOOKING[companion.user_id] = task
    task.add_done_callback(partial(_let_go, companion.user_id))
    return task


async def looked_ahead(looking: Looking | None) -> Ahead | None:
    """What was found; None where nobody looked, or where the database was away meanwhile."""
    with contextlib.suppress(*DATABASE_UNAVAILABLE):
        return await asyncio.shield(looking) if looking and not looking.cancelled() else None
    return None


def may_wait() -> bool:
    """Whether one more turn may hold its companion while it waits."""
    if not WAITING.acquire(blocking=False):
        return False
    WAITING.release()
    return True


class NotYetError(Exception):
    """What is looked for is not there, and whoever holds a companion waits no longer."""


def from_a_thread(
    looking: Looking | None, looked: Callable[[], Coroutine[Any, Any, Ahead]]
) -> Callable[[], Ahead]:
    """What a worker thread of this loop calls to have what is found, or to wait for it; NotYetError."""
    loop = asyncio.get_running_loop()

    def wait() -> Ahead:
        if looking and looking.done() and not looking.cancelled() and not looking.exception():
            return looking.result()
        if not WAITING.acquire(blocking=False):
            raise NotYetError
        found = asyncio.run_coroutine_threadsafe(looked(), loop)
        try:
            return found.result(WAIT_SECONDS)
        except TimeoutError:
            found.cancel()
            raise NotYetError from None
        finally:
            WAITING.release()

    return wait


async def look(companion: Companion, cue: str, payer: Payer) -> Ahead:
    """Look now: what the cue means, and then what there is, and how like it that is.

    Its meaning first, which needs no Postgres: meanwhile the message itself is saved.
    """
    async with places("looks").at(f"user:{companion.user_id}"):
        vector = await in_thread(embed_cue, cue, payer, companion.names)
        there, like = await asyncio.gather(
            in_thread_with_retry(lying, companion.pk, EVERYTHING),
            in_thread_with_retry(_alike, companion.pk, vector),
        )
    return Ahead(vector, there, like, cue)


def _alike(companion_id: UUID, vector: CueVector | None) -> Likeness:
    return likeness(companion_id, vector) if vector else NOTHING_ALIKE


def _let_go(user_id: int, looking: Looking) -> None:
    """Nobody may be waiting any more: a failure is not news."""
    LOOKING.pop(user_id, None)
    if not looking.cancelled():
        looking.exception()
