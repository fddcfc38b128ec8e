"""The pulse of a web process: renew leases, take over what dead processes left, start what waits, hear of stops."""

import asyncio
import contextlib
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import Exists, F, OuterRef

from companions.models import Reply
from companions.models.reply import ReplyQuerySet
from companions.replies import frames
from companions.replies.actions import STOPS
from companions.replies.ahead import Clock
from companions.replies.background import TASKS, later
from companions.replies.calls import end_lost_calls
from companions.replies.finish import finish, said_so_far
from companions.replies.layer import AWAY, layer, new_channel
from companions.replies.making import State
from companions.replies.process import process_name
from companions.replies.publish import Publisher
from companions.replies.turn import Running, renew, spawn
from database.threads import in_thread, in_thread_with_retry

log = structlog.get_logger(__name__)
MISSED = (DatabaseError, *AWAY)


async def beat_on(clock: Clock) -> None:
    """Pulse until cancelled; a database or Redis that is away is waited for."""
    has_missed = Running.is_draining = False
    while True:
        try:
            await pulse(clock, has_missed=has_missed)
            has_missed = False
        except MISSED as error:
            has_missed = True
            log.warning("pulse missed", error=type(error).__name__)
        except Exception:  # the outermost loop: a pulse that ended for good would lose every reply
            has_missed = True
            log.exception("pulse failed")
        await asyncio.sleep(settings.LEASE_RENEWED_SECONDS)


async def pulse(clock: Clock, *, has_missed: bool = False) -> None:
    """One round. After a missed one nothing is taken over: others may have missed theirs, and renew first."""
    await renew(clock)
    if not has_missed:
        for reply_id in await in_thread(take_over, clock()):
            later(end_lost(reply_id, clock))
    for reply_id in await in_thread(stops_asked, list(Running.makings)):
        end(reply_id, State.STOPPED)
    if not Running.is_draining:
        for reply_id in await in_thread(free_to_start, clock()):
            spawn(reply_id, clock)


@transaction.atomic
def take_over(now: datetime) -> list[UUID]:
    """The replies under way whose process has been silent for too long; they are this process's now."""
    lost = Reply.objects.under_way().filter(lease_at__lt=now - timedelta(seconds=settings.LEASE_LOST_SECONDS))
    ids = list(lost.select_for_update(skip_locked=True).values_list("pk", flat=True))
    Reply.objects.filter(pk__in=ids).update(lease_by=process_name(), lease_at=now)
    return ids


def stops_asked(ids: list[UUID]) -> list[UUID]:
    return list(Reply.objects.filter(pk__in=ids, is_stop_asked=True).values_list("pk", flat=True))


def free_to_start(now: datetime) -> list[UUID]:
    """Waiting replies whose turn has come and whose own process did not start them; its own leases are renewed."""
    if given_up := _not_taken_up(now).update(state=State.QUEUED, started_at=None):
        log.warning("turns not taken up", count=given_up)
    Reply.objects.waiting().filter(lease_by=process_name()).update(lease_at=now)
    busy = Reply.objects.under_way().filter(companion=OuterRef("companion"))
    waiting = Reply.objects.waiting().filter(~Exists(busy))
    late = timedelta(seconds=settings.LEASE_LOST_SECONDS)
    return [
        reply.pk
        for reply in waiting.order_by("created_at")
        if reply.lease_by == process_name() or reply.lease_at is None or reply.lease_at < now - late
    ]


def _not_taken_up(now: datetime) -> ReplyQuerySet:
    """What had its turn as its message was saved, and whoever sent that was gone before the making began."""
    mine = Reply.objects.filter(state=State.THINKING, lease_by=process_name()).exclude(pk__in=Running.makings)
    soon = timedelta(seconds=settings.LEASE_RENEWED_SECONDS)
    return mine.filter(lease_at=F("started_at"), started_at__lt=now - soon)  # neither renewed nor taken over


async def end_lost(reply_id: UUID, clock: Clock) -> None:
    """Mark a reply that was taken over as interrupted, with all that had been said."""
    rows = Reply.objects.select_related("companion__user").filter(pk=reply_id)
    reply = await in_thread_with_retry(rows.first)
    if reply is None:
        return
    said = await in_thread(said_so_far, reply)
    ended = await in_thread_with_retry(
        finish, reply, State.INTERRUPTED, said, clock(), held_by=process_name()
    )
    if ended:
        await in_thread_with_retry(end_lost_calls, ended)
        publisher = Publisher(reply.companion_id, reply.pk, seq=said.seq)
        await publisher.close("reply.interrupted", **frames.ending(ended, reply.companion))
        log.info("reply taken over", reply_id=str(reply_id))


def end(reply_id: UUID, state: State) -> None:
    """End a reply that this process makes; nothing where it makes none such."""
    if making := Running.makings.get(reply_id):
        making.end(state)


async def hear_stops() -> None:
    """Listen for word that a reply is to stop, until cancelled."""
    while True:
        try:
            channel = await new_channel()
            await layer().group_add(STOPS, channel)
            while True:
                end(UUID((await layer().receive(channel))["id"]), State.STOPPED)
        except AWAY:
            await asyncio.sleep(1)


async def drain() -> None:
    """Give replies under way a little time to end, then end them as interrupted; those that wait are let go."""
    Running.is_draining = True
    with contextlib.suppress(DatabaseError):
        await in_thread(_let_go)
    if TASKS:
        await asyncio.wait(set(TASKS), timeout=settings.DRAIN_SECONDS)
    for reply_id in list(Running.makings):
        end(reply_id, State.INTERRUPTED)
    if TASKS:
        await asyncio.wait(set(TASKS), timeout=settings.DRAIN_SECONDS)


def _let_go() -> None:
    Reply.objects.waiting().filter(lease_by=process_name()).update(lease_at=None)
