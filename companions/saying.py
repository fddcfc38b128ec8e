"""Saving what is said: every message is mirrored as a memory in the same transaction."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from companions.models import Companion, Conversation, Message, Session
from memory.keeping import Said, keep_said
from memory.together import Asked

SPEAKERS = {Message.Role.USER: "user", Message.Role.ASSISTANT: "companion"}


def say(message: Message, now: datetime, *then: Asked[Any]) -> Message:
    """The message, saved and remembered; `then` is asked in the same trip. Call it inside a transaction."""
    say_all(message.companion, [message], now, *then)
    return message


def say_all(companion: Companion, messages: Sequence[Message], now: datetime, *then: Asked[Any]) -> None:
    """Save and remember many messages of one companion at once. Call it inside a transaction."""
    said = [
        Said(
            message_id=message.id,
            text=message.text,
            speaker=SPEAKERS[Message.Role(message.role)],
            happened_at=message.said_at,
        )
        for message in messages
    ]
    keep_said(companion.pk, said, now, zone=companion.user.zone, messages=messages, then=then)


def open_session(conversation: Conversation, now: datetime) -> Session:
    """The conversation's open session; a new one where the last was closed."""
    session, _ = Session.objects.get_or_create(
        conversation=conversation,
        ended_at=None,
        defaults={"companion_id": conversation.companion_id, "started_at": now},
    )
    return session
