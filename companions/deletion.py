"""Deleting for good: what a person deletes is gone from every table, from Redis, and from every later prompt.

What a turn kept of it goes as well: prompts as sent, cues, tools' arguments, the provider's words, and the
memories that were drawn from nothing else.
"""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

import redis
from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet

from accounts.models import ModelCall
from companions.models import Companion, Conversation, Message, Prompt, Reply
from companions.replies.stream import key_of
from memory.models import Memory, Recall


@transaction.atomic
def delete_message(message: Message, now: datetime) -> None:
    """The message is gone, with its memory and with what was drawn from it alone."""
    derived = Memory.objects.filter(sources=message).exclude(
        sources__in=Message.objects.exclude(pk=message.pk)
    )
    memories = Memory.objects.filter(Q(message=message) | Q(pk__in=derived.values("pk")))
    _scrub(message.companion_id, {message.pk, *memories.values_list("pk", flat=True)})
    _scrub_replies(Reply.objects.filter(Q(message=message) | Q(answer=message)))
    memories.delete()
    _close_gap(message)
    message.delete()


@transaction.atomic
def forget(memory: Memory, now: datetime, with_message: bool = False) -> None:
    """The memory is gone; the message that it came from is hidden from every later prompt, or deleted too."""
    sources = [memory.message] if memory.message else list(memory.sources.all())
    _scrub(memory.companion_id, {memory.pk})
    memory.delete()
    for message in sources:
        if with_message:
            delete_message(message, now)
        else:
            Message.objects.filter(pk=message.pk).update(is_hidden=True)
            _scrub(message.companion_id, {message.pk})


def delete_rehearsed(companion: Companion, now: datetime) -> int:
    """Delete all that the rehearsal model wrote; how many messages that were."""
    rehearsed = list(companion.messages.filter(is_rehearsed=True).order_by("-said_at"))
    for message in rehearsed:
        delete_message(message, now)
    return len(rehearsed)


def _scrub(companion_id: UUID, ids: Collection[UUID]) -> None:
    """Drop every kept prompt that showed one of these, and what its reply's tools and provider said of them."""
    prompts = Prompt.objects.filter(companion_id=companion_id, shown__overlap=list(ids))
    replies = list(prompts.values_list("reply_id", flat=True).distinct())
    prompts.delete()
    _scrub_traces(replies)


def _scrub_traces(replies: Collection[UUID]) -> None:
    Reply.objects.filter(pk__in=replies).update(tool_calls=[], thought="")
    ModelCall.objects.filter(reply__in=replies).update(said="")
    Recall.objects.filter(reply__in=replies, by=Recall.By.TOOL).update(cue="")


def _scrub_replies(replies: QuerySet[Reply]) -> None:
    """Blank the replies to a deleted message, and those that became it: text, cues, pieces in Redis."""
    ids = list(replies.values_list("pk", flat=True))
    _scrub_traces(ids)
    Reply.objects.filter(pk__in=ids).update(text="")
    Recall.objects.filter(reply__in=ids).update(cue="")
    if ids:
        transaction.on_commit(lambda: _drop_pieces(ids), robust=True)


def _drop_pieces(reply_ids: Collection[UUID]) -> None:
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        client.delete(*map(key_of, reply_ids))


def _close_gap(message: Message) -> None:
    """What followed the message follows what came before it."""
    message.children.update(parent=message.parent_id)
    Conversation.objects.filter(head=message).update(head=message.parent_id)
