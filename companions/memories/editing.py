"""What a person does to what their companion remembers: one writer at a time, under the companion's lock."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companions.deletion import SUMMARIES, delete_messages, forget_gists, forget_many
from companions.deletion.traces import erase_from_journal
from companions.deletion.withdrawal import build_scope, clear_summaries, conceal, find_reminders
from companions.models import Closing, Companion, Message, Session
from companions.models.companion import hold, lock
from database.journal import erasing, everywhere
from jobs.background import enqueue
from memory.documents.intake import split_text, store_document
from memory.errors import DocumentError, UndoError
from memory.learning import revisions
from memory.models import DiaryEntry, Document, Memory, Retraction, Revision
from memory.store import undo_retraction

STEPS = 3  # asked for, under way, drafted
PROBLEMS = {
    "provider_unavailable": gettext_lazy("The model could not be reached."),
    "provider_refused": gettext_lazy("The model refused to answer."),
    "malformed_answer": gettext_lazy("The model answered in a form that could not be read."),
}


@erasing()
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
    """Return whether the messages that it was learnt from are hidden with it; what sums up many hides none of them."""
    return memory.message_id is None and memory.kind not in SUMMARIES and memory.sources.exists()


def _conceal(companion: Companion, memory: Memory, now: datetime) -> None:
    """Keep from models what the memory comes from and what tells of it."""
    messages, sources = ([memory.message], []) if memory.message else ([], list(memory.sources.all()))
    reminders = find_reminders(companion, now, messages=messages, sources=sources, memories=[memory])
    scope = build_scope(companion, now, [*messages, *reminders], sources, [memory])
    conceal(companion, scope)
    erase_from_journal(scope, scope.all_messages | scope.memories)
    clear_summaries(companion, scope, [*messages, *reminders, *sources])
    hidden = (*reminders, *(sources if hides_sources(memory) else messages))
    hidden_ids = [message.pk for message in hidden]
    Message.everywhere.filter(companion=companion, pk__in=hidden_ids).update(is_hidden=True)
    Memory.everywhere.of(companion.pk).filter(message__in=hidden_ids).update(is_private=True)


@everywhere()
def undo_retraction_of(companion: Companion, memory_id: UUID, now: datetime) -> None:
    """Let a memory hold again that was forgotten or revised, or its slot say it again; UndoError, CoreMemoryError."""
    lock(companion.pk)
    mine = Retraction.objects.filter(companion=companion, memory=memory_id)
    retraction = mine.select_related("memory__replaced_by").first()
    if retraction is None:
        raise UndoError("nothing_to_undo", _("There is nothing to undo here."))
    undo_retraction(retraction, now)


@everywhere()
def write_revision(companion: Companion, about: str, texts: Sequence[str], now: datetime) -> Revision:
    """Write the self-concept or user profile as the user has it; return the one before where nothing has changed."""
    lock(companion.pk)
    return revisions.rewrite(companion.pk, about, texts, now)


@everywhere()
def restore_revision(companion: Companion, revision: Revision, now: datetime) -> Revision:
    """Write a revision that says what the given one says; Revision.DoesNotExist.

    It is read after the lock: a deletion that was waited for may have taken something out of it.
    """
    lock(companion.pk)
    stored = Revision.objects.of(companion.pk, revision.about).get(pk=revision.pk)
    return revisions.restore(stored, now)


# -- documents: each all of it or nothing


def give_document(companion: Companion, title: str, text: str, now: datetime) -> Document:
    """Store the document with its pages and return it; their gists follow. DocumentError."""
    given = split_text(companion.pk, title, text)
    with transaction.atomic():
        if not lock(companion.pk):
            raise DocumentError("no_such_companion", _("You have no such companion."), 404)
        document = store_document(companion.pk, given, now)
        enqueue("companions.tasks.write_gists", str(document.pk))
    return document


@erasing()
def delete_document(document: Document, now: datetime) -> None:
    """Delete the document with its pages, their memories, and what turns have kept of those."""
    lock(document.companion_id)
    memories = Memory.objects.of(document.companion_id).filter(page__document=document)
    gone = {document.pk, *memories.values_list("pk", flat=True)}
    forget_gists(document.companion_id, gone, now)
    Document.objects.filter(companion_id=document.companion_id, pk=document.pk).delete()


# -- the diary


@dataclass(frozen=True, slots=True)
class Ending:
    """The open session, if there is one, whether its user has said anything in it, and its newest closing."""

    session: Session | None
    is_spoken: bool
    closing: Closing | None

    @property
    def is_under_way(self) -> bool:
        return self.closing is not None and self.closing.state == Closing.State.WAITING

    @property
    def has_failed(self) -> bool:
        """Whether the last try came to nothing: it waits for another one, or for somebody who asks."""
        return self.closing is not None and bool(self.closing.error)

    @property
    def can_end(self) -> bool:
        """Whether there is something to end, and nobody at it."""
        return self.is_spoken and not self.is_under_way

    @property
    def step(self) -> int:
        """How far it is, from 1 to `STEPS`."""
        if self.closing is None or not self.closing.is_begun:
            return 1
        return STEPS if self.closing.drafts else 2

    @property
    def problem(self) -> str:
        """What happened at the last try, in a sentence; nothing where nothing did."""
        if not self.closing or not self.closing.error:
            return ""
        return str(PROBLEMS.get(self.closing.error) or _("Something went wrong on Kith's side."))


def load_ending(companion: Companion) -> Ending:
    """Return how far the end of the open session is: two queries."""
    by_user = Message.objects.filter(session=OuterRef("pk"), role=Message.Role.USER)
    mine = Session.objects.filter(companion=companion, ended_at=None)
    session = mine.annotate(is_spoken=Exists(by_user)).first()
    if session is None:
        return Ending(None, is_spoken=False, closing=None)
    closing = Closing.objects.filter(session=session).order_by("-asked_at").first()
    return Ending(session, session.is_spoken, closing)  # type: ignore[attr-defined]


@erasing()
def delete_entry(companion_id: UUID, entry_id: UUID, now: datetime) -> None:
    """Delete the entry with everything said in its session and all that was drawn from that."""
    lock(companion_id)
    entries = DiaryEntry.objects.filter(companion=companion_id, pk=entry_id)
    said = Message.everywhere.filter(companion=companion_id, session__diary_entry__in=entries)
    delete_messages(companion_id, list(said.values_list("pk", flat=True)), now)
    memories = entries.exclude(memory=None).values_list("memory", flat=True)
    forget_many(companion_id, list(memories), now)
    entries.delete()
