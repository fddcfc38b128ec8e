"""What turns have kept of what goes: prompts as sent, cues, tools' arguments, reasoning, the provider's words."""

from collections.abc import Collection, Iterable
from datetime import datetime
from functools import partial
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.db.models.signals import pre_delete
from django.dispatch import receiver
from django.utils import timezone

from accounts.models import ModelCall, SoundCall
from companions.models import Companion, Prompt, Reply
from companions.replies.broadcast import wipe_streams
from companions.replies.lifecycle import Said, finish, seal_and_read
from memory.models import Memory, Page, Recall


def scrub(companion_id: UUID, ids: Collection[UUID], now: datetime, became: Collection[UUID] = ()) -> None:
    """Drop what replies have kept of these messages and memories, those that `became` one of them most of all."""
    recalls = Recall.objects.filter(companion_id=companion_id, found__memory__in=ids)
    prompts = Prompt.objects.filter(companion_id=companion_id, shown__overlap=list(ids))
    shown = {*became, *prompts.values_list("reply_id", flat=True)}
    shown |= set(recalls.exclude(reply=None).values_list("reply_id", flat=True))
    Reply.objects.filter(pk__in=became).update(text="", continues=None)
    for reply in Reply.objects.under_way().filter(pk__in=shown):
        said = Said(seq=reply.seq) if reply.pk in became else seal_and_read(reply)
        finish(reply, Reply.State.INTERRUPTED, said, now, held_by=reply.lease_by)
    Reply.objects.filter(pk__in=shown).update(tool_calls=[], thought="")
    Prompt.objects.filter(reply__in=shown).delete()
    ModelCall.objects.filter(reply__in=shown).exclude(said="").update(said="")
    # Of which words sounds were made, none tells.
    SoundCall.objects.filter(companion=companion_id).exclude(said="").update(said="")
    asked = Q(pk__in=list(recalls.values_list("pk", flat=True))) | Q(reply__in=shown, by=Recall.By.TOOL)
    Recall.objects.filter(asked).exclude(by=Recall.By.TURN).update(cue="")
    _wipe_later(list(shown))


def find_continued(reply_ids: Iterable[UUID]) -> set[UUID]:
    """Return these replies and those that they go on from, or that go on from them: each holds the text before it."""
    known, new = set[UUID](), set(reply_ids)
    while new:
        known |= new
        near = Reply.objects.filter(Q(continues__in=new) | Q(continued_by__in=new))
        new = set(near.values_list("pk", flat=True)) - known
    return known


def delete_memories(companion_id: UUID, ids: Collection[UUID]) -> None:
    """Delete them, and with a gist what stands on its page, so that none is written for it again; its number stays.

    Locked first: whoever embeds one of them now would otherwise leave a vector that its memory's end stumbles over.
    """
    memories = Memory.objects.of(companion_id).filter(pk__in=ids)
    list(memories.select_for_update(of=("self",)).order_by("pk").values_list("pk"))
    Page.objects.filter(companion_id=companion_id, memory__in=ids).update(text="", gist="", call=None)
    memories.delete()


@receiver(pre_delete, sender=Companion)
def _forget_words(instance: Companion, **_: object) -> None:
    """The calls of a companion that is deleted, from wherever, stay without the provider's words."""
    for calls in (ModelCall.objects, SoundCall.objects):
        calls.filter(companion=instance).exclude(said="").update(said="")


@receiver(pre_delete, sender=Reply)
def _forget_pieces(instance: Reply, **_: object) -> None:
    """A reply that is deleted, from wherever, leaves nothing in Redis and no words of the provider."""
    ModelCall.objects.filter(reply=instance).exclude(said="").update(said="")
    if instance.ended_at is None or instance.ended_at > timezone.now() - settings.PIECES_KEPT:
        _wipe_later([instance.pk])


def _wipe_later(reply_ids: Collection[UUID]) -> None:
    if reply_ids:
        transaction.on_commit(partial(wipe_streams, reply_ids), robust=True)
