"""Keeping memories from models, and giving them back; their owner sees and finds them all the while."""

from datetime import datetime

from django.db import transaction

from companions.deletion.derived import conceal_all
from companions.locking import hold
from companions.models import Message
from memory.models import Memory


@transaction.atomic
def keep_private(memory: Memory, is_private: bool, now: datetime) -> None:
    """The memory is kept from models from now on, or is not any more.

    With what was said its message is hidden from prompts. What was drawn from it alone becomes private too; given back,
    it is given back alone: what else has become private may have been wanted so.
    """
    companion = hold(memory.companion_id)
    there = Memory.objects.of(memory.companion_id).filter(pk=memory.pk).select_related("message").first()
    if companion is None or there is None or there.is_private == is_private:
        return
    if there.message:
        Message.objects.filter(pk=there.message.pk).update(is_hidden=is_private)
    if is_private:
        messages, sources = ([there.message], []) if there.message else ([], list(there.sources.all()))
        conceal_all(companion, now, messages=messages, sources=sources, memories=[there])
    Memory.objects.filter(pk=there.pk).update(is_private=is_private)
    memory.is_private = is_private
