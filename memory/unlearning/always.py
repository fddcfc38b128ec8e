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
from memory.unlearning.retold import Retold, retold

Row = TypeVar("Row", Slot, Block)


def unlearn(gone: Gone) -> None:
    """Slots are gone, blocks are left without what was drawn from what goes, or tells it again."""
    again = retold(gone)
    slots = _touched(Slot.objects.filter(companion_id=gone.companion_id), gone, again)
    Slot.objects.filter(companion_id=gone.companion_id, pk__in=[one.pk for one in slots]).delete()
    blocks = _touched(Block.objects.filter(companion_id=gone.companion_id), gone, again)
    for block in blocks:
        block.text, block.changed_at = "\n".join(_lines_left(block, gone, again)), gone.now
    Block.objects.filter(companion_id=gone.companion_id).bulk_update(blocks, ["text", "changed_at"])
    Source = Block.sources.through
    Source.objects.filter(
        block__companion=gone.companion_id, block__in=blocks, message__in=gone.all_messages
    ).delete()


def _touched(rows: QuerySet[Row], gone: Gone, again: Retold) -> list[Row]:
    """Those that come from what goes, or tell it again."""
    return [one for one in rows.prefetch_related("sources") if _is_touched(one, gone, again)]


def _is_touched(row: Slot | Block, gone: Gone, again: Retold) -> bool:
    """Whether it comes from a message that goes, or says what a memory said that goes."""
    sources = {one.pk for one in row.sources.all()}
    if sources & gone.messages:
        return True
    text = f"{row.name}\n{row.text}" if isinstance(row, Slot) else row.text
    if sources & gone.sources and gone.tells(f"{row.name}\n{row.text}"):
        return True
    return again.stands_in(row, text, _left_behind(row, gone))


def _left_behind(row: Slot | Block, gone: Gone) -> list[str]:
    return [one.text for one in row.sources.all() if one.pk not in gone.all_messages]


def _lines_left(block: Block, gone: Gone, again: Retold) -> list[str]:
    left, lines = _left_behind(block, gone), block.text.splitlines()
    lines = [line for line in lines if not again.stands_in(block, line, left)]
    if not {one.pk for one in block.sources.all()} & gone.all_messages:
        return lines
    lines = [line for line in lines if not gone.tells(line, left)]
    if block.by != By.COMPANION:
        return lines
    known = {term for text in left for term in terms(text)}
    return [line for line in lines if known.intersection(terms(line))]
