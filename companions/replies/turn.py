"""A turn from its beginning to its end, a task of the event loop; and the leases of what this process makes."""

import contextlib
from collections.abc import Awaitable, Callable
from functools import partial
from typing import ClassVar
from uuid import UUID

import structlog
from django.utils import timezone

from accounts.places import places
from companions.models import Reply
from companions.replies import frames, stream
from companions.replies.ahead import Clock, Looking
from companions.replies.background import later
from companions.replies.claim import claim, give_back, next_waiting
from companions.replies.finish import checkpoint, finish
from companions.replies.layer import AWAY
from companions.replies.making import Making, State
from companions.replies.material import Turn
from companions.replies.process import process_name
from companions.replies.publish import tell
from companions.replies.start import Started
from database.threads import in_thread, in_thread_with_retry

log = structlog.get_logger(__name__)
CLAIMS_AT_ONCE = 4  # so that one companion that is held for long holds nobody else's up
Telling = Callable[[], Awaitable[object]]


class Running:
    """The replies that this process makes."""

    makings: ClassVar[dict[UUID, Making]] = {}
    is_draining: ClassVar[bool] = False  # nothing new is begun


def take_up(started: Started, ahead: Looking | None, but: str = "") -> None:
    """Tell everybody who listens of a new message, but for one channel; begin to make its reply if it may begin now.

    Both go on where the one who sent it leaves.
    """
    later(_take_up(started, ahead, partial(tell, started.message.companion_id, frames.saved(started), but)))


async def _take_up(started: Started, ahead: Looking | None, telling: Telling) -> None:
    if started.turn and not Running.is_draining:
        await make(started.turn, timezone.now, ahead, telling)
        return
    await telling()
    if started.turn is None:
        spawn(started.reply.pk, ahead=ahead)
    else:
        await in_thread_with_retry(give_back, started.turn)


def spawn(reply_id: UUID, clock: Clock = timezone.now, ahead: Looking | None = None) -> None:
    """Begin to make the reply, if it is its turn."""
    if not Running.is_draining:
        later(run(reply_id, clock, ahead))


async def run(reply_id: UUID, clock: Clock = timezone.now, ahead: Looking | None = None) -> None:
    """Make the reply if it is its turn."""
    async with places("turns").at(f"claims:{reply_id.int % CLAIMS_AT_ONCE}"):
        turn = await in_thread(claim, reply_id, clock())
    if turn:
        await make(turn, clock, ahead)


async def make(turn: Turn, clock: Clock, ahead: Looking | None, telling: Telling | None = None) -> None:
    """Make the reply, whose turn it is, once its message is told; then hand over to the one that waits behind it."""
    reply_id = turn.reply.pk
    if reply_id in Running.makings:  # its message came late to be answered, and the pulse was a moment sooner
        if telling:
            await telling()
        return
    with structlog.contextvars.bound_contextvars(reply_id=str(reply_id), companion_id=str(turn.companion.pk)):
        making = Running.makings[reply_id] = Making(turn, clock, ahead)
        try:
            if telling:
                await telling()
            await _see_through(making)
        finally:
            del Running.makings[reply_id]
    following = await in_thread_with_retry(next_waiting, turn.companion.pk)
    if following:
        spawn(following, clock)


async def _see_through(making: Making) -> None:
    state = State.FAILED
    making.said.code = "internal_error"
    try:
        state = await _making(making)
    finally:
        await _end(making, state)


async def _end(making: Making, state: State) -> None:
    """Write the reply's end down and tell it; where another has ended the reply, tell what was made of it."""
    reply, publisher = making.turn.reply, making.publisher
    making.said.seq = publisher.last_seq
    name = process_name()
    async with places("turns").at(making.turn.whose):
        ended = await in_thread_with_retry(finish, reply, state, making.said, making.clock(), held_by=name)
        ended = ended or await in_thread_with_retry(_as_it_stands, reply)
    if ended is None:
        await publisher.close("reply.stopped", message=None)
        with contextlib.suppress(*AWAY):
            await stream.forget(reply.pk)
    elif ended.is_open:  # another process has taken it over, and will end it
        await publisher.close()
    else:
        await publisher.close(f"reply.{ended.state}", **frames.ending(ended, making.turn.companion))
    log.info("reply ended", state=ended.state if ended else "gone", code=making.said.code)


def _as_it_stands(reply: Reply) -> Reply | None:
    return Reply.objects.select_related("answer").filter(pk=reply.pk).first()


async def _making(making: Making) -> State:
    if making.turn.reply.is_stop_asked:
        making.said.code = ""
        return State.STOPPED
    state = await making.make()
    if state != State.FAILED:
        making.said.code = ""
    return state


async def renew(clock: Clock) -> None:
    """Renew the leases of what this process makes; let go of what another has ended or taken over."""
    makings = [one for one in Running.makings.values() if not one.publisher.is_sealed]
    saying = {one.turn.reply.pk: one.so_far() for one in makings}
    held = await in_thread(checkpoint, saying, clock(), held_by=process_name()) if saying else set()
    for making in list(Running.makings.values()):
        if making.publisher.is_sealed or (making in makings and making.turn.reply.pk not in held):
            making.end(State.INTERRUPTED)
