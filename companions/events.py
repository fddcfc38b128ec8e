"""Events for everyone who has a page or a stream open, in any web process, and the frames that events carry.

Events are published to groups over one Redis pub/sub channel. Each web process receives every event and passes it on to
its own listeners. An event that is missed while Redis is down is recovered from rows and streams, which listeners poll
from time to time.
"""

import asyncio
import contextlib
import contextvars
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any
from uuid import UUID

import orjson
import redis
import structlog
from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from redis.asyncio import Redis

from accounts.models import User
from companions.models import Companion, Message, Reply
from database import queries
from jobs.background import get_blocking_redis, one_per_loop
from memory.models import Recalled
from memory.recall.recall import Found
from providers.errors import (
    AllowanceSpent,
    AnswerWithheld,
    ContextTooLong,
    EmptyAnswer,
    LimitReached,
    MalformedError,
    ModelLoading,
    ModelMissing,
    ProviderBusy,
    ProviderRefused,
    ProviderUnavailable,
)
from safety.models import Notice
from safety.notices import as_frame

log = structlog.get_logger(__name__)
REDIS_UNAVAILABLE = (redis.RedisError, OSError)
"""The exceptions raised while Redis does not answer."""
SUBSCRIBE_TIMEOUT_SECONDS = 1.0
PING_SECONDS = 20.0
MAX_IDS_A_FRAME = 500

Event = dict[str, Any]
Listener = Callable[[Event], object]
"""Takes an event in without blocking."""


# -- publishing --------------------------------------------------------------------------------------------------------


def group_of_companion(companion_id: UUID | str) -> str:
    """Return the group of everyone who follows the companion's conversation."""
    return f"companion.{companion_id}"


def group_of_person(user_id: int) -> str:
    """Return the group of the sockets that carry the user's own frames, e.g. their count of unread messages."""
    return f"person.{user_id}"


def group_of_sockets(user_id: int) -> str:
    """Return the group of all sockets of the user."""
    return f"sockets.{user_id}"


@one_per_loop
def redis_client() -> Redis:
    """Return the Redis client of the running event loop."""
    # RESP 2, since redis-py formats every push message of RESP 3 for its log, which costs time
    return Redis.from_url(settings.REDIS_URL, protocol=2, socket_connect_timeout=2, socket_timeout=5)


async def publish(*events: tuple[str, Event]) -> None:
    """Publish events, each to its group; raise one of `REDIS_UNAVAILABLE` while Redis does not answer."""
    await redis_client().publish(settings.EVENTS_CHANNEL, orjson.dumps(events))


async def tell_companion(
    companion_id: UUID, frame: Event, except_socket: str = "", reply_id: UUID | None = None
) -> None:
    """Send a frame that is no part of a reply to everyone who follows the companion, except to `except_socket`.

    Whoever follows only the reply `reply_id` receives it as well.
    """
    with contextlib.suppress(*REDIS_UNAVAILABLE):
        event = _make_companion_event(frame, except_socket) | {"reply_id": reply_id}
        await publish((group_of_companion(companion_id), event))


def _make_companion_event(frame: Event, except_socket: str = "") -> Event:
    text = orjson.dumps(frame).decode()
    return {"type": "companion.frame", "frame": text, "except_socket": except_socket}


def notify_companion(companion_id: UUID, frame: Event) -> None:
    """Send a frame that belongs to no reply to everyone who follows the companion, after the commit."""
    publish_on_commit(group_of_companion(companion_id), _make_companion_event(frame))


def notify_deleted(companion_id: UUID, ids: Iterable[UUID]) -> None:
    """Send the ids of deleted messages, 500 to a frame, to everyone who follows the companion, after the commit."""
    gone = sorted(map(str, ids))
    for start in range(0, len(gone), MAX_IDS_A_FRAME):
        part = gone[start : start + MAX_IDS_A_FRAME]
        notify_companion(companion_id, {"type": "messages.deleted", "ids": part})


def notify_person(user_id: int, frame: Event) -> None:
    """Send a frame to the user's sockets of `group_of_person`, after the commit."""
    publish_on_commit(
        group_of_person(user_id), {"type": "person.frame", "frame": orjson.dumps(frame).decode()}
    )


def notify_of_notice(user: User, notice: Notice) -> None:
    """Send a notice, in the user's language, to their sockets of `group_of_person`, after the commit."""
    with user.use_language():
        notify_person(user.pk, as_frame(notice))


def notify_unread_changed(user_id: int) -> None:
    """Have the user's sockets count their unread messages again, after the commit."""
    publish_on_commit(group_of_person(user_id), {"type": "person.unread"})


def publish_on_commit(group: str, event: Event) -> None:
    """Publish an event to the group after the commit. If Redis is down, the event is dropped and the failure logged:
    listeners find the change in rows.
    """
    transaction.on_commit(partial(_publish_blocking, group, event), robust=True)


def _publish_blocking(group: str, event: Event) -> None:
    try:
        client = get_blocking_redis(settings.REDIS_URL)
        client.publish(settings.EVENTS_CHANNEL, orjson.dumps([(group, event)]))
    except redis.RedisError as error:
        log.warning("event_not_published", error=type(error).__name__)


# -- listening ---------------------------------------------------------------------------------------------------------


class Hub:
    """Subscribes to all events while it has listeners, and passes each to its group's listeners in this event loop."""

    def __init__(self) -> None:
        self._listeners: defaultdict[str, set[Listener]] = defaultdict(set)
        self._hearing: asyncio.Task[None] | None = None
        self._has_tried = asyncio.Event()
        self.is_subscribed = False
        self.subscriptions = 0  # one more each time that Redis was away, or that the hub listens again

    async def listen(self, group: str, listener: Listener) -> None:
        """Pass the group's events to the listener from now on, or from when Redis answers again.

        Wait until it is known whether Redis answers, but at most `SUBSCRIBE_TIMEOUT_SECONDS`.
        """
        self._listeners[group].add(listener)
        if self._hearing is None:
            self._hearing = asyncio.create_task(self._hear(), context=contextvars.Context())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SUBSCRIBE_TIMEOUT_SECONDS):
                await self._has_tried.wait()

    def leave(self, group: str, listener: Listener) -> None:
        """Stop passing the group's events to the listener. Without any listener left, the hub unsubscribes."""
        self._listeners[group].discard(listener)
        if not self._listeners[group]:
            del self._listeners[group]
        if not self._listeners and self._hearing:
            self._hearing.cancel()
            self._hearing = None
            self.is_subscribed = False
            self._has_tried.clear()

    async def _hear(self) -> None:
        while True:
            try:
                async with redis_client().pubsub() as pubsub:
                    await pubsub.subscribe(settings.EVENTS_CHANNEL)
                    while True:
                        message = await pubsub.get_message(timeout=PING_SECONDS)
                        if message is None:  # the ping detects a connection that was lost silently
                            await pubsub.ping()
                        elif message["type"] == "subscribe":
                            self.subscriptions += 1
                            self._note(is_subscribed=True)
                        elif message["type"] == "message":
                            self._pass_on(message["data"])
            except REDIS_UNAVAILABLE:
                self._note(is_subscribed=False)
                await asyncio.sleep(1)

    def _note(self, *, is_subscribed: bool) -> None:
        self.is_subscribed = is_subscribed
        self._has_tried.set()

    def _pass_on(self, data: bytes) -> None:
        for group, event in orjson.loads(data):
            for listener in tuple(self._listeners.get(group, ())):
                listener(event)


@one_per_loop
def hub() -> Hub:
    """Return the hub of the running event loop."""
    return Hub()


# -- frames, as sockets and the API send them --------------------------------------------------------------------------

FAILURES = (
    ProviderUnavailable,
    ProviderBusy,
    LimitReached,
    AllowanceSpent,
    ModelMissing,
    ModelLoading,
    ProviderRefused,
    AnswerWithheld,
    ContextTooLong,
    EmptyAnswer,
    MalformedError,
)
CUT_AT_LIMIT, CUT_AT_LOOP, CUT_OFF = "answer_limit", "answer_loop", "cut_off"
OWN_MODEL_FAILED, DISK_FULL = "own_model_failed", "disk_full"
SENTENCES = {error.code: error.sentence for error in FAILURES} | {
    OWN_MODEL_FAILED: gettext_lazy(
        "Your own model did not answer. Your message is kept; “Your own models” in the settings shows what went wrong."
    ),
    DISK_FULL: queries.DISK_FULL,
    CUT_AT_LIMIT: gettext_lazy("This answer reached its length limit and was cut off there."),
    CUT_AT_LOOP: gettext_lazy("The model began to repeat itself; the answer was cut off there."),
    CUT_OFF: gettext_lazy("This answer was cut off; what was said so far is kept."),
}


def render_message(message: Message) -> dict[str, Any]:
    return {
        "id": str(message.pk),
        "role": message.role,
        "text": message.text,
        "client_id": message.client_id,
        "quoted": str(message.quoted_id) if message.quoted_id else None,
        "said_at": message.said_at.isoformat(),
        "is_hidden": message.is_hidden,
        "is_rehearsed": message.is_rehearsed,
        "model": message.model,
        "is_stand_in": message.is_stand_in,
    }


def render_saved(message: Message, reply: Reply) -> dict[str, Any]:
    """Return the frame that says that a message is saved, and which reply it will get."""
    waiting = {"id": str(reply.pk), "state": reply.state}
    return {"type": "message.saved", "message": render_message(message), "reply": waiting}


def render_recalled(found: Iterable[Found | Recalled]) -> list[dict[str, Any]]:
    return [
        {
            "id": str(hit.memory.pk),
            "kind": hit.memory.kind,
            "text": hit.memory.text,
            "happened_at": hit.memory.happened_at.isoformat(),
            "score": hit.score,
            "reasons": hit.reasons,
            "message_id": str(hit.memory.message_id) if hit.memory.message_id else None,
        }
        for hit in found
    ]


def render_heard(reply: Reply) -> dict[str, Any]:
    """Return the frame that says which text of an interrupted reply is kept, with the answer it became, if any."""
    answer = render_message(reply.answer) if reply.answer else None
    ids = {"id": str(reply.pk), "message_id": str(reply.message_id)}
    return {"type": "reply.heard", **ids, "text": reply.text, "message": answer}


def render_ending(reply: Reply, companion: Companion) -> dict[str, Any]:
    """Return the fields of a reply's last frame: the answer and, if the reply has a `code`, its description."""
    fields: dict[str, Any] = {"message": render_message(reply.answer) if reply.answer else None}
    if reply.code:
        with companion.user.use_language():
            fields |= {"code": reply.code, "detail": describe_failure(reply.code)}
    return fields


def describe_failure(code: str) -> str:
    """Return a sentence in the active language on what the error `code` of a reply means and what to do."""
    return str(
        SENTENCES.get(code) or _("Something went wrong on Kith's side. Your message is kept; try again.")
    )
