"""Looking ahead: what a message brings to mind is looked for while the message itself is still being saved."""

import asyncio
import contextlib
import contextvars
from dataclasses import dataclass

from django.conf import settings

from accounts.usage import Payer
from companions.models import Companion
from companions.replies.database import AWAY, insist, visit
from memory.among import EVERYTHING
from memory.embedding import embed_cue
from memory.held import Held, compared, lying
from memory.spaces import CueVector
from providers.embedding import asks_nobody


@dataclass(frozen=True, slots=True)
class Ahead:
    """The message's vector, and what its companion held just now. Whoever uses it looks whether that is there yet."""

    vector: CueVector | None
    held: Held | None = None


Looking = asyncio.Task[Ahead]


def begin_to_look(companion: Companion, text: str) -> Looking | None:
    """A task of its own that looks; None where somebody outside would be asked before it is known whether one may.

    Nor is looked for what is too long to be saved.
    """
    if not asks_nobody() or len(text) > settings.MESSAGE_CHARACTERS:
        return None
    looking = look(companion, text, Payer(companion.user_id, companion.pk))
    task = asyncio.get_running_loop().create_task(looking, context=contextvars.Context())
    task.add_done_callback(_let_go)
    return task


async def looked_ahead(looking: Looking | None) -> Ahead | None:
    """What was found; None where nobody looked, or where the database was away meanwhile."""
    with contextlib.suppress(*AWAY):
        return await looking if looking else None
    return None


async def look(companion: Companion, text: str, payer: Payer) -> Ahead:
    """Look now; no connection is held while an embedder works."""
    read, embedded = insist(lying, companion.pk, EVERYTHING), visit(embed_cue, text, payer, companion.names)
    there, vector = await asyncio.gather(read, embedded)
    return Ahead(vector, await insist(compared, there, vector))


def _let_go(looking: Looking) -> None:
    """Nobody may be waiting any more: a failure is not news."""
    if not looking.cancelled():
        looking.exception()
