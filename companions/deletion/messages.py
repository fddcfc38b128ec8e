"""Deleting messages, with their memories and all that was drawn from them."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from django.db import transaction

from companions.deletion.derived import unlearn_all
from companions.deletion.reminders import reminders
from companions.deletion.scrubbing import continued, delete_memories, scrub
from companions.deletion.withdrawing import drop_pages
from companions.locking import hold
from companions.models import Companion, Conversation, Message, Reply
from database.timeouts import lift_statement_timeout
from memory.models import Memory


def delete_message(message: Message, now: datetime) -> None:
    """The message is gone, with its memory and with all that was drawn from it."""
    delete_messages(message.companion_id, [message.pk], now)


@transaction.atomic
def delete_messages(companion_id: UUID, ids: Collection[UUID], now: datetime) -> int:
    """How many of these messages of the companion are gone now, with their memories and all that was drawn from them."""
    lift_statement_timeout()
    companion = hold(companion_id)
    if companion is None:
        return 0
    messages = list(Message.objects.filter(companion=companion, pk__in=ids))
    if messages:
        drop(companion, messages, (), now)
    return len(messages)


def drop(
    companion: Companion, messages: Collection[Message], memories: Collection[Memory], now: datetime
) -> None:
    """These messages and memories are gone. Call it with the companion held."""
    mirrors = _mirrors(companion, messages)
    again = reminders(companion, now, messages=messages, memories=[*mirrors, *memories])
    messages = [*messages, *again]
    ids = {one.pk for one in messages}
    became = continued(Reply.objects.filter(answer__in=ids).values_list("pk", flat=True))
    every = {one.pk: one for one in (*mirrors, *_mirrors(companion, again), *memories)}
    unlearnt = unlearn_all(companion, now, messages=messages, memories=list(every.values()))
    gone = {*every, *unlearnt.deleted}
    Reply.objects.filter(companion=companion, message__in=ids).delete()
    scrub(companion.pk, {*ids, *gone, *unlearnt.changed, *unlearnt.lived}, now, became)
    delete_memories(companion.pk, gone)
    drop_pages(companion)
    _close_gaps(companion, messages)
    Message.objects.filter(companion=companion, pk__in=ids).delete()


def _mirrors(companion: Companion, messages: Collection[Message]) -> list[Memory]:
    """The memories of what was said in them."""
    return list(Memory.objects.of(companion.pk).filter(message__in=messages).defer("entry"))


def _close_gaps(companion: Companion, messages: Collection[Message]) -> None:
    """What followed a message follows what came before it, and what came before that where it goes too."""
    before = {one.pk: one.parent_id for one in messages}
    children = list(Message.objects.filter(parent__in=before).exclude(pk__in=before).only("parent"))
    for child in children:
        child.parent_id = _there_before(child.parent_id, before)
    Message.objects.bulk_update(children, ["parent"], batch_size=500)
    conversation = Conversation.objects.filter(companion=companion, head__in=before).first()
    if conversation:
        head = _there_before(conversation.head_id, before)
        Conversation.objects.filter(pk=conversation.pk).update(head=head)


def _there_before(id: UUID | None, before: dict[UUID, UUID | None]) -> UUID | None:
    while id in before:
        id = before[id]
    return id
