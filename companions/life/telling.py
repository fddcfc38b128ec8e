"""Telling a person of something wherever they are: through every socket of theirs, from any process, after the commit."""

from functools import partial
from typing import Any
from uuid import UUID

import orjson
import redis
import structlog
from django.conf import settings
from django.db import transaction

from companions.replies.layer import posted
from companions.replies.publish import group_of

log = structlog.get_logger(__name__)
Event = dict[str, Any]


def group_of_person(user_id: int) -> str:
    """The group of every socket that tells this person what concerns them."""
    return f"person.{user_id}"


def tell_person(user_id: int, frame: Event) -> None:
    """Send a frame to all of the person's sockets."""
    publish_on_commit(
        group_of_person(user_id), {"type": "person.frame", "frame": orjson.dumps(frame).decode()}
    )


def unread_changed(user_id: int) -> None:
    """Have the person's sockets count anew what is unread."""
    publish_on_commit(group_of_person(user_id), {"type": "person.unread"})


def tell_companion(companion_id: UUID, frame: Event) -> None:
    """Send a frame that belongs to no reply to everyone who listens to the companion."""
    told = {"type": "companion.frame", "frame": orjson.dumps(frame).decode(), "but": ""}
    publish_on_commit(group_of(companion_id), told)


def publish_on_commit(group: str, event: Event) -> None:
    """Send an event to a group of the channel layer, once what caused it is committed."""
    transaction.on_commit(partial(_publish, group, event), robust=True)


def _publish(group: str, event: Event) -> None:
    """Who is not reached now finds it in rows; so nobody waits for a Redis that is away."""
    channel, words = posted(group, event)
    try:
        with redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=1, socket_timeout=1) as client:
            client.publish(channel, words)
    except redis.RedisError as error:
        log.warning("not_told", error=type(error).__name__)
