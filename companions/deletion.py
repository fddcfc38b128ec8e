"""Deleting for good: what a person deletes is gone from every table, from Redis, and from every later prompt.

What turns kept of it goes as well: prompts as sent, cues, tools' arguments, reasoning, the provider's words, and
the memories that were drawn from it. A reply under way that was shown it ends, `interrupted`: what its process
holds in its hands could otherwise come back. Whatever writes such things holds the companion's row meanwhile.
"""

from collections.abc import Collection, Iterable
from copy import copy
from datetime import datetime
from functools import partial
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.db.models.signals import pre_delete
from django.dispatch import receiver
from django.utils import timezone

from accounts.models import ModelCall
from companions.locking import lock
from companions.models import Companion, Conversation, Message, Prompt, Reply
from companions.replies import stream
from companions.replies.finish import Said, finish, said_so_far
from memory.models import Memory, Recall


@transaction.atomic
def delete_message(message: Message, now: datetime) -> None:
    """The message is gone, with its memory and with all that was drawn from it."""
    lock(message.companion_id)
    if not Message.objects.filter(pk=message.pk).exists():
        return
    answering = set(Reply.objects.filter(message=message).values_list("pk", flat=True))
    became = _continued(Reply.objects.filter(answer=message).values_list("pk", flat=True))
    memories = Memory.objects.filter(Q(message=message) | Q(sources=message))
    gone = {message.pk, *memories.values_list("pk", flat=True)}
    Reply.objects.filter(pk__in=answering).delete()
    _scrub(message.companion_id, gone, now, became)
    _delete_memories(gone)
    _close_gap(message)
    Message.objects.filter(pk=message.pk).delete()


@transaction.atomic
def forget(memory: Memory, now: datetime, with_message: bool = False) -> None:
    """The memory is gone; the message that it came from is hidden from every later prompt, or deleted too."""
    lock(memory.companion_id)
    sources = [memory.message] if memory.message else list(memory.sources.all())
    drawn = Memory.objects.filter(sources=memory.message) if memory.message else Memory.objects.none()
    gone = {memory.pk, *drawn.values_list("pk", flat=True)}
    _scrub(memory.companion_id, {*gone, *(message.pk for message in sources)}, now)
    _delete_memories(gone)
    for message in sources:
        if with_message:
            delete_message(message, now)
        else:
            Message.objects.filter(pk=message.pk).update(is_hidden=True)


@transaction.atomic
def forget_gists(companion_id: UUID, ids: Collection[UUID], now: datetime) -> None:
    """The memories of these ids are gone, and what turns have kept of them, or of a document of such an id."""
    lock(companion_id)
    _scrub(companion_id, ids, now)
    _delete_memories(ids)


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


@transaction.atomic
def delete_companion(companion: Companion) -> None:
    """The companion is gone with everything of it; how much was used stays counted."""
    lock(companion.pk)
    # Whoever embeds holds memories first and then needs the companion; asked for in that order, neither waits forever.
    list(companion.memories.select_for_update().order_by("pk").values_list("pk"))
    companion.delete()


@receiver(pre_delete, sender=Companion)
def _forget_words(instance: Companion, **_: object) -> None:
    """The calls of a companion that is deleted, from wherever, stay without the provider's words."""
    ModelCall.objects.filter(companion=instance).exclude(said="").update(said="")


@receiver(pre_delete, sender=Reply)
def _forget_pieces(instance: Reply, **_: object) -> None:
    """A reply that is deleted, from wherever, leaves nothing in Redis and no words of the provider."""
    ModelCall.objects.filter(reply=instance).exclude(said="").update(said="")
    if instance.ended_at is None or instance.ended_at > timezone.now() - settings.PIECES_KEPT:
        _wipe_later([instance.pk])


def delete_rehearsed(companion: Companion, now: datetime) -> int:
    """Delete all that the rehearsal model wrote; how many messages that were."""
    rehearsed = list(companion.messages.filter(is_rehearsed=True).order_by("-said_at"))
    for message in rehearsed:
        delete_message(message, now)
    return len(rehearsed)


def _continued(reply_ids: Iterable[UUID]) -> set[UUID]:
    """These replies and those that they go on from, or that go on from them: each holds the text before it."""
    known, new = set[UUID](), set(reply_ids)
    while new:
        known |= new
        near = Reply.objects.filter(Q(continues__in=new) | Q(continued_by__in=new))
        new = set(near.values_list("pk", flat=True)) - known
    return known


def _scrub(companion_id: UUID, ids: Collection[UUID], now: datetime, became: Collection[UUID] = ()) -> None:
    """Drop what replies have kept of these messages and memories, those that `became` one of them most of all."""
    recalls = Recall.objects.filter(companion_id=companion_id, found__memory__in=ids)
    prompts = Prompt.objects.filter(companion_id=companion_id, shown__overlap=list(ids))
    shown = {*became, *prompts.values_list("reply_id", flat=True)}
    shown |= set(recalls.exclude(reply=None).values_list("reply_id", flat=True))
    Reply.objects.filter(pk__in=became).update(text="", continues=None)
    for reply in Reply.objects.under_way().filter(pk__in=shown):
        said = Said(seq=reply.seq) if reply.pk in became else said_so_far(reply)
        finish(reply, Reply.State.INTERRUPTED, said, now, held_by=reply.lease_by)
    Reply.objects.filter(pk__in=shown).update(tool_calls=[], thought="")
    Prompt.objects.filter(reply__in=shown).delete()
    ModelCall.objects.filter(reply__in=shown).exclude(said="").update(said="")
    asked = Q(pk__in=list(recalls.values_list("pk", flat=True))) | Q(reply__in=shown, by=Recall.By.TOOL)
    Recall.objects.filter(asked).exclude(by=Recall.By.TURN).update(cue="")
    _wipe_later(list(shown))


def _delete_memories(ids: Collection[UUID]) -> None:
    """Locked first: whoever embeds one of them now would otherwise leave a vector that its memory's end stumbles over."""
    memories = Memory.objects.filter(pk__in=ids)
    list(memories.select_for_update(of=("self",)).order_by("pk").values_list("pk"))
    memories.delete()


def _wipe_later(reply_ids: Collection[UUID]) -> None:
    if reply_ids:
        transaction.on_commit(partial(stream.wipe, reply_ids), robust=True)


def _close_gap(message: Message) -> None:
    """What followed the message follows what came before it."""
    message.children.update(parent=message.parent_id)
    Conversation.objects.filter(head=message).update(head=message.parent_id)
