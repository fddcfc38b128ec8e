"""The history of a conversation: the path from a message back to the first one."""

from typing import NamedTuple
from uuid import UUID

from django.db.models import Prefetch, prefetch_related_objects

from companions.models import Conversation, Message, Reply, Session
from companions.retractions import made_by_replies
from memory.together import Asked

WALK = """
WITH RECURSIVE path AS (
    SELECT id, parent_id, session_id, 1 AS depth FROM companions_message
    WHERE id = %(start)s AND conversation_id = %(conversation)s
      AND (%(session)s::uuid IS NULL OR session_id = %(session)s::uuid)
  UNION ALL
    SELECT message.id, message.parent_id, message.session_id, path.depth + 1
    FROM companions_message message JOIN path ON message.id = path.parent_id
    WHERE path.depth < %(limit)s AND (%(session)s::uuid IS NULL OR message.session_id = %(session)s::uuid)
)
SELECT {columns} FROM companions_message message JOIN path USING (id) ORDER BY path.depth
"""
PATH = WALK.format(columns="message.*, path.depth")
SAID = WALK.format(
    columns="message.id, message.role, message.text, message.is_hidden,"
    " (SELECT id FROM memory_memory WHERE message_id = message.id)"
)


class Spoken(NamedTuple):
    """What a prompt needs of a message: of hundreds, to make whole ones takes five times as long."""

    pk: UUID
    role: str
    text: str
    is_hidden: bool
    memory_id: UUID | None


def path(conversation: Conversation, start: UUID | None, limit: int) -> list[Message]:
    """At most `limit` messages from `start` back to the first, newest first."""
    parameters = {"start": start, "conversation": conversation.pk, "limit": limit, "session": None}
    return list(Message.objects.raw(PATH, parameters)) if start else []


def said(message: Message, limit: int) -> Asked[list[Spoken]]:
    """At most `limit` messages from this one back to the first of its session, newest first; to be asked."""
    parameters = {"start": message.pk, "conversation": message.conversation_id, "limit": limit}
    return Asked(
        SAID, parameters | {"session": message.session_id}, lambda rows: list(map(Spoken._make, rows))
    )


def page(conversation: Conversation, before: UUID | None, limit: int) -> tuple[list[Message], UUID | None]:
    """At most `limit` messages before that one (the newest for None), newest first, and where the next page begins."""
    start = conversation.head_id if before is None else before
    if before is not None:
        start = (
            Message.objects.filter(conversation=conversation, pk=before)
            .values_list("parent_id", flat=True)
            .first()
        )
    messages = path(conversation, start, limit)
    return messages, messages[-1].pk if len(messages) == limit and messages[-1].parent_id else None


def with_replies(messages: list[Message]) -> list[Message]:
    """The same messages with their sessions, with the replies that they were answered by, newest first, with what made
    them and what that closed, and with how they sounded: seven queries."""
    replies = Prefetch("replies", Reply.objects.order_by("-created_at"), to_attr="answers")
    sessions = Prefetch("session", Session.objects.select_related("diary_entry"))
    made_by = "made_by__recalls__found__memory", made_by_replies()
    prefetch_related_objects(messages, sessions, replies, *made_by, "recording")
    return messages
