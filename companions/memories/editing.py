"""A person's changes to their companion's memory, documents and diary. They hold on every branch."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from companions.deletion import delete_messages, forget_gists, forget_many
from companions.deletion.dependents import find_scope
from companions.deletion.traces import erase_from_journal, scrub_lines
from companions.deletion.withdrawal import clear_summaries, conceal
from companions.models import Companion, Message
from companions.models.companion import hold, lock
from database.deletions import note_deletions
from database.journal import erasing, everywhere
from jobs.background import enqueue
from memory.core_memory import delete_block, delete_slot, find_block, find_slot
from memory.documents.intake import split_text, store_document
from memory.errors import DocumentError, UndoError
from memory.learning import revisions
from memory.models import DiaryEntry, Document, Memory, Retraction, Revision
from memory.models.core_memory import Block, By, Slot
from memory.store import keep_fact, undo_retraction
from text.strings import quoted

T = TypeVar("T")
MIN_TRACED_CHARACTERS = 12  # a shorter line stands in texts that have nothing to do with it


@everywhere()
def add_fact(companion: Companion, text: str, now: datetime, happened_at: datetime | None = None) -> Memory:
    """Save a fact that the person adds, and return its memory."""
    return keep_fact(companion.pk, text, happened_at or now, now, zone=companion.user.zone)


@everywhere()
def mark(memory: Memory, **marks: bool | int) -> None:
    """Set the memory's `is_pinned` or `importance`, or both."""
    for name, value in marks.items():
        setattr(memory, name, value)
    memory.save(update_fields=list(marks))


@everywhere()
def edit_core_memory(companion: Companion, edit: Callable[..., T], name: str, **fields: Any) -> T:
    """Write the slot or block of this name by `edit`, a function of `memory.core_memory`; return its result.

    Raise CoreMemoryError.
    """
    companion.lock()
    return edit(companion.pk, name, by=By.USER, **fields)


@everywhere()
def delete_core_memory(companion: Companion, shown: Slot | Block, now: datetime) -> None:
    """Delete the slot or block, and the prompts and calls of tools and models that have kept its text.

    Raise CoreMemoryError.
    """
    companion.lock()
    is_slot = isinstance(shown, Slot)
    text = (find_slot if is_slot else find_block)(companion.pk, shown.name).text
    (delete_slot if is_slot else delete_block)(companion.pk, shown.name, by=By.USER)
    lines = {line for line in text.splitlines() if len(line) >= MIN_TRACED_CHARACTERS}
    traces = {quoted(text), *lines, *(quoted(line)[1:-1] for line in lines)}  # as prompts quote it
    scrub_lines(companion.pk, lambda kept: any(trace in kept for trace in traces), now)


@erasing()
def set_private(memory: Memory, is_private: bool, now: datetime) -> None:
    """Hide the memory from models, or show it to them again; its owner sees it in either case.

    The message that it mirrors, or those that it was learnt from (unless it is a summary), are hidden from prompts as
    well, or it would be learnt again; what was derived from it alone becomes private, too. Showing it again shows only
    itself and the message that it mirrors, since the person may want the rest to stay private.
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
    """Return whether hiding the memory hides the messages that it was learnt from; a summary hides none of them."""
    return memory.message_id is None and memory.kind not in Memory.SUMMARIES and memory.sources.exists()


def _conceal(companion: Companion, memory: Memory, now: datetime) -> None:
    """Hide from models what the memory comes from, what was derived from it, and the reminders of it."""
    messages, sources = ([memory.message], []) if memory.message else ([], list(memory.sources.all()))
    scope, reminders = find_scope(
        companion, now, messages=messages, sources=sources, memories=[memory], hides=True
    )
    conceal(companion, scope)
    erase_from_journal(scope, scope.all_messages | scope.memories)
    clear_summaries(companion, scope, [*messages, *reminders, *sources])
    hidden = (*reminders, *(sources if hides_sources(memory) else messages))
    hidden_ids = [message.pk for message in hidden]
    Message.everywhere.filter(companion=companion, pk__in=hidden_ids).update(is_hidden=True)
    Memory.everywhere.of(companion.pk).filter(message__in=hidden_ids).update(is_private=True)


@everywhere()
def undo_retraction_of(companion: Companion, memory_id: UUID, now: datetime) -> None:
    """Undo the forgetting or revision of a memory, or of its slot. Raise UndoError or CoreMemoryError."""
    companion.lock()
    mine = Retraction.objects.filter(companion=companion, memory=memory_id)
    retraction = mine.select_related("memory__replaced_by").first()
    if retraction is None:
        raise UndoError("nothing_to_undo", _("There is nothing to undo here."))
    undo_retraction(retraction, now)


@everywhere()
def write_revision(companion: Companion, about: str, texts: Sequence[str], now: datetime) -> Revision:
    """Save the user's version of self-concept or user profile; return the newest revision if nothing has changed."""
    companion.lock()
    return revisions.write_texts(companion.pk, about, texts, now)


@everywhere()
def restore_revision(companion: Companion, revision: Revision, now: datetime) -> Revision:
    """Save a new revision with the content of the given one. Raise Revision.DoesNotExist.

    The content is read again under the lock, as a concurrent deletion may have removed something from it.
    """
    companion.lock()
    stored = Revision.objects.of(companion.pk, revision.about).get(pk=revision.pk)
    return revisions.restore(stored, now)


# -- documents: stored or deleted as a whole


def give_document(companion: Companion, title: str, text: str, now: datetime) -> Document:
    """Store a document with its pages, enqueue the writing of their gists, and return it. Raise DocumentError."""
    given = split_text(companion.pk, title, text)
    with transaction.atomic():
        if not companion.lock():
            raise DocumentError("no_such_companion", _("You have no such companion."), 404)
        document = store_document(companion.pk, given, now)
        enqueue("companions.tasks.write_gists", str(document.pk))
    return document


@erasing()
def delete_document(document: Document, now: datetime) -> None:
    """Delete the document with its pages, their memories, and what turns have kept of them."""
    lock(document.companion_id)
    memories = Memory.objects.of(document.companion_id).filter(page__document=document)
    gone = {document.pk, *memories.values_list("pk", flat=True)}
    forget_gists(document.companion_id, gone, now)
    Document.objects.filter(companion_id=document.companion_id, pk=document.pk).delete()
    note_deletions("document", [document.pk])


# -- the diary


@erasing()
def delete_entry(companion_id: UUID, entry_id: UUID, now: datetime) -> None:
    """Delete the diary entry, all messages of its session, and everything derived from them."""
    lock(companion_id)
    entries = DiaryEntry.objects.filter(companion=companion_id, pk=entry_id)
    said = Message.everywhere.filter(companion=companion_id, session__diary_entry__in=entries)
    delete_messages(companion_id, list(said.values_list("pk", flat=True)), now)
    memories = entries.exclude(memory=None).values_list("memory", flat=True)
    forget_many(companion_id, list(memories), now)
    entries.delete()
    note_deletions("diary", [entry_id])
