"""Taking single sentences out of what is written beside memories: slots, blocks, self-concept, profile and diary."""

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from memory.learning.diary import UNTITLED, rewrite
from memory.learning.revisions import revise
from memory.models import Block, DiaryEntry, Revision, Slot

Goes = Callable[[str], bool]


def drop_sentences(companion_id: UUID, goes: Goes, now: datetime) -> None:
    """Take out every slot, and line or sentence of the rest, of which `goes` says so; in earlier revisions, too.

    Call it with the companion held.
    """
    slots = Slot.objects.filter(companion_id=companion_id)
    slots.filter(pk__in=[slot.pk for slot in slots if goes(f"{slot.name}: {slot.text}")]).delete()
    blocks = Block.objects.filter(companion_id=companion_id)
    for block in blocks:
        text = "\n".join(line for line in block.text.splitlines() if not goes(line))
        if text != "\n".join(block.text.splitlines()):
            blocks.filter(pk=block.pk).update(text=text, changed_at=now)
    for about in Revision.About:
        _drop_from_revisions(companion_id, about, goes, now)
    for entry in DiaryEntry.objects.filter(companion_id=companion_id):
        sentences = [sentence for sentence in entry.sentences if not goes(sentence["text"])]
        title = UNTITLED if goes(entry.title) else entry.title
        if (sentences, title) != (entry.sentences, entry.title):
            rewrite(entry, now, sentences=sentences, title=title)


def _drop_from_revisions(companion_id: UUID, about: Revision.About, goes: Goes, now: datetime) -> None:
    """Where the one that holds is touched, another one holds from now on."""
    every = list(Revision.objects.of(companion_id, about))
    for revision in every:
        left = [sentence for sentence in revision.sentences if not goes(sentence["text"])]
        if len(left) == len(revision.sentences):
            continue
        if revision is every[0]:
            revise(companion_id, about, left, Revision.By.DELETION, now)
        revision.sentences, revision.is_stale = left, True
        revision.save(update_fields=["sentences", "is_stale"])
