"""Looking ahead: what a message brings to mind is looked for while the message itself is still being saved."""

import asyncio
import contextlib
import contextvars
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Protocol

from accounts.usage import Payer
from companions.models import Companion
from companions.replies.database import AWAY, insist, visit
from companions.replies.start import Started, start
from memory.among import EVERYTHING
from memory.embedding import embed_cue
from memory.held import NOTHING_ALIKE, Held, Likeness, compared, likeness, lying
from memory.spaces import CueVector
from providers.embedding import asks_nobody

MOST_CHARACTERS = 2_000  # a window or two of the embedder's


@dataclass(frozen=True, slots=True)
class Ahead:
    """The message's vector, and what its companion held just now. Whoever uses it looks whether that is there yet."""

    vector: CueVector | None
    held: Held | None = None


Looking = asyncio.Task[Ahead]


LOOKING: dict[
    int, Looking
] = {}  # one a person: whoever sends faster than may be answered makes no more work so


class Begin(Protocol):
    """`start`, or what does more in the same transaction."""

    def __call__(
        self, companion: Companion, text: str, client_id: str | None, now: datetime, /, *, at_once: bool
    ) -> Started: ...


async def start_and_look(
    companion: Companion, text: str, client_id: str | None, now: datetime, *, begin: Begin = start
) -> tuple[Started, Looking | None]:
    """Begin at once, and what looks meanwhile; where the message is refused or is not new, nobody looks any more."""
    looking, is_new = begin_to_look(companion, text), False
    try:
        started = await visit(begin, companion, text, client_id, now, at_once=True)
        is_new = started.is_new
    finally:
        if looking and not is_new:
            looking.cancel()
    return started, looking


def begin_to_look(companion: Companion, text: str) -> Looking | None:
    """A task of its own that looks; None where somebody outside would be asked before it is known whether one may.

    Nor is looked, before the gate has let it in, for a long text, or for the next one of somebody's that is looked for.
    """
    if not asks_nobody() or len(text) > MOST_CHARACTERS or companion.user_id in LOOKING:
        return None
    looking = look(companion, text, Payer(companion.user_id, companion.pk))
    task = asyncio.get_running_loop().create_task(looking, context=contextvars.Context())
    LOOKING[companion.user_id] = task
    task.add_done_callback(partial(_let_go, companion.user_id))
    return task


async def looked_ahead(looking: Looking | None) -> Ahead | None:
    """What was found; None where nobody looked, or where the database was away meanwhile."""
    with contextlib.suppress(*AWAY):
        return await looking if looking and not looking.cancelled() else None
    return None


async def look(companion: Companion, text: str, payer: Payer) -> Ahead:
    """Look now: what there is, while it is found out what the message means and what is like it."""
    there, (vector, like) = await asyncio.gather(
        insist(lying, companion.pk, EVERYTHING), _likeness(companion, text, payer)
    )
    return Ahead(vector, await visit(compared, there, like))


async def _likeness(companion: Companion, text: str, payer: Payer) -> tuple[CueVector | None, Likeness]:
    """What the message means, and how like it the companion's memories are; no connection is held while an embedder
    works.
    """
    vector = await visit(embed_cue, text, payer, companion.names)
    return vector, await insist(likeness, companion.pk, vector) if vector else NOTHING_ALIKE


def _let_go(user_id: int, looking: Looking) -> None:
    """Nobody may be waiting any more: a failure is not news."""
    LOOKING.pop(user_id, None)
    if not looking.cancelled():
        looking.exception()
