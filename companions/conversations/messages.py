"""Messages: check them, save them with their memories, and load the path of a conversation."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.utils.translation import gettext as _

from companions.errors import QuoteError, TextError
from companions.models import Companion, Conversation, Message, Session
from memory.store import Said, keep_said
from text.strings import is_storable

SPEAKERS = {Message.Role.USER: "user", Message.Role.ASSISTANT: "companion"}
# Walk a path from child to parent, which no queryset can express.
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
# Walk on from a message: of its children, only one is awake.
ONWARD = """
WITH RECURSIVE path AS (
    SELECT id, 0 AS depth FROM companions_message
    WHERE id = %(start)s AND conversation_id = %(conversation)s AND NOT is_asleep
  UNION ALL
    SELECT message.id, path.depth + 1
    FROM companions_message message JOIN path ON message.parent_id = path.id
    WHERE path.depth < %(limit)s AND NOT message.is_asleep
)
SELECT message.*, path.depth FROM companions_message message JOIN path USING (id) WHERE depth > 0 ORDER BY path.depth
"""
PATH = WALK.format(columns="message.*, path.depth")
SPOKEN = WALK.format(
    columns="message.id, message.role, message.text, message.is_hidden,"
    " (SELECT id FROM memory_memory WHERE message_id = message.id), message.said_at,"
    " coalesce((SELECT emotions FROM companions_reply WHERE answer_id = message.id),"
    " (SELECT emotions FROM companions_waking WHERE id = message.waking_id), '[]')::text,"
    " coalesce((SELECT tool_calls FROM companions_reply WHERE answer_id = message.id), '[]')::text,"
    " coalesce((SELECT json_build_object('id', id, 'role', role, 'text', left(text, 4000)) FROM companions_message"
    " WHERE id = message.quoted_id AND NOT is_hidden), 'null')::text,"
    " coalesce((SELECT json_agg(json_build_array(name, document_id IS NULL) ORDER BY created_at, id)"
    " FROM companions_attachment WHERE message_id = message.id), '[]')::text,"
    " (message.waking_id IS NOT NULL)::text"
)


def check_text(text: str) -> None:
    """Raise TextError if the text is empty, too long, or not storable as UTF-8."""
    if not text.strip():
        raise TextError("empty_message", _("This message is empty."))
    if len(text) > settings.MESSAGE_CHARACTERS:
        limit = f"{settings.MESSAGE_CHARACTERS:,}"
        raise TextError(
            "message_too_long", _("A message can have at most %(limit)s characters.") % {"limit": limit}
        )
    if not is_storable(text):
        raise TextError("bad_text", _("This message contains characters that are not text."))


def check_quoted(companion: Companion, quoted: UUID | None) -> None:
    """Raise QuoteError if the quoted message is not on the companion's chosen branch, or is hidden from prompts."""
    sayable = Message.objects.filter(companion=companion, is_hidden=False)
    if quoted and not sayable.filter(pk=quoted).exists():
        raise QuoteError("no_such_message", _("The message you are quoting is no longer there."))


def say(message: Message, now: datetime) -> Message:
    """Save the message and its memory. Call it inside a transaction."""
    say_all(message.companion, [message], now)
    return message


def say_all(companion: Companion, messages: Sequence[Message], now: datetime) -> None:
    """Save many messages of one companion, each with its memory, except for Kith's own notices, which have none.

    Call it inside a transaction.
    """
    Message.objects.bulk_create(messages, batch_size=1000)
    said = [
        Said(
            message_id=message.id,
            text=message.text,
            speaker=SPEAKERS[Message.Role(message.role)],
            happened_at=message.said_at,
        )
        for message in messages
        if message.role in SPEAKERS
    ]
    keep_said(companion.pk, said, now, zone=companion.user.zone)


def open_session(conversation: Conversation, now: datetime) -> Session:
    """Return the conversation's open session, and create one if the last is closed."""
    session, _is_new = Session.objects.get_or_create(
        conversation=conversation,
        ended_at=None,
        defaults={"companion_id": conversation.companion_id, "started_at": now},
    )
    return session


class Spoken(NamedTuple):
    """The parts of a message that a prompt needs. For hundreds, loading whole rows would take five times as long.

    `emotions` are those that the companion showed in it, each with its place in the text; `calls` are the tool calls
    before it; `quoted` is the message that it quotes, with id, role and text; `files` are its attachments, each by name
    and whether it is a picture.
    """

    pk: UUID
    role: str
    text: str
    is_hidden: bool
    memory_id: UUID | None
    said_at: datetime
    emotions: Sequence[Mapping[str, object]] = ()
    calls: Sequence[Mapping[str, Any]] = ()
    quoted: Mapping[str, str] | None = None
    files: Sequence[tuple[str, bool]] = ()
    is_unprompted: bool = False


def load_path(conversation: Conversation, start: UUID | None, limit: int) -> list[Message]:
    """Return at most `limit` messages of the path from `start` back to the first message, newest first."""
    parameters = {"start": start, "conversation": conversation.pk, "limit": limit, "session": None}
    return list(Message.objects.raw(PATH, parameters)) if start else []


def load_spoken(message: Message, limit: int) -> list[Spoken]:
    """Return at most `limit` messages from `message` back to the first one of its session, newest first."""
    start, conversation = message.pk, message.conversation_id
    parameters: dict[str, Any] = {"start": start, "conversation": conversation, "limit": limit}
    with connection.cursor() as cursor:
        cursor.execute(SPOKEN, parameters | {"session": message.session_id})
        rows = cursor.fetchall()
    return [Spoken(*row[:-5], *map(json.loads, row[-5:])) for row in rows]


def load_page(
    conversation: Conversation, before: UUID | None, limit: int
) -> tuple[list[Message], UUID | None]:
    """Return at most `limit` messages before `before` (or the newest, for None), newest first, and the `before` of the
    next page, or None.
    """
    start = conversation.head_id
    if before is not None:
        earlier = Message.objects.filter(conversation=conversation, pk=before)
        start = earlier.values_list("parent_id", flat=True).first()
    messages = load_path(conversation, start, limit)
    return messages, messages[-1].pk if len(messages) == limit and messages[-1].parent_id else None


def load_page_after(conversation: Conversation, after: UUID, limit: int) -> tuple[list[Message], UUID | None]:
    """Return at most `limit` messages after `after`, oldest first, and the `after` of the next page, or None."""
    parameters = {"start": after, "conversation": conversation.pk, "limit": limit}
    messages = list(Message.objects.raw(ONWARD, parameters))
    return messages, messages[-1].pk if messages and messages[-1].pk != conversation.head_id else None


def find_first_since(companion: Companion, since: datetime) -> Message | None:
    """Return the first message on the chosen branch that was said at `since` or later, or None if there is none."""
    later = Message.objects.filter(companion=companion, said_at__gte=since)
    return later.order_by("said_at", "id").first()
