"""What a person does to what their companion remembers: one writer at a time, under the companion's lock."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from companions.deletion import SUMMARIES
from companions.deletion.dependents import build_scope, find_reminders
from companions.deletion.withdrawal import clear_summaries, conceal
from companions.locks import hold, lock
from companions.models import Companion, Message
from memory.errors import UndoError
from memory.learning import revisions
from memory.models import Memory, Retraction, Revision
from memory.retraction import undo_retraction


@transaction.atomic
def set_private(memory: Memory, is_private: bool, now: datetime) -> None:
    """Keep the memory from models from now on, or give it back to them; its owner sees it all the while.

    The messages that it mirrors, or was learnt from, become private with it and hidden from prompts: else the same were
    learnt again. What was drawn from it alone becomes private too. Given back, it is given back alone, or with what it
    mirrors: what else has become private may have been wanted so.
    """
    companion = hold(memory.companion_id)
    stored = Memory.objects.of(memory.companion_id).filter(pk=memory.pk).select_related("message").first()
    if companion is None or stored is None or stored.is_private == is_private:
        return
    if is_private:
        _conceal(companion, stored, now)
    elif stored.message:
        Message.objects.filter(companion=companion, pk=stored.message.pk).update(is_hidden=False)
    Memory.objects.filter(companion=companion, pk=stored.pk).update(is_private=is_private)
    memory.is_private = is_private


def hides_sources(memory: Memory) -> bool:
    """Whether the messages that it was learnt from are hidden with it; what sums up many hides none of them."""
    return memory.message_id is None and memory.kind not in SUMMARIES and memory.sources.exists()


def _conceal(companion: Companion, memory: Memory, now: datetime) -> None:
    """Keep from models what the memory comes from and what tells of it."""
    messages, sources = ([memory.message], []) if memory.message else ([], list(memory.sources.all()))
    reminders = find_reminders(companion, now, messages=messages, sources=sources, memories=[memory])
    scope = build_scope(companion, now, [*messages, *reminders], sources, [memory])
    conceal(companion, scope)
    clear_summaries(companion, scope, [*messages, *reminders, *sources])
    hidden = (*reminders, *(sources if hides_sources(memory) else messages))
    hidden_ids = [message.pk for message in hidden]
    Message.objects.filter(companion=companion, pk__in=hidden_ids).update(is_hidden=True)
    Memory.objects.of(companion.pk).filter(message__in=hidden_ids).update(is_private=True)


@transaction.atomic
def undo_retraction_of(companion: Companion, memory_id: UUID, now: datetime) -> None:
    """Let a memory hold again that was forgotten or revised, or its slot say it again; UndoError, CoreMemoryError."""
    lock(companion.pk)
    mine = Retraction.objects.filter(companion=companion, memory=memory_id)
    retraction = mine.select_related("memory__replaced_by").first()
    if retraction is None:
        raise UndoError("nothing_to_undo", _("There is nothing to undo here."))
    undo_retraction(retraction, now)


@transaction.atomic
def write_revision(companion: Companion, about: str, texts: Sequence[str], now: datetime) -> Revision:
    """Write the self-concept or user profile as the user has it; return the one before where nothing has changed."""
    lock(companion.pk)
    return revisions.rewrite(companion.pk, about, texts, now)


@transaction.atomic
def restore_revision(companion: Companion, revision: Revision, now: datetime) -> Revision:
    """Write a revision that says what the given one says; Revision.DoesNotExist.

    It is read after the lock: a deletion that was waited for may have taken something out of it.
    """
    lock(companion.pk)
    stored = Revision.objects.of(companion.pk, revision.about).get(pk=revision.pk)
    return revisions.restore(stored, now)
