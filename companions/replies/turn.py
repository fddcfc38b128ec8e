"""A turn from its beginning to its end, a task of the event loop; and the leases of what this process makes."""

import contextlib
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import ClassVar
from uuid import UUID

import structlog
from django.utils import timezone

from accounts.admission import at_work, places
from companions.events import REDIS_UNAVAILABLE, tell_companion
from companions.models import Companion, Reply
from companions.replies import frames, stream
from companions.replies.context import TurnContext
from companions.replies.finish import finish, save_progress
from companions.replies.generation import Clock, Generation, State
from companions.replies.ownership import claim, find_next_waiting, give_back
from companions.replies.start import Start, Started, start
from database.threads import in_thread, in_thread_with_retry
from jobs.background import run_in_background
from jobs.process import process_name

log = structlog.get_logger(__name__)
MAX_CLAIMS_AT_ONCE = 4  # so that one companion that is held for long holds nobody else's up
Tell = Callable[[], Awaitable[object]]


class Running:
    """The replies that this process makes."""

    generations: ClassVar[dict[UUID, Generation]] = {}
    is_draining: ClassVar[bool] = False  # nothing new is begun


async def send(
    companion: Companion,
    text: str,
    client_id: str | None,
    clock: Clock,
    *,
    begin: Start = start,
    but: str = "",
) -> Started:
    """Save a message when it is the person's turn, and begin to make its reply; raises what `begin` raises.

    Everybody who follows the companion is told of a new message, but for the socket of that name.
    """

    def start_now() -> (
        Started
    ):  # a reply that seems to have begun long ago would be taken for one that nobody makes
        return begin(companion, text, client_id, clock(), at_once=True)

    async with at_work(companion.user_id):
        started = await in_thread(start_now)
    if started.is_new:
        run_in_background(_take_up(started, but))
    return started


async def _take_up(started: Started, but: str) -> None:
    """Tell of the message and make its reply, though the one who sent it may be gone."""

    async def tell() -> None:
        await tell_companion(started.message.companion_id, frames.saved(started), but)

    if started.has_turn and not Running.is_draining:
        await make(started.reply, timezone.now, tell)
        return
    await tell()
    if started.has_turn:
        await in_thread_with_retry(give_back, started.reply)
    else:
        spawn(started.reply.pk)


def spawn(reply_id: UUID, clock: Clock = timezone.now) -> None:
    """Begin to make the reply, if it is its turn."""
    if not Running.is_draining:
        run_in_background(run(reply_id, clock))


async def run(reply_id: UUID, clock: Clock = timezone.now) -> None:
    """Make the reply if it is its turn."""
    async with places("turns").at(f"claims:{reply_id.int % MAX_CLAIMS_AT_ONCE}"):
        reply = await in_thread(claim, reply_id, clock())
    if reply:
        await make(reply, clock)


async def make(reply: Reply, clock: Clock, tell: Tell | None = None) -> None:
    """Make the reply, whose turn it is, once its message is told; then hand over to the one that waits behind it."""
    if (
        reply.pk in Running.generations
    ):  # its message came late to be answered, and the heartbeat was a moment sooner
        if tell:
            await tell()
        return
    with structlog.contextvars.bound_contextvars(
        reply_id=str(reply.pk), companion_id=str(reply.companion_id)
    ):
        generation = Running.generations[reply.pk] = Generation(TurnContext(reply), clock)
        state = State.FAILED
        try:
            if tell:
                await tell()
            generation.said.code = "internal_error"
            try:
                state = await generation.run()
                if state != State.FAILED:
                    generation.said.code = ""
            finally:
                await _end(generation, state)
        finally:
            del Running.generations[reply.pk]
    following = await in_thread_with_retry(find_next_waiting, reply.companion_id)
    if following:
        spawn(following, clock)


async def _end(generation: Generation, state: State) -> None:
    """Write the reply's end down and tell it; where another has ended the reply, tell what was made of it."""
    turn, publisher = generation.turn, generation.publisher
    said, reply, now = generation.said, turn.reply, generation.clock()
    said.seq = publisher.last_seq
    async with places("turns").at(turn.whose):
        ended = await in_thread_with_retry(finish, reply, state, said, now, held_by=process_name())
        if ended is None:
            ended = await in_thread_with_retry(
                Reply.objects.select_related("answer").filter(pk=reply.pk).first
            )
    if ended is None:
        await publisher.close("reply.stopped", message=None)
        with contextlib.suppress(*REDIS_UNAVAILABLE):
            await stream.delete(reply.pk)
    elif ended.is_open:  # another process has taken it over, and will end it
        await publisher.close()
    else:
        await publisher.close(f"reply.{ended.state}", **frames.ending(ended, turn.companion))
    log.info("reply_ended", state=ended.state if ended else "gone", code=said.code)


async def renew_leases(now: datetime) -> None:
    """Renew the leases of what this process makes; let go of what another has ended or taken over."""
    generations = [one for one in Running.generations.values() if not one.publisher.is_sealed]
    saying = {one.turn.reply.pk: one.said_under_numbers() for one in generations}
    held = await in_thread(save_progress, saying, now, held_by=process_name()) if saying else set()
    for generation in list(Running.generations.values()):
        is_lost = generation in generations and generation.turn.reply.pk not in held
        if generation.publisher.is_sealed or is_lost:
            generation.end(State.INTERRUPTED)
