"""The heartbeat of a web process: renew leases, take over what dead processes left, start what waits, hear of stops."""

import asyncio
import contextlib
from datetime import datetime
from uuid import UUID

import structlog
from django.conf import settings
from django.db import DatabaseError

from companions.events import REDIS_UNAVAILABLE, Event, hub
from companions.models import Reply
from companions.replies import frames
from companions.replies.actions import STOPS
from companions.replies.broadcast import Publisher
from companions.replies.finish import finish, seal_and_read
from companions.replies.generation import Clock, State, end_lost_calls
from companions.replies.ownership import find_startable, take_over
from companions.replies.turn import Running, renew_leases, spawn
from database.threads import in_thread, in_thread_with_retry
from jobs.background import TASKS, run_in_background
from jobs.process import process_name

log = structlog.get_logger(__name__)


async def beat_on(clock: Clock) -> None:
    """Beat until cancelled, and end what is to stop; a database or Redis that is away is waited for."""
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
    """Beat once. After a missed beat nothing is taken over: others may have missed theirs, and renew first."""
    await renew_leases(clock())
    if not has_missed:
        for reply_id in await in_thread(take_over, clock()):
            run_in_background(end_lost(reply_id, clock))
    running = list(Running.generations)
    for reply_id in await in_thread(_find_asked_to_stop, running):
        end(reply_id, State.STOPPED)
    if not Running.is_draining:
        for reply_id in await in_thread(find_startable, clock(), running):
            spawn(reply_id, clock)


def _find_asked_to_stop(ids: list[UUID]) -> list[UUID]:
    return list(Reply.objects.filter(pk__in=ids, is_stop_asked=True).values_list("pk", flat=True))


def _stop(event: Event) -> None:
    end(UUID(event["id"]), State.STOPPED)


def end(reply_id: UUID, state: State) -> None:
    """End a reply that this process makes; nothing where it makes none such."""
    if generation := Running.generations.get(reply_id):
        generation.end(state)


async def end_lost(reply_id: UUID, clock: Clock) -> None:
    """Mark a reply that was taken over as interrupted, with all that had been said."""
    rows = Reply.objects.select_related("companion__user").filter(pk=reply_id)
    reply = await in_thread_with_retry(rows.first)
    if reply is None:
        return
    said = await in_thread(seal_and_read, reply)
    now: datetime = clock()
    ended = await in_thread_with_retry(finish, reply, State.INTERRUPTED, said, now, held_by=process_name())
    if ended:
        await in_thread_with_retry(end_lost_calls, ended)
        publisher = Publisher(reply.companion_id, reply.pk, seq=said.seq)
        await publisher.close("reply.interrupted", **frames.ending(ended, reply.companion))
        log.info("reply_taken_over", reply_id=str(reply_id))


async def drain() -> None:
    """Give replies under way a little time to end, then end them as interrupted; those that wait are let go."""
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
