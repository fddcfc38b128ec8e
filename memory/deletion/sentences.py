"""Removing single sentences from texts other than memories: slots, blocks, self-concept, profile and diary."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.learning.diary import UNTITLED, rewrite
from memory.learning.revisions import add_revision
from memory.models import Block, DiaryEntry, Revision, Slot

Goes = Callable[[str], bool]


def drop_sentences(companion_id: UUID, goes: Goes, now: datetime) -> None:
    """Delete every slot, and remove every line or sentence of the other texts, for which `goes` returns True; also from
    earlier revisions. Call it with the companion locked.
    """
    slots = Slot.objects.filter(companion_id=companion_id)
    slots.filter(pk__in=[slot.pk for slot in slots if goes(f"{slot.name}: {slot.text}")]).delete()
    blocks = Block.objects.filter(companion_id=companion_id)
    for block in blocks:
        text = "\n".join(line for line in block.text.splitlines() if not goes(line))
        if text != "\n".join(block.text.splitlines()):
            blocks.filter(pk=block.pk).update(text=text, changed_at=now)
    drop_from_revisions(companion_id, lambda sentence: goes(sentence["text"]), now)
    for entry in DiaryEntry.objects.filter(companion_id=companion_id):
        sentences = [sentence for sentence in entry.sentences if not goes(sentence["text"])]
        title = UNTITLED if goes(entry.title) else entry.title
        if (sentences, title) != (entry.sentences, entry.title):
            rewrite(entry, now, sentences=sentences, title=title)


def drop_from_revisions(companion_id: UUID, goes: Callable[[dict[str, Any]], bool], now: datetime) -> None:
    """Remove the sentences for which `goes` returns True from every revision of self-concept and profile.

    If the current revision has one, a new revision is written, so that work based on the old one notices the change.
    """
    for about in Revision.About:
        every = list(Revision.objects.of(companion_id, about))
        touched = [revision for revision in every if any(map(goes, revision.sentences))]
        for revision in touched:
            revision.sentences = [sentence for sentence in revision.sentences if not goes(sentence)]
            revision.is_stale = True
        if touched and touched[0] is every[0]:
            add_revision(companion_id, about, touched[0].sentences, Revision.By.DELETION, now)
        mine = Revision.objects.filter(companion_id=companion_id)
        mine.bulk_update(touched, ["sentences", "is_stale"], batch_size=200)
