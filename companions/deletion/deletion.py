"""Delete messages and memories with everything derived from them, a companion, and what the rehearsal model wrote.

Forgetting a memory hides the messages that it comes from in later prompts, or deletes them too.
"""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from django.dispatch import Signal, receiver

from accounts.models import User
from accounts.models.user import account_deleted
from companions.deletion.dependents import Dependents, build_scope, find_scope
from companions.deletion.gaps import delete_rows
from companions.deletion.traces import erase_from_journal, find_continued, scrub, scrub_all
from companions.deletion.withdrawal import clear_summaries, delete_empty_pages, withdraw
from companions.events import notify_deleted
from companions.models import Companion, InnerState, Message, Reply, Waking
from companions.models.companion import hold, lock
from database.deletions import note_deletions
from database.journal import erasing, replaying
from database.queries import delete_owned, delete_whole, lift_statement_timeout
from memory.deletion import delete_memories
from memory.models import Memory, Recall

messages_hidden = Signal()
"""Sent by Message with `companion_id` and the messages' `ids`, within the transaction that hides them from prompts."""


MAX_AT_ONCE = 500


def delete_message(message: Message, now: datetime) -> None:
    """Delete the message with its memory and everything derived from it."""
    delete_messages(message.companion_id, [message.pk], now)


@erasing()
def delete_messages(
    companion_id: UUID, ids: Collection[UUID], now: datetime, *, keeps_other_branches: bool = False
) -> int:
    """Delete these messages of the companion with everything derived from them; return how many existed.

    With `keeps_other_branches`, what is known on other branches is kept if it merely shares words with the messages.
    """
    lift_statement_timeout()
    companion = hold(companion_id)
    if companion is None:
        return 0
    messages = list(Message.everywhere.filter(companion=companion, pk__in=ids))
    if messages:
        remove(companion, now, messages=messages, keeps_other_branches=keeps_other_branches)
    return len(messages)


def forget(memory: Memory, now: datetime, *, with_message: bool = False) -> None:
    """Delete the memory. Hide the messages that it came from in later prompts, or delete them `with_message`.

    The messages behind a summary are neither hidden nor deleted.
    """
    forget_many(memory.companion_id, [memory.pk], now, with_messages=with_message)


def forget_every(
    companion_id: UUID, kinds: Collection[str], now: datetime, *, with_messages: bool = False
) -> int:
    """Delete the memories of these kinds (all if `kinds` is empty), including closed ones; return how many.

    Each transaction deletes at most MAX_AT_ONCE of them.
    """
    chosen, count = Memory.everywhere.of(companion_id), 0
    chosen = chosen.filter(kind__in=kinds) if kinds else chosen
    while ids := list(chosen.order_by("pk").values_list("pk", flat=True)[:MAX_AT_ONCE]):
        count += forget_many(companion_id, ids, now, with_messages=with_messages)
    return count


@erasing()
def forget_many(
    companion_id: UUID, ids: Collection[UUID], now: datetime, *, with_messages: bool = False
) -> int:
    """Delete these memories, as if each were forgotten alone (see `forget`); return how many existed.

    Deleting the memory of a message deletes everything derived from that message. Deleting a learnt memory deletes
    less, as its source messages taught other things too: what was derived from them only if it shares a word with the
    memory, and other memories learnt from them only if they contain a word of it that no remaining memory contains.
    """
    lift_statement_timeout()
    companion = hold(companion_id)
    if companion is None:
        return 0
    chosen = Memory.everywhere.of(companion_id).filter(pk__in=ids).defer("entry")
    memories = list(chosen.select_related("message").prefetch_related("sources"))
    said = {memory.message.pk: memory.message for memory in memories if memory.message}
    learnt = (memory for memory in memories if not memory.message and memory.kind not in Memory.SUMMARIES)
    sources = {message.pk: message for memory in learnt for message in memory.sources.all()}
    if with_messages:
        remove(companion, now, messages=[*{**sources, **said}.values()], memories=memories)
    elif memories:
        rest = [message for pk, message in sources.items() if pk not in said]
        remove(companion, now, messages=[*said.values()], sources=rest, memories=memories, hides=True)
    return len(memories)


@erasing()
def forget_gists(companion_id: UUID, ids: Collection[UUID], now: datetime) -> None:
    """Delete these memories with everything derived from them, and what turns have kept of any of the ids.

    An id may also be a document's.
    """
    lock(companion_id)
    scrub(companion_id, ids, now)
    forget_many(companion_id, ids, now)


def remove(
    companion: Companion,
    now: datetime,
    *,
    messages: Collection[Message] = (),
    sources: Collection[Message] = (),
    memories: Collection[Memory] = (),
    hides: bool = False,
    keeps_other_branches: bool = False,
) -> None:
    """Delete these memories and messages with everything derived from them, and the reminders of them.

    With `hides`, `messages` and `sources` are not deleted: people still see them, later prompts do not contain them.
    The caller must hold the companion's lock.
    """
    scope, reminders = find_scope(
        companion, now, messages=messages, sources=sources, memories=memories, hides=hides
    )
    messages = [*messages, *reminders]
    ids = scope.messages
    hidden = {*ids, *(message.pk for message in sources)} if hides else set()
    continued = (
        set() if hides else find_continued(Reply.objects.filter(answer__in=ids).values_list("pk", flat=True))
    )
    withdrawn = withdraw(companion, scope)
    touched = {*ids, *hidden, *scope.memories, *withdrawn.ids}
    clear_summaries(companion, scope, [*messages, *sources])
    if not hides:
        Reply.objects.filter(companion=companion, message__in=ids).delete()
    erase_from_journal(scope, touched, keeps_other_branches=keeps_other_branches)
    scrub(companion.pk, touched, now, continued)
    delete_memories(companion.pk, {*scope.memories, *withdrawn.gone}, unsaid=None if hides else scope)
    delete_empty_pages(companion)
    note_deletions("memory", [memory.pk for memory in memories])
    if hides:
        Message.everywhere.filter(companion=companion, pk__in=hidden).update(is_hidden=True)
        messages_hidden.send(sender=Message, companion_id=companion.pk, ids=hidden)
    else:
        note_deletions("message", ids)
        delete_rows(companion, messages)
        notify_deleted(companion.pk, ids)


def delete_companion(companion: Companion) -> None:
    """Delete the companion with everything that belongs to it; its counted usage is kept."""

    def delete() -> None:
        lift_statement_timeout()
        # Stronger than `lock`: no row that refers to the companion, and to others of it, can be saved until the commit.
        list(Companion.objects.filter(pk=companion.pk).order_by().select_for_update().values_list("pk"))
        scrub_all(companion.pk)
        with replaying():  # the companion's journal is deleted anyway
            for model in (Recall, Reply, Memory, Message):  # of which there may be very many
                delete_owned(model, "companion", companion.pk)
            Companion.objects.filter(pk=companion.pk).delete()
        note_deletions("companion", [companion.pk])

    delete_whole(delete)


@receiver(account_deleted, sender=User)
def delete_companions(user: User, **_: object) -> None:
    """Delete all companions of an account that is about to be deleted.

    Whoever locks both locks the account first. Only once nobody else holds either lock is the account's made stronger:
    no row that refers to it can then be saved, not even one that is written under a companion's lock.
    """
    account, companions = User.objects.filter(pk=user.pk), Companion.objects.owned_by(user).order_by("pk")
    for rows in (account, companions):
        list(rows.select_for_update(no_key=True).values_list("pk"))
    list(account.select_for_update().values_list("pk"))
    for companion in companions:
        delete_companion(companion)


@erasing()
def delete_rehearsed(companion: Companion, now: datetime) -> int:
    """Delete everything that the rehearsal model wrote; return how many messages were deleted.

    Its wakings stay in the log, without their words.
    """
    lift_statement_timeout()
    rehearsed = Message.everywhere.filter(companion=companion, is_rehearsed=True).values_list("pk", flat=True)
    held = hold(companion.pk)
    count = delete_messages(companion.pk, list(rehearsed), now)
    if held:
        wakings = Waking.objects.filter(companion=held, is_rehearsed=True).values_list("pk", flat=True)
        states = InnerState.objects.filter(companion=held, is_rehearsed=True).values_list("pk", flat=True)
        begun = Dependents(wakings=frozenset(wakings), states=frozenset(states))
        withdrawn = withdraw(held, build_scope(held, now), begun)
        scrub(held.pk, withdrawn.ids, now)
        delete_memories(held.pk, withdrawn.gone)
        delete_empty_pages(held)
    return count
