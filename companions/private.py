"""Keeping memories from models, and giving them back; their owner sees and finds them all the while."""

from datetime import datetime

from django.db import transaction

from companions.deletion.derived import conceal_all
from companions.deletion.memories import SUMS
from companions.deletion.reminders import reminders
from companions.locking import hold
from companions.models import Companion, Message
from memory.models import Memory


@transaction.atomic
def keep_private(memory: Memory, is_private: bool, now: datetime) -> None:
    """The memory is kept from models from now on, or is not any more.

    The messages that it mirrors, or was learnt from, are private with it and hidden from prompts: else the same were
    learnt again. What was drawn from it alone becomes private too. Given back, it is given back alone, or with what it
    mirrors: what else has become private may have been wanted so.
    """
    companion = hold(memory.companion_id)
    there = Memory.objects.of(memory.companion_id).filter(pk=memory.pk).select_related("message").first()
    if companion is None or there is None or there.is_private == is_private:
        return
    if is_private:
        _conceal(companion, there, now)
    elif there.message:
        Message.objects.filter(companion=companion, pk=there.message.pk).update(is_hidden=False)
    Memory.objects.filter(companion=companion, pk=there.pk).update(is_private=is_private)
    memory.is_private = is_private


def hides_sources(memory: Memory) -> bool:
    """Whether messages are hidden with it: those that it was learnt from; what sums up many hides none of them."""
    return memory.message_id is None and memory.kind not in SUMS and memory.sources.exists()


def _conceal(companion: Companion, memory: Memory, now: datetime) -> None:
    """What it comes from, and what tells of it, is kept from models."""
    messages, sources = ([memory.message], []) if memory.message else ([], list(memory.sources.all()))
    again = reminders(companion, now, messages=messages, sources=sources, memories=[memory])
    conceal_all(companion, now, messages=[*messages, *again], sources=sources, memories=[memory])
    hidden = [one.pk for one in (*again, *(sources if hides_sources(memory) else messages))]
    Message.objects.filter(companion=companion, pk__in=hidden).update(is_hidden=True)
    Memory.objects.of(companion.pk).filter(message__in=hidden).update(is_private=True)
