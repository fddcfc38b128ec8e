"""Slots and blocks that were written from what goes.

A slot goes whole. A block's text cannot be parted by its sources: it loses the lines that tell of what goes, and, unless
a person has written it, those that share no word with any other message behind it.
"""

from typing import TypeVar

from django.db.models import QuerySet

from memory.models import Block, Slot
from memory.models.always import By
from memory.terms import terms
from memory.unlearning.gone import Gone

Row = TypeVar("Row", Slot, Block)


def unlearn(gone: Gone) -> None:
    """Slots are gone, blocks are left without what was drawn from what goes."""
    slots = _drawn(Slot.objects.filter(companion_id=gone.companion_id), gone)
    told = [one.pk for one in slots if _is_touched(one, gone)]
    Slot.objects.filter(companion_id=gone.companion_id, pk__in=told).delete()
    blocks = [
        one
        for one in _drawn(Block.objects.filter(companion_id=gone.companion_id), gone)
        if _is_touched(one, gone)
    ]
    for block in blocks:
        block.text, block.changed_at = "\n".join(_lines_left(block, gone)), gone.now
    Block.objects.filter(companion_id=gone.companion_id).bulk_update(blocks, ["text", "changed_at"])
    Source = Block.sources.through
    Source.objects.filter(
        block__companion=gone.companion_id, block__in=blocks, message__in=gone.all_messages
    ).delete()


def _drawn(rows: QuerySet[Row], gone: Gone) -> list[Row]:
    return list(rows.filter(sources__in=gone.all_messages).distinct().prefetch_related("sources"))


def _is_touched(row: Slot | Block, gone: Gone) -> bool:
    """Whether it comes from a message that goes, or says what a memory said that goes."""
    if any(one.pk in gone.messages for one in row.sources.all()):
        return True
    return gone.tells(f"{row.name}\n{row.text}")


def _lines_left(block: Block, gone: Gone) -> list[str]:
    left = [one.text for one in block.sources.all() if one.pk not in gone.all_messages]
    lines = [line for line in block.text.splitlines() if not gone.tells(line, left)]
    if block.by != By.COMPANION:
        return lines
    known = {term for text in left for term in terms(text)}
    return [line for line in lines if known.intersection(terms(line))]
