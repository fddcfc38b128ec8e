"""A turn from beginning to end, as a task of the event loop; and the heartbeat of a process that generates replies.

The heartbeat renews leases, takes over the replies of dead processes, starts waiting replies, and ends those that a
person asked to stop.
"""

import asyncio
import contextlib
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection
from datetime import datetime
from functools import partial
from typing import ClassVar
from uuid import UUID

import structlog
from django.conf import settings
from django.db import DatabaseError, transaction
from django.utils import timezone

from accounts.limits.admission import at_work
from accounts.limits.places import places
from companions.conversations.attachments import attach, check_attached
from companions.events import (
    CUT_OFF,
    DISK_FULL,
    REDIS_UNAVAILABLE,
    Event,
    hub,
    render_ending,
    render_saved,
    tell_companion,
)
from companions.minds.choice import get_current_provider
from companions.models import Companion, Reply
from companions.replies.actions import STOPS
from companions.replies.broadcast import Publisher
from companions.replies.checkpoint import save_progress, seal_and_read
from companions.replies.context import TurnContext
from companions.replies.finish import finish
from companions.replies.generation import Generation, State
from companions.replies.lifecycle import (
    Start,
    Started,
    claim,
    find_startable,
    give_back,
    process_name,
    start,
    take_over,
)
from companions.replies.model_calls import end_lost_calls
from companions.replies.streams import delete_stream
from database.queries import DATABASE_UNAVAILABLE, describe_full_disk
from jobs.background import (
    RETRY_SECONDS,
    RETRY_TIMEOUT_SECONDS,
    TASKS,
    in_thread,
    in_thread_with_retry,
    run_in_background,
)
from jobs.lease import Clock
from providers.availability import note_pause, note_talks
from providers.chat_provider import ChatProvider
from providers.selection import preferring

log = structlog.get_logger(__name__)
CLAIM_GROUPS = 4  # claims go one by one in each, so that one locked companion does not delay them all


class Running:
    """The replies that this process is generating, by the reply's id."""

    generations: ClassVar[dict[UUID, Generation]] = {}
    is_draining: ClassVar[bool] = False  # if True, no new reply is begun


def start_with(attachment_ids: Collection[UUID], quoted: UUID | None = None) -> Start:
    """Return a `start` that also attaches these files to the message.

    The `start` raises AttachmentError, ConflictError, and what `lifecycle.start` raises; then it has saved nothing.
    """
    if not attachment_ids:
        return partial(start, quoted=quoted)

    @transaction.atomic
    def begin(
        companion: Companion, text: str, client_id: str | None, now: datetime, /, *, at_once: bool
    ) -> Started:
        started = start(companion, text, client_id, now, at_once=at_once, quoted=quoted)
        if started.is_new:
            attach(started.message, attachment_ids)
        else:
            check_attached(started.message, attachment_ids)
        return started

    return begin


async def send(
    companion: Companion,
    text: str,
    client_id: str | None,
    clock: Clock,
    *,
    begin: Start = start,
    except_socket: str = "",
) -> Started:
    """Save a message once its user has a free place (`accounts.limits.admission`), and begin to generate its reply.

    Publish a new message to everyone who follows the companion, except to the socket `except_socket`. Raise whatever
    `begin` raises.
    """
    async with at_work(companion.user_id):
        # Read the clock after the wait: a reply with an old `started_at` would be taken for an abandoned one.
        started = await in_thread(lambda: begin(companion, text, client_id, clock(), at_once=True))
    if started.is_new:
        run_in_background(_publish_and_generate(started, except_socket))
    return started


async def _publish_and_generate(started: Started, except_socket: str) -> None:
    """Publish the message and generate its reply, even if its sender has disconnected."""
    saved = render_saved(started.message, started.reply)
    companion = started.message.companion
    await note_talks(get_current_provider(companion), [companion.pk])
    publishing = tell_companion(started.message.companion_id, saved, except_socket)
    if started.has_turn and not Running.is_draining:
        await generate(started.reply, timezone.now, publishing)
        return
    await publishing
    if started.has_turn:
        await in_thread_with_retry(give_back, started.reply)
    else:
        spawn(started.reply.pk)


def spawn(reply_id: UUID, clock: Clock = timezone.now) -> None:
    """Start a background task that generates the reply if its turn has come; do nothing while the process drains."""
    if not Running.is_draining:
        run_in_background(claim_and_generate(reply_id, clock))


async def claim_and_generate(reply_id: UUID, clock: Clock = timezone.now) -> None:
    """Claim and generate the reply, unless another one of its companion has the turn."""
    async with places("turns").at(f"claims:{reply_id.int % CLAIM_GROUPS}"):
        reply = await in_thread(claim, reply_id, clock())
    if reply:
        await generate(reply, clock)


async def generate(reply: Reply, clock: Clock, publishing: Awaitable[None] | None = None) -> None:
    """Generate a claimed reply, after awaiting `publishing` (which publishes its message); then start the next one."""
    if reply.pk in Running.generations:  # the heartbeat was quicker
        if publishing:
            await publishing
        return
    names = {"reply_id": str(reply.pk), "companion_id": str(reply.companion_id)}
    with structlog.contextvars.bound_contextvars(**names), preferring(reply.companion.preference):
        generation = Running.generations[reply.pk] = Generation(TurnContext(reply), clock)
        state = State.FAILED
        try:
            if publishing:
                await publishing
            else:
                await note_talks(generation.turn.provider, [reply.companion_id])
            generation.said.code = "internal_error"
            try:
                state = await generation.run()
                if state != State.FAILED:
                    cut_code = generation.cut_code or CUT_OFF
                    generation.said.code = cut_code if state == State.INTERRUPTED else ""
            except DATABASE_UNAVAILABLE as error:
                if not describe_full_disk(error):
                    raise
                generation.said.code = DISK_FULL
            finally:
                await _end(generation, state)
        finally:
            del Running.generations[reply.pk]
            await note_pause(generation.turn.provider, reply.companion_id)
    waiting = Reply.objects.waiting().filter(companion=reply.companion_id).order_by("created_at")
    if next_id := await in_thread_with_retry(waiting.values_list("pk", flat=True).first):
        spawn(next_id, clock)


async def _end(generation: Generation, state: State) -> None:
    """Save the reply's end and publish it; if another process has ended the reply, publish the end that it saved."""
    turn, publisher = generation.turn, generation.publisher
    said, reply, now = generation.said, turn.reply, generation.clock()
    said.seq = publisher.last_seq
    async with places("turns").at(turn.whose):
        ended = await _wait_for_room(turn, partial(finish, reply, state, said, now, held_by=process_name()))
        if ended is None:
            row = Reply.objects.select_related("answer").filter(pk=reply.pk)
            ended = await in_thread_with_retry(row.first)
    if ended is None:
        await publisher.close("reply.stopped", message=None)
        with contextlib.suppress(*REDIS_UNAVAILABLE):
            await delete_stream(reply.pk)
    elif ended.is_open:  # another process has taken the reply over, and will end it
        await publisher.close()
    else:
        await publisher.close(f"reply.{ended.state}", **render_ending(ended, turn.companion))
    log.info("reply_ended", state=ended.state if ended else "gone", code=said.code)


async def _wait_for_room(turn: TurnContext, save: Callable[[], Reply | None]) -> Reply | None:
    """Save a reply's end; if the disk is full, tell the person so at once, and try for a minute whether room comes.

    After that minute the error is raised, and the reply stays open: once there is room, a heartbeat takes it over.
    """
    deadline = time.monotonic() + RETRY_TIMEOUT_SECONDS
    is_told = False
    while True:
        try:
            return await in_thread_with_retry(save)
        except DATABASE_UNAVAILABLE as error:
            with turn.companion.user.use_language():
                frame = {"type": "error", "code": "database_away", "detail": describe_full_disk(error)}
            if not frame["detail"] or time.monotonic() > deadline:
                raise
            if not is_told:
                await tell_companion(turn.companion.pk, frame, reply_id=turn.reply.pk)
            is_told = True
        await asyncio.sleep(RETRY_SECONDS)


async def renew_leases(now: datetime) -> None:
    """Renew the leases of this process's replies and save their progress; cancel those that it no longer owns."""
    making = Running.generations.items()
    unsealed = {id: generation for id, generation in making if not generation.publisher.is_sealed}
    progress = {id: generation.said_under_numbers() for id, generation in unsealed.items()}
    held = await in_thread(save_progress, progress, now) if progress else set()
    for id, generation in list(Running.generations.items()):
        is_lost = id in unsealed and id not in held
        if generation.publisher.is_sealed or is_lost:
            generation.end(State.INTERRUPTED)


async def beat_on(clock: Clock) -> None:
    """Run the heartbeat and listen for requests to stop, until cancelled; retry while the database or Redis is away."""
    has_missed = Running.is_draining = False
    await hub().listen(STOPS, _stop)
    try:
        while True:
            try:
                await beat(clock, has_missed=has_missed)
                has_missed = False
            except (DatabaseError, *REDIS_UNAVAILABLE) as error:
                has_missed = True
                log.warning("heartbeat_missed", error=type(error).__name__)
            except Exception:  # the outermost loop: a heartbeat that ended for good would lose every reply
                has_missed = True
                log.exception("heartbeat_failed")
            await asyncio.sleep(settings.LEASE_RENEWED_SECONDS)
    finally:
        hub().leave(STOPS, _stop)


async def beat(clock: Clock, *, has_missed: bool = False) -> None:
    """Run one heartbeat. After a missed one, take over no replies: their processes may have missed theirs as well."""
    await renew_leases(clock())
    talks: dict[ChatProvider, set[UUID]] = defaultdict(set)
    for generation in Running.generations.values():
        talks[generation.turn.provider].add(generation.turn.companion.pk)
    for provider, companions in talks.items():
        await note_talks(provider, companions)
    if not has_missed:
        for reply_id in await in_thread(take_over, clock()):
            run_in_background(end_lost(reply_id, clock))
    running = list(Running.generations)
    asked_to_stop = Reply.objects.filter(pk__in=running, is_stop_asked=True).values_list("pk", flat=True)
    for reply_id in await in_thread(lambda: list(asked_to_stop)):
        end(reply_id, State.STOPPED)
    if not Running.is_draining:
        for reply_id in await in_thread(find_startable, clock(), running):
            spawn(reply_id, clock)


def _stop(event: Event) -> None:
    end(UUID(event["id"]), State.STOPPED)


def end(reply_id: UUID, state: State) -> None:
    """End the reply in this state if this process is generating it; otherwise do nothing."""
    if generation := Running.generations.get(reply_id):
        generation.end(state)


async def end_lost(reply_id: UUID, clock: Clock) -> None:
    """End a reply taken over from a dead process as interrupted, with all that is on its row and in its stream."""
    rows = Reply.objects.select_related("companion__user").filter(pk=reply_id)
    reply = await in_thread_with_retry(rows.first)
    if reply is None:
        return
    said = await in_thread(seal_and_read, reply)
    said.code = CUT_OFF
    interrupted = partial(finish, reply, State.INTERRUPTED, said, clock(), held_by=process_name())
    ended = await in_thread_with_retry(interrupted)
    if ended:
        await in_thread_with_retry(end_lost_calls, ended)
        publisher = Publisher(reply.companion_id, reply.pk, seq=said.seq)
        await publisher.close("reply.interrupted", **render_ending(ended, reply.companion))
        log.info("reply_taken_over", reply_id=str(reply_id))


async def drain() -> None:
    """Release waiting replies; wait DRAIN_SECONDS for running ones to end, then end the rest as interrupted."""
    Running.is_draining = True
    mine = Reply.objects.waiting().filter(lease_by=process_name())
    with contextlib.suppress(DatabaseError):
        await in_thread(mine.update, lease_at=None)
    if TASKS:
        await asyncio.wait(set(TASKS), timeout=settings.DRAIN_SECONDS)
    for reply_id in list(Running.generations):
        end(reply_id, State.INTERRUPTED)
    if TASKS:
        await asyncio.wait(set(TASKS), timeout=settings.DRAIN_SECONDS)
