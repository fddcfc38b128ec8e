"""Correct a user's message or a memory, and withdraw what was drawn from the old words."""

from dataclasses import replace
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from companions.conversations.messages import check_text
from companions.deletion.dependents import build_scope
from companions.deletion.traces import erase_from_journal, scrub, scrub_calls
from companions.deletion.withdrawal import delete_empty_pages, withdraw_corrected
from companions.errors import ReplyStateError, TextError
from companions.events import notify_companion, render_message
from companions.models import Companion, Message, Reply, Session
from companions.models.companion import hold
from database.journal import erasing, everywhere
from memory.deletion import delete_memories, remove_corrected
from memory.models import Memory, Recall
from memory.store import correct

# Kinds that repeat or summarise something else: a message, a diary entry, a page, or several memories.
NOT_CORRECTED = {*Memory.MIRRORS, Memory.Kind.INSIGHT}


@erasing()
def correct_message(message: Message, text: str, now: datetime) -> Message:
    """Replace the text of a user's message and of its memory; return the message. Raise TextError or ReplyStateError.

    What was learnt, noted or written from words that are gone is deleted or rewritten. If the session is still open,
    the new words are learnt from. Answers stay, since they responded to the message as it was.
    """
    check_text(text)
    companion = hold(message.companion_id)
    there = Message.objects.filter(companion=companion, pk=message.pk, role=Message.Role.USER).first()
    if companion is None or there is None:
        raise TextError("no_such_message", _("You have no such message."))
    if there.text != text:
        if Reply.objects.open().filter(companion=companion).exists():
            detail = _("%(name)s is answering right now. Correct your message once the answer is there.")
            raise ReplyStateError("reply_open", detail % {"name": companion.name})
        reword(companion, there, text, now)
        notify_companion(companion.pk, {"type": "message.corrected", "message": render_message(there)})
    return there


@erasing()
def reword(companion: Companion, message: Message, text: str, now: datetime) -> None:
    """Replace the text of the message and its memory, and withdraw what was drawn from the old words.

    Call it with the companion locked.
    """
    before, message.text = message.text, text
    is_open = Session.objects.filter(companion=companion, pk=message.session_id, ended_at=None).exists()
    message.is_learnt = message.is_learnt and not is_open
    message.save(update_fields=["text", "is_learnt"])
    mirrors = list(Memory.objects.of(companion.pk).filter(message=message).select_related("companion__user"))
    for memory in mirrors:
        correct(memory, text, now)
    withdrawn = withdraw_corrected(companion, message, before, now)
    scope = replace(build_scope(companion, now, sources=[message]), texts=(before,), kept=(text,))
    erase_from_journal(scope, withdrawn.ids)
    scrub(companion.pk, {message.pk, *(memory.pk for memory in mirrors), *withdrawn.ids}, now)
    Recall.objects.filter(companion=companion, reply__message=message).update(cue="")
    delete_memories(companion.pk, withdrawn.gone, unsaid=scope)
    delete_empty_pages(companion)


@transaction.atomic
def correct_memory(memory: Memory, text: str, now: datetime, happened_at: datetime | None = None) -> None:
    """Replace the memory's text, and its time if `happened_at` is given, on every branch, and on the chosen one
    withdraw what was drawn from the old text: parts of the profile, notes and conclusions.

    For a memory that is closed, private, or of a kind in `NOT_CORRECTED`, nothing else changes.
    """
    companion = hold(memory.companion_id)
    before = memory.text
    with everywhere():
        correct(memory, text, now, happened_at)
    if companion is None or before == memory.text:
        return
    scrub_calls(companion.pk)
    if memory.kind in NOT_CORRECTED or memory.is_private or memory.closed_at:
        return
    scope = replace(
        build_scope(companion, now, sources=list(memory.sources.all())), texts=(before,), kept=(memory.text,)
    )
    gone = remove_corrected(scope, memory)
    with erasing():
        delete_memories(companion.pk, gone)
