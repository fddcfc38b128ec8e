"""Erase deleted data from what turns have kept: prompts as sent, cues, tool arguments, reasoning, provider's words."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import cache, partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.db.models.signals import pre_delete
from django.dispatch import receiver
from django.utils import timezone

from accounts.models import ModelCall, SoundCall
from companions.events import CUT_OFF
from companions.models import Companion, JournalEntry, Prompt, Reply, Waking
from companions.replies.checkpoint import Said, seal_and_read
from companions.replies.finish import finish
from companions.replies.streams import wipe_streams
from memory.deletion import DeletionScope, find_unique_words
from memory.models import Recall

PROMPTS_AT_ONCE = 50  # of some 30 kB each
WORDS = ["text", "quotes", "sentences", "title", "summary", "scratch", "note", "name", "description"]
_HOLDS_WORDS = ~Q(kind=JournalEntry.Kind.UPDATE) | Q(before__has_any_keys=WORDS)
REFERENCES = ["replaced_by_id", "settled_by_id", "parent_id"]  # to rows whose deletion sets them to null
LINKS = {  # link table: its column that names a row of another table, and that table
    "memory_block_sources": ("block_id", "memory_block"),
    "memory_slot_sources": ("slot_id", "memory_slot"),
}
WORDLESS: dict[str, Any] = {"prompt": [], "steps": [], "thought": "", "text": ""}  # a waking without words


def scrub(companion_id: UUID, ids: Collection[UUID], now: datetime, emptied: Collection[UUID] = ()) -> None:
    """Erase what replies have kept of these messages and memories. The replies `emptied` also lose their text."""
    recalls = Recall.objects.filter(companion_id=companion_id, found__memory__in=ids)
    prompts = Prompt.objects.filter(companion_id=companion_id, shown__overlap=list(ids))
    shown = {*emptied, *prompts.values_list("reply_id", flat=True)}
    shown |= set(recalls.exclude(reply=None).values_list("reply_id", flat=True))
    asked = set(recalls.exclude(by=Recall.By.TURN).values_list("pk", flat=True))
    _scrub_replies(companion_id, shown, now, emptied, asked=asked)


def erase_from_journal(
    scope: DeletionScope, ids: Collection[UUID], *, keeps_other_branches: bool = False
) -> None:
    """Delete the journal entries that could restore, on any branch, rows that name one of the ids or share a word with
    the scope. From other changes, only references to the ids are removed.

    When much is deleted at once, almost every row shares a word with it. With `keeps_other_branches`, only words
    count that no remaining memory contains, so that entries which come from elsewhere are kept.
    """
    entries = JournalEntry.objects.filter(companion=scope.companion_id).exclude(
        before__isnull=True, after__isnull=True
    )
    kept, named = entries.filter(_HOLDS_WORDS), {str(id) for id in ids}
    tells = _find_telling(scope, ids) if keeps_other_branches and kept.exists() else scope.tells
    gone, rows = [], set[tuple[str, str]]()
    for entry in kept.iterator():
        if any(text in named or tells(text) for text in _walk_strings([entry.before, entry.after])):
            gone.append(entry.pk)
            rows |= _find_linked(entry)
    for table in {table for table, _row in rows}:  # the rows that had a deleted source
        linked = [row for other, row in rows if other == table]
        gone += entries.filter(table=table, row__in=linked).values_list("pk", flat=True)
    JournalEntry.objects.filter(pk__in=gone).delete()
    naming = []
    for entry in entries.filter(before__has_any_keys=REFERENCES, kind=JournalEntry.Kind.UPDATE).iterator():
        sides = [side for side in (entry.before, entry.after) if side]
        if found := [(side, key) for side in sides for key in REFERENCES if side.get(key) in named]:
            for side, key in found:
                side[key] = None
            naming.append(entry)
    JournalEntry.objects.bulk_update(naming, ["before", "after"], batch_size=500)


def _find_telling(scope: DeletionScope, ids: Collection[UUID]) -> Callable[[str], bool]:
    """Return a predicate: does a text have a word of the deleted data that no remaining memory has, on any branch?"""
    going = replace(scope, memories=scope.memories | frozenset(ids))
    words = find_unique_words(going, on_any_branch=True)
    return lambda text: not words.isdisjoint(scope.read(text))


def _find_linked(entry: JournalEntry) -> set[tuple[str, str]]:
    """Return the table and id of the row to which the entry links a source; an empty set if it is no link."""
    if entry.table not in LINKS:
        return set()
    column, table = LINKS[entry.table]
    return {(table, str(link[column])) for link in (entry.before, entry.after) if link and column in link}


def scrub_lines(companion_id: UUID, goes: Callable[[str], bool], now: datetime) -> None:
    """Erase what replies and wakings have kept if `goes` is true of a line of it, whatever its source.

    Such replies under way end as interrupted, and such wakings that wait or are under way start over.
    """
    goes = cache(goes)  # the prompts of a session begin with the same lines

    def holds(*kept: object) -> bool:
        return any(goes(line) for text in _walk_strings(kept) for line in text.splitlines())

    prompts = Prompt.objects.filter(companion_id=companion_id).order_by()
    replies = Reply.objects.filter(companion_id=companion_id).exclude(tool_calls=[], thought="").order_by()
    shown = {
        prompt.reply_id
        for prompt in prompts.iterator(chunk_size=PROMPTS_AT_ONCE)
        if holds(prompt.messages, prompt.wrote)
    }
    shown |= {reply.pk for reply in replies.iterator() if holds(reply.tool_calls, reply.thought)}
    cues = Recall.objects.filter(companion_id=companion_id, cue__gt="").exclude(by=Recall.By.TURN)
    _scrub_replies(companion_id, shown, now, asked={recall.pk for recall in cues if holds(recall.cue)})
    wakings = Waking.objects.filter(companion_id=companion_id).order_by()
    ids = [
        waking.pk
        for waking in wakings.iterator(chunk_size=PROMPTS_AT_ONCE)
        if holds(waking.prompt, waking.steps, waking.thought, waking.text)
    ]
    wakings = wakings.filter(pk__in=ids)
    wakings.update(**WORDLESS)
    wakings.waiting().update(look_at=now, started_at=None)  # those start over


def _walk_strings(kept: Any) -> Iterator[str]:
    """Yield every string in the nested value, also those within a string that is JSON with escapes."""
    if isinstance(kept, str):
        yield kept
        if "\\" in kept and kept[:1] in "{[":
            with suppress(ValueError, RecursionError):
                yield from _walk_strings(json.loads(kept))
    elif isinstance(kept, dict | list | tuple):
        for part in kept.values() if isinstance(kept, dict) else kept:
            yield from _walk_strings(part)


def _scrub_replies(
    companion_id: UUID,
    shown: Collection[UUID],
    now: datetime,
    emptied: Collection[UUID] = (),
    *,
    asked: Collection[UUID],
) -> None:
    """Erase what the `shown` replies have kept besides their text, and the cues of their tools' recalls and of `asked`.

    Replies of `shown` that are under way end as interrupted; the replies `emptied` also lose their text. All words kept
    of the companion's sound calls are cleared.
    """
    Reply.objects.filter(pk__in=emptied).update(text="", continues=None)
    for reply in Reply.objects.under_way().filter(pk__in=shown):
        said = Said(seq=reply.seq) if reply.pk in emptied else seal_and_read(reply)
        said.code = CUT_OFF
        finish(reply, Reply.State.INTERRUPTED, said, now, held_by=reply.lease_by)
    Reply.objects.filter(pk__in=shown).update(tool_calls=[], thought="")
    Prompt.objects.filter(reply__in=shown).delete()
    ModelCall.objects.filter(reply__in=shown).exclude(said="").update(said="")
    scrub_calls(companion_id)
    # Nor is recorded of which words a sound was made.
    SoundCall.objects.filter(companion=companion_id).exclude(said="").update(said="")
    Recall.objects.filter(Q(pk__in=asked) | Q(reply__in=shown, by=Recall.By.TOOL)).update(cue="")
    _wipe_later(list(shown))


def scrub_calls(companion_id: UUID) -> None:
    """Erase what background work sent and received, also of a call under way: of which words is not recorded."""
    Companion.objects.filter(pk=companion_id).update(scrubbed_at=timezone.now())
    ModelCall.objects.filter(companion=companion_id, sent__isnull=False).forget_words()


def find_continued(reply_ids: Iterable[UUID]) -> set[UUID]:
    """Return the ids of these replies and of all that continue them or that they continue.

    Each continuation contains the text of the reply before it.
    """
    known, new = set[UUID](), set(reply_ids)
    while new:
        known |= new
        near = Reply.objects.filter(Q(continues__in=new) | Q(continued_by__in=new))
        new = set(near.values_list("pk", flat=True)) - known
    return known


def scrub_all(companion_id: UUID) -> None:
    """Clear the provider's words and the Redis streams of a companion that is about to be deleted; its calls are kept."""
    ModelCall.objects.filter(companion=companion_id, sent__isnull=False).forget_words()
    for calls in (ModelCall.objects, SoundCall.objects):
        calls.filter(companion=companion_id).exclude(said="").update(said="")
    recent = Q(ended_at=None) | Q(ended_at__gt=timezone.now() - settings.PIECES_KEPT)
    _wipe_later(list(Reply.objects.filter(recent, companion=companion_id).values_list("pk", flat=True)))


@receiver(pre_delete, sender=Reply)
def _forget_pieces(instance: Reply, **_: object) -> None:
    """Clear the provider's words and the Redis stream of a reply that is about to be deleted."""
    ModelCall.objects.filter(reply=instance).exclude(said="").update(said="")
    if instance.ended_at is None or instance.ended_at > timezone.now() - settings.PIECES_KEPT:
        _wipe_later([instance.pk])


def _wipe_later(reply_ids: Collection[UUID]) -> None:
    if reply_ids:
        transaction.on_commit(partial(wipe_streams, reply_ids), robust=True)
