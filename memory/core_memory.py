"""Core memory, always in the prompt: slots and blocks. Callers lock the companion, so that the limits are kept."""

import unicodedata
from collections.abc import Collection
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from database.deletions import note_deletions
from memory.errors import FullError, MatchError, NamingError, ReadOnlyError, UnknownError, WordsError
from memory.models import Block, Slot
from memory.models.core_memory import BLOCK_CHARACTERS, MAX_BLOCKS, MAX_SLOTS, SLOT_CHARACTERS, By
from memory.recall.traits import terms
from text.strings import is_storable

Row = TypeVar("Row", Slot, Block)
NAME_CHARACTERS = 60
DESCRIPTION_CHARACTERS = 200
MAX_BLOCK_CHARACTERS = 2 * BLOCK_CHARACTERS  # the highest limit that can be set for a block


def check_name(name: str) -> str:
    """Return the name in its stored form: NFC, stripped. Raise NamingError if it is empty, too long or fits no URL."""
    name = unicodedata.normalize("NFC", name.strip())
    if not name:
        raise NamingError("no_name", _("This needs a name."))
    if len(name) > NAME_CHARACTERS:
        detail = _("A name can have up to %(most)s characters.")
        raise NamingError("name_too_long", detail % {"most": NAME_CHARACTERS})
    if not name.isprintable() or not is_storable(name) or "/" in name or "\\" in name or name in {".", ".."}:
        raise NamingError("bad_name", _("A name cannot contain slashes or control characters."))
    return name


@transaction.atomic
def set_slot(
    companion_id: UUID, name: str, text: str, *, by: By, now: datetime, source_ids: Collection[UUID] = ()
) -> Slot:
    """Write the slot of that name, creating it if necessary. Raise NamingError, WordsError, FullError."""
    name, text = check_name(name), _check_text(text, SLOT_CHARACTERS)
    mine = Slot.objects.filter(companion_id=companion_id)
    slot = mine.filter(name=name).first() or Slot(companion_id=companion_id, name=name)
    if slot.pk is None and mine.count() >= MAX_SLOTS:
        detail = _("There are already %(most)s slots. Change or delete one.")
        raise FullError("slots_full", detail % {"most": MAX_SLOTS})
    before, slot.text, slot.by, slot.changed_at = slot.text, text, by, now
    slot.save()
    _keep_sources(slot, before, source_ids)
    return slot


def delete_slot(companion_id: UUID, name: str, *, by: By) -> None:
    """Delete a slot. Raise NamingError, UnknownError."""
    _delete(find_slot(companion_id, name), by)


def find_slot(companion_id: UUID, name: str) -> Slot:
    """Return the slot of that name. Raise NamingError, UnknownError."""
    slots = Slot.objects.filter(companion_id=companion_id)
    return _find(slots, name, "no_such_slot", _("There is no slot with this name."))


def find_block(companion_id: UUID, name: str) -> Block:
    """Return the block of that name. Raise NamingError, UnknownError."""
    blocks = Block.objects.filter(companion_id=companion_id)
    return _find(blocks, name, "no_such_block", _("There is no block with this name."))


def _find(rows: QuerySet[Row], name: str, code: str, detail: str) -> Row:
    found = rows.filter(name=check_name(name)).first()
    if found is None:
        if names := ", ".join(rows.values_list("name", flat=True)):
            detail += " " + _("There are: %(names)s.") % {"names": names}
        raise UnknownError(code, detail)
    return found


def append_to_block(
    companion_id: UUID, name: str, text: str, *, by: By, now: datetime, source_ids: Collection[UUID] = ()
) -> Block:
    """Append the text to the block as its last line. Raise NamingError, WordsError, ReadOnlyError, UnknownError."""
    block = find_block(companion_id, name)
    _require_writable(block, by)
    whole = f"{block.text}\n{text.strip()}" if block.text and text.strip() else text
    return _save_block(block, whole, by, now, source_ids)


def replace_in_block(
    companion_id: UUID,
    name: str,
    old: str,
    new: str,
    *,
    by: By,
    now: datetime,
    source_ids: Collection[UUID] = (),
) -> Block:
    """Replace `old`, which must occur in the block exactly once, by `new`.

    Raise MatchError, NamingError, WordsError, ReadOnlyError, UnknownError.
    """
    block = find_block(companion_id, name)
    _require_writable(block, by)
    # Overlapping occurrences count too.
    times = sum(block.text.startswith(old, at) for at in range(len(block.text))) if old else 0
    if times != 1:
        detail = _("The text to replace is in the block %(times)s times; it must be there exactly once.")
        raise MatchError("no_single_match", detail % {"times": times})
    return _save_block(block, block.text.replace(old, new).strip(), by, now, source_ids, may_be_empty=True)


@transaction.atomic
def write_block(
    companion_id: UUID,
    name: str,
    text: str,
    *,
    by: By,
    now: datetime,
    description: str | None = None,
    most_characters: int | None = None,
    is_read_only: bool | None = None,
) -> Block:
    """Write the whole block of that name, creating it if necessary; arguments that are None change nothing.

    Raise NamingError, WordsError, FullError, and ReadOnlyError if the companion itself writes a read-only block.
    """
    name = check_name(name)
    mine = Block.objects.filter(companion_id=companion_id)
    block = mine.filter(name=name).first() or Block(companion_id=companion_id, name=name)
    if block.pk is None and mine.count() >= MAX_BLOCKS:
        detail = _("There are already %(most)s blocks. Change or delete one.")
        raise FullError("blocks_full", detail % {"most": MAX_BLOCKS})
    _require_writable(block, by)
    if description is not None:
        block.description = _check_text(description, DESCRIPTION_CHARACTERS, may_be_empty=True)
    if is_read_only is not None:
        block.is_read_only = is_read_only
    if most_characters is not None:
        if not 1 <= most_characters <= MAX_BLOCK_CHARACTERS:
            detail = _("A block can hold 1 to %(most)s characters.")
            raise WordsError("bad_size", detail % {"most": f"{MAX_BLOCK_CHARACTERS:,}"})
        block.most_characters = most_characters
    return _save_block(block, text, by, now, (), may_be_empty=True)


def delete_block(companion_id: UUID, name: str, *, by: By) -> None:
    """Delete a block. Raise NamingError, UnknownError."""
    _delete(find_block(companion_id, name), by)


def _delete(row: Slot | Block, by: By) -> None:
    """Delete the row. What a companion deletes may come back on another branch, and is not listed as deleted for good."""
    type(row).objects.filter(companion_id=row.companion_id, pk=row.pk).delete()
    if by is not By.COMPANION:
        note_deletions(type(row).__name__.lower(), [f"{row.pk}@{row.companion_id}"])


@transaction.atomic
def _save_block(
    block: Block,
    text: str,
    by: By,
    now: datetime,
    source_ids: Collection[UUID],
    *,
    may_be_empty: bool = False,
) -> Block:
    text = _check_text(text, block.most_characters, may_be_empty=may_be_empty)
    before, block.text, block.by, block.changed_at = block.text, text, by, now
    block.save()
    _keep_sources(block, before, source_ids)
    return block


def _require_writable(block: Block, by: By) -> None:
    if block.is_read_only and by == By.COMPANION:
        raise ReadOnlyError("block_read_only", _("This block is read-only."))


def _check_text(text: str, most: int, *, may_be_empty: bool = False) -> str:
    text = text.replace("\r\n", "\n").strip()
    if not text and not may_be_empty:
        raise WordsError("empty_text", _("This text is empty."))
    if len(text) > most:
        detail = _("This would be %(count)s characters; there is room for %(most)s.")
        raise WordsError("text_too_long", detail % {"count": f"{len(text):,}", "most": f"{most:,}"})
    if not is_storable(text):
        raise WordsError("bad_text", _("This text contains characters that cannot be saved."))
    return text


def _keep_sources(row: Slot | Block, before: str, source_ids: Collection[UUID]) -> None:
    """Set the row's sources: the new ones, and the earlier ones too if any term of the earlier text is still in it."""
    if set(terms(before)) & set(terms(row.text)):
        row.sources.add(*source_ids)  # type: ignore[arg-type]  # their ids are UUIDs
    else:
        row.sources.set(source_ids)  # type: ignore[arg-type]
