"""The one access gate: load rows that a user owns. Another user's row gives the same 404 as one that does not exist."""

from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Model, Q
from django.http import Http404
from django.shortcuts import get_object_or_404

from accounts.models import User
from companions.models import (
    ArchiveUpload,
    Attachment,
    Branch,
    CardUpload,
    CharacterVersion,
    Companion,
    Comparison,
    ForgetProposal,
    Job,
    Lorebook,
    LoreEntry,
    Message,
    PastImport,
    PastUpload,
    Reply,
    Timer,
    Waking,
)
from files.models import StoredFile
from memory.documents.gists import with_progress
from memory.models import Block, DiaryEntry, Document, Memory, Revision, Slot, Thread
from safety.models import Notice

Row = TypeVar("Row", bound=Model)


def get_owned(user: User, model: type[Row], *related: str, **lookups: Any) -> Row:
    """Return the user's row that matches `lookups`, with its `related` rows loaded; raise Http404 if there is none."""
    mine = model.objects.owned_by(user)  # type: ignore[attr-defined]
    row: Row = get_object_or_404(mine.select_related(*related) if related else mine, **lookups)
    return row


def get_companion(user: User, companion_id: UUID) -> Companion:
    return get_owned(user, Companion, "user", "conversation", "portrait", pk=companion_id)


def get_message(user: User, companion_id: UUID, message_id: UUID) -> Message:
    related = ("companion__user", "companion__conversation", "companion__portrait", "parent")
    return get_owned(user, Message, *related, companion=companion_id, pk=message_id)


def get_message_anywhere(user: User, companion_id: UUID, message_id: UUID) -> Message:
    """Return the message even if it is on a branch that is not chosen."""
    mine = Message.everywhere.owned_by(user).select_related("companion__user", "companion__conversation")
    return get_object_or_404(mine, companion=companion_id, pk=message_id)


def get_branch(user: User, companion_id: UUID, branch_id: UUID) -> Branch:
    return get_owned(user, Branch, "companion__conversation", companion=companion_id, pk=branch_id)


def get_reply(user: User, reply_id: UUID, **lookups: Any) -> Reply:
    return get_owned(user, Reply, "companion__user", "message", "answer", pk=reply_id, **lookups)


def get_memory(user: User, companion_id: UUID, memory_id: UUID) -> Memory:
    related = ("companion__user", "message", "retraction")
    return get_owned(user, Memory, *related, companion=companion_id, pk=memory_id)


def get_thread(user: User, companion_id: UUID, thread_id: UUID) -> Thread:
    return get_owned(user, Thread, "companion__user", "memory", companion=companion_id, pk=thread_id)


def get_forget_proposal(user: User, companion_id: UUID, proposal_id: UUID) -> ForgetProposal:
    related = ("companion__user", "reply__message", "reply__answer")
    return get_owned(user, ForgetProposal, *related, companion=companion_id, pk=proposal_id)


def get_diary_entry(user: User, companion_id: UUID, entry_id: UUID) -> DiaryEntry:
    return get_owned(user, DiaryEntry, companion=companion_id, pk=entry_id)


def get_document(user: User, companion_id: UUID, document_id: UUID) -> Document:
    """Return the document, annotated with how many pages it has (`total`) and how many of them have a gist (`done`)."""
    mine = with_progress(Document.objects.owned_by(user).filter(companion=companion_id))
    return get_object_or_404(mine.select_related("companion"), pk=document_id)


def get_revision(user: User, companion_id: UUID, about: str, number: int) -> Revision:
    return get_owned(user, Revision, companion=companion_id, about=about, number=number)


def get_slot(user: User, companion_id: UUID, slot_id: int) -> Slot:
    return get_owned(user, Slot, companion=companion_id, pk=slot_id)


def get_block(user: User, companion_id: UUID, block_id: int) -> Block:
    return get_owned(user, Block, companion=companion_id, pk=block_id)


def get_lorebook(user: User, lorebook_id: UUID) -> Lorebook:
    return get_owned(user, Lorebook, "user", pk=lorebook_id)


def get_character_version(user: User, companion_id: UUID, version_id: UUID) -> CharacterVersion:
    return get_owned(user, CharacterVersion, "companion__user", companion=companion_id, pk=version_id)


def get_card_upload(user: User, upload_id: UUID) -> CardUpload:
    return get_owned(user, CardUpload, "user", "picture", "assets", pk=upload_id)


def get_past_upload(user: User, upload_id: UUID) -> PastUpload:
    return get_owned(user, PastUpload, "user", "file", pk=upload_id)


def get_past_import(user: User, companion_id: UUID, import_id: UUID) -> PastImport:
    return get_owned(user, PastImport, "companion__user", "job", companion=companion_id, pk=import_id)


def get_archive_upload(user: User, upload_id: UUID) -> ArchiveUpload:
    return get_owned(user, ArchiveUpload, "user", "file", "companion", pk=upload_id)


def get_lorebook_of(user: User, companion_id: UUID, lorebook_id: UUID) -> Lorebook:
    """Return a lorebook that applies to the companion: its own, or one that the user has for all companions."""
    counting = Q(companion=companion_id) | Q(companion=None)
    return get_object_or_404(Lorebook.objects.owned_by(user).filter(counting), pk=lorebook_id)


def get_lore_entry(user: User, lorebook_id: UUID, entry_id: UUID) -> LoreEntry:
    return get_owned(user, LoreEntry, "lorebook", lorebook=lorebook_id, pk=entry_id)


def get_timer(user: User, companion_id: UUID, timer_id: UUID) -> Timer:
    return get_owned(user, Timer, "companion__user", companion=companion_id, pk=timer_id)


def get_waking(user: User, companion_id: UUID, waking_id: UUID) -> Waking:
    return get_owned(user, Waking, companion=companion_id, pk=waking_id)


def get_job(user: User, companion_id: UUID, job_id: UUID) -> Job:
    return get_owned(user, Job, companion=companion_id, pk=job_id)


def get_comparison(user: User, companion_id: UUID) -> Comparison:
    return get_owned(user, Comparison, companion=companion_id)


def get_notice(user: User, notice_id: UUID) -> Notice:
    return get_owned(user, Notice, pk=notice_id)


def get_attachment(user: User, companion_id: UUID, attachment_id: UUID) -> Attachment:
    return get_owned(user, Attachment, "file", "document", companion=companion_id, pk=attachment_id)


def get_file(user: User, file_id: UUID) -> StoredFile:
    return get_owned(user, StoredFile, pk=file_id)


def parse_uuid(text: str) -> UUID:
    """Return the UUID that `text` holds; raise Http404 if it is not a UUID."""
    try:
        return UUID(text)
    except ValueError as error:
        raise Http404 from error
