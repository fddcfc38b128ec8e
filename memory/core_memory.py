"""Writing what is always in mind: slots and blocks. Whoever calls holds the companion's lock, so that counts hold."""

import unicodedata
from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from memory.errors import FullError, MatchError, NamingError, ReadOnlyError, UnknownError, WordsError
from memory.models import Block, Slot
from memory.models.always import BLOCK_CHARACTERS, MOST_BLOCKS, MOST_SLOTS, SLOT_CHARACTERS, By
from memory.recall.traits import terms
from text.storable import is_storable

NAME_CHARACTERS = 60
MOST_BLOCK_CHARACTERS = 2 * BLOCK_CHARACTERS  # no wider can a block be made


def named(name: str) -> str:
    """The name as it is kept: in NFC, without blanks around it. Raises NamingError for what no address can hold."""
    name = unicodedata.normalize("NFC", name.strip())
    if not name:
        raise NamingError("no_name", _("This needs a name."))
    if len(name) > NAME_CHARACTERS:
        detail = _("A name can hold %(most)s characters.")
        raise NamingError("name_too_long", detail % {"most": NAME_CHARACTERS})
    if not name.isprintable() or not is_storable(name) or "/" in name or "\\" in name or name in {".", ".."}:
        raise NamingError("bad_name", _("A name holds neither slashes nor control characters."))
    return name


@transaction.atomic
def set_slot(
    companion_id: UUID, name: str, text: str, *, by: By, now: datetime, source_ids: Collection[UUID] = ()
) -> Slot:
    """The slot with that text, made where there was none. Raises NamingError, WordsError, FullError."""
    name, text = named(name), _worded(text, SLOT_CHARACTERS)
    mine = Slot.objects.filter(companion_id=companion_id)
    slot = mine.filter(name=name).first() or Slot(companion_id=companion_id, name=name)
    if slot.pk is None and mine.count() >= MOST_SLOTS:
        detail = _("There are %(most)s slots already. Change one of them, or delete one.")
        raise FullError("slots_full", detail % {"most": MOST_SLOTS})
    before, slot.text, slot.by, slot.changed_at = slot.text, text, by, now
    slot.save()
    _keep_sources(slot, before, source_ids)
    return slot


def delete_slot(companion_id: UUID, name: str) -> Slot:
    """The slot as it was before it went. Raises UnknownError."""
    slot = find_slot(companion_id, name)
    Slot.objects.filter(companion_id=companion_id, pk=slot.pk).delete()
    return slot


def find_slot(companion_id: UUID, name: str) -> Slot:
    """The slot of that name. Raises NamingError, UnknownError."""
    slot = Slot.objects.filter(companion_id=companion_id, name=named(name)).first()
    if slot is None:
        names = Slot.objects.filter(companion_id=companion_id).values_list("name", flat=True)
        raise UnknownError("no_such_slot", _there_are(_("There is no slot of this name."), names))
    return slot


def find_block(companion_id: UUID, name: str) -> Block:
    """The block of that name. Raises NamingError, UnknownError."""
    block = Block.objects.filter(companion_id=companion_id, name=named(name)).first()
    if block is None:
        names = Block.objects.filter(companion_id=companion_id).values_list("name", flat=True)
        raise UnknownError("no_such_block", _there_are(_("There is no block of this name."), names))
    return block


def append_to_block(
    companion_id: UUID, name: str, text: str, *, by: By, now: datetime, source_ids: Collection[UUID] = ()
) -> Block:
    """The block with the text as its last line. Raises NamingError, WordsError, ReadOnlyError, UnknownError."""
    block = _writable(companion_id, name, by)
    whole = f"{block.text}\n{text.strip()}" if block.text and text.strip() else text
    return _written(block, whole, by, now, source_ids)


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
    """The block with `new` in the place of `old`, which must stand in it exactly once; MatchError, and as above."""
    block = _writable(companion_id, name, by)
    times = _times(block.text, old)
    if times != 1:
        detail = _("What is to be replaced stands in the block %(times)s times; it must stand there once.")
        raise MatchError("no_single_match", detail % {"times": times})
    return _written(block, block.text.replace(old, new).strip(), by, now, source_ids, may_be_empty=True)


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
    """The block with this whole text, made where there was none; what is None stays as it was.

    Raises NamingError, WordsError, FullError, and ReadOnlyError where the companion itself writes on such a block.
    """
    name = named(name)
    mine = Block.objects.filter(companion_id=companion_id)
    block = mine.filter(name=name).first() or Block(companion_id=companion_id, name=name)
    if block.pk is None and mine.count() >= MOST_BLOCKS:
        detail = _("There are %(most)s blocks already. Change one of them, or delete one.")
        raise FullError("blocks_full", detail % {"most": MOST_BLOCKS})
    _allow(block, by)
    _describe(block, description, most_characters, is_read_only)
    return _written(block, text, by, now, (), may_be_empty=True)


def delete_block(companion_id: UUID, name: str) -> Block:
    """The block as it was before it went. Raises UnknownError."""
    block = find_block(companion_id, name)
    Block.objects.filter(companion_id=companion_id, pk=block.pk).delete()
    return block


def _describe(block: Block, description: str | None, most: int | None, is_read_only: bool | None) -> None:
    if description is not None:
        block.description = _worded(description, 200, may_be_empty=True)
    if is_read_only is not None:
        block.is_read_only = is_read_only
    if most is not None:
        if not 1 <= most <= MOST_BLOCK_CHARACTERS:
            detail = _("A block can be made for 1 to %(most)s characters.")
            raise WordsError("bad_size", detail % {"most": f"{MOST_BLOCK_CHARACTERS:,}"})
        block.most_characters = most


@transaction.atomic
def _written(
    block: Block,
    text: str,
    by: By,
    now: datetime,
    source_ids: Collection[UUID],
    *,
    may_be_empty: bool = False,
) -> Block:
    text = _worded(text, block.most_characters, may_be_empty=may_be_empty)
    before, block.text, block.by, block.changed_at = block.text, text, by, now
    block.save()
    _keep_sources(block, before, source_ids)
    return block


def _writable(companion_id: UUID, name: str, by: By) -> Block:
    block = find_block(companion_id, name)
    _allow(block, by)
    return block


def _allow(block: Block, by: By) -> None:
    if block.is_read_only and by == By.COMPANION:
        raise ReadOnlyError("block_read_only", _("This block is read-only."))


def _worded(text: str, most: int, *, may_be_empty: bool = False) -> str:
    text = text.replace("\r\n", "\n").strip()
    if not text and not may_be_empty:
        raise WordsError("empty_text", _("There is nothing in this text."))
    if len(text) > most:
        detail = _("This would be %(count)s characters; there is room for %(most)s.")
        raise WordsError("text_too_long", detail % {"count": f"{len(text):,}", "most": f"{most:,}"})
    if not is_storable(text):
        raise WordsError("bad_text", _("This text holds characters that are not text."))
    return text


def _keep_sources(row: Slot | Block, before: str, source_ids: Collection[UUID]) -> None:
    """Its sources: the new ones, and the earlier ones while any word of the earlier text still stands there."""
    if set(terms(before)) & set(terms(row.text)):
        row.sources.add(*source_ids)  # type: ignore[arg-type]  # their ids are UUIDs
    else:
        row.sources.set(source_ids)  # type: ignore[arg-type]


def _times(text: str, part: str) -> int:
    """How often the part stands in the text, overlapping ones too."""
    return sum(text.startswith(part, at) for at in range(len(text))) if part else 0


def _there_are(detail: str, names: Collection[str]) -> str:
    return detail + " " + _("There are: %(names)s.") % {"names": ", ".join(names)} if names else detail
