"""Forgetting memories, one or many; the messages that they come from are hidden from later prompts, or deleted too."""

from collections.abc import Collection
from copy import copy
from datetime import datetime
from uuid import UUID

from django.db import transaction

from companions.deletion import hiding
from companions.deletion.derived import unlearn_all
from companions.deletion.messages import drop
from companions.deletion.reminders import reminders
from companions.deletion.scrubbing import delete_memories, scrub
from companions.deletion.withdrawing import drop_pages
from companions.locking import hold, lock
from companions.models import Companion, Message
from database.timeouts import lift_statement_timeout
from memory.models import Memory

MOST_AT_ONCE = 500
SUMS = (
    Memory.Kind.DIARY,
    Memory.Kind.GIST,
    Memory.Kind.INSIGHT,
)  # to forget one hides nothing of what it sums up


def forget(memory: Memory, now: datetime, with_message: bool = False) -> None:
    """The memory is gone; the message that it came from is hidden from every later prompt, or deleted too."""
    forget_many(memory.companion_id, [memory.pk], now, with_messages=with_message)


def forget_every(
    companion_id: UUID, kinds: Collection[str], now: datetime, with_messages: bool = False
) -> int:
    """How many memories, of these kinds or of all, are gone now: 500 in one transaction, those that hold no more too."""
    chosen, count = Memory.objects.of(companion_id), 0
    chosen = chosen.filter(kind__in=kinds) if kinds else chosen
    while ids := list(chosen.order_by("pk").values_list("pk", flat=True)[:MOST_AT_ONCE]):
        count += forget_many(companion_id, ids, now, with_messages=with_messages)
    return count


@transaction.atomic
def forget_many(companion_id: UUID, ids: Collection[UUID], now: datetime, with_messages: bool = False) -> int:
    """How many of these memories are gone now, as if each had been forgotten alone.

    What was drawn from a message that was said goes with its memory. Of what was drawn from the messages behind a learnt
    memory, what shares a word with it goes, of what was learnt from them what holds a word that nothing else tells.
    """
    lift_statement_timeout()
    companion = hold(companion_id)
    if companion is None:
        return 0
    chosen = Memory.objects.of(companion_id).filter(pk__in=ids).defer("entry")
    memories = list(chosen.select_related("message").prefetch_related("sources"))
    said = {one.message.pk: one.message for one in memories if one.message}
    learnt = (one for one in memories if not one.message and one.kind not in SUMS)
    sources = {message.pk: message for one in learnt for message in one.sources.all()}
    if with_messages:
        drop(companion, list({**sources, **said}.values()), memories, now)
    elif memories:
        sources = {pk: message for pk, message in sources.items() if pk not in said}
        _hide(companion, list(said.values()), list(sources.values()), memories, now)
    return len(memories)


def _hide(
    companion: Companion,
    messages: Collection[Message],
    sources: Collection[Message],
    memories: Collection[Memory],
    now: datetime,
) -> None:
    """The memories go; their messages stay for the eye, and so do reminders of what was said in them."""
    messages = [*messages, *reminders(companion, now, messages=messages, sources=sources, memories=memories)]
    mirrors = Memory.objects.of(companion.pk).filter(message__in=[one.pk for one in messages]).defer("entry")
    memories = list({one.pk: one for one in (*memories, *mirrors)}.values())
    unlearnt = unlearn_all(companion, now, messages=messages, sources=sources, memories=memories)
    gone = {*(one.pk for one in memories), *unlearnt.deleted}
    hidden = {one.pk for one in (*messages, *sources)}
    scrub(companion.pk, {*gone, *hidden, *unlearnt.changed, *unlearnt.lived}, now)
    delete_memories(companion.pk, gone)
    drop_pages(companion)
    Message.objects.filter(companion=companion, pk__in=hidden).update(is_hidden=True)
    hiding.hidden.send(sender=Message, companion_id=companion.pk, ids=hidden)


@transaction.atomic
def forget_gists(companion_id: UUID, ids: Collection[UUID], now: datetime) -> None:
    """The memories of these ids are gone with all that was drawn from them, and what turns kept, also of a document."""
    lock(companion_id)
    scrub(companion_id, ids, now)
    forget_many(companion_id, ids, now)


@transaction.atomic
def forget_newest(companion: Companion, now: datetime, with_message: bool = False) -> Memory | None:
    """The newest memory that holds, as it was before it was forgotten; None where there is none.

    It stands here and not beside `MemoryQuerySet.newest`: memory knows nothing of prompts, replies and streams, and
    a queryset's own `delete` would leave there what the memory said.
    """
    lock(companion.pk)
    newest = Memory.objects.of(companion.pk).open().select_related("message").newest(1).first()
    if newest is None:
        return None
    gone = copy(newest)
    forget(newest, now, with_message=with_message)
    return gone
