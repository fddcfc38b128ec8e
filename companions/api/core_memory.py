"""Slots and blocks, which are in every prompt."""

from datetime import datetime
from uuid import UUID

from django.utils import timezone
from ninja import Field, Router, Schema, Status

from accounts.authentication import SignedInRequest
from companions.access import get_companion
from companions.api.schemas import FullListOut, Text
from companions.memories.editing import delete_core_memory, edit_core_memory
from memory import core_memory
from memory.models import Block, Slot
from memory.models.core_memory import SLOT_CHARACTERS, By

router = Router(tags=["always in mind"])
SLOT, BLOCK = "/{uuid:companion_id}/slots", "/{uuid:companion_id}/blocks"


class SlotIn(Schema):
    text: Text = Field(description=f"At most {SLOT_CHARACTERS} characters.")


class SlotOut(Schema):
    name: str
    text: str
    by: By
    changed_at: datetime


class SlotsOut(FullListOut[SlotOut]):
    pass


class BlockIn(Schema):
    text: Text
    description: Text | None = Field(None, description="What the block is for; at most 200 characters.")
    most_characters: int | None = Field(
        None, description="Maximum length of the block's text, in characters."
    )
    is_read_only: bool | None = Field(
        None, description="Whether the companion is prevented from changing the block."
    )


class BlockOut(Schema):
    name: str
    description: str
    text: str
    most_characters: int
    is_read_only: bool
    by: By
    changed_at: datetime


class BlocksOut(FullListOut[BlockOut]):
    pass


@router.get(SLOT, response=SlotsOut, operation_id="list_slots", summary="List the slots, by name")
def list_slots(request: SignedInRequest, companion_id: UUID) -> dict[str, object]:
    return {"items": list(get_companion(request.user, companion_id).slots.order_by("name")), "next": None}


@router.get(f"{SLOT}/{{path:name}}", response=SlotOut, operation_id="get_slot", summary="Get a slot")
def get_slot(request: SignedInRequest, companion_id: UUID, name: str) -> Slot:
    return core_memory.find_slot(get_companion(request.user, companion_id).pk, name)


@router.put(
    f"{SLOT}/{{path:name}}",
    response=SlotOut,
    operation_id="set_slot",
    summary="Set a slot; repeating the request has no further effect",
)
def set_slot(request: SignedInRequest, companion_id: UUID, name: str, body: SlotIn) -> Slot:
    companion = get_companion(request.user, companion_id)
    return edit_core_memory(companion, core_memory.set_slot, name, text=body.text, now=timezone.now())


@router.delete(
    f"{SLOT}/{{path:name}}", response={204: None}, operation_id="delete_slot", summary="Delete a slot"
)
def delete_slot(request: SignedInRequest, companion_id: UUID, name: str) -> Status[None]:
    companion = get_companion(request.user, companion_id)
    delete_core_memory(companion, core_memory.find_slot(companion.pk, name), timezone.now())
    return Status(204, None)


@router.get(BLOCK, response=BlocksOut, operation_id="list_blocks", summary="List the blocks, by name")
def list_blocks(request: SignedInRequest, companion_id: UUID) -> dict[str, object]:
    return {"items": list(get_companion(request.user, companion_id).blocks.order_by("name")), "next": None}


@router.get(f"{BLOCK}/{{path:name}}", response=BlockOut, operation_id="get_block", summary="Get a block")
def get_block(request: SignedInRequest, companion_id: UUID, name: str) -> Block:
    return core_memory.find_block(get_companion(request.user, companion_id).pk, name)


@router.put(
    f"{BLOCK}/{{path:name}}",
    response=BlockOut,
    operation_id="write_block",
    summary="Write a block's text; other fields that are omitted stay unchanged",
)
def write_block(request: SignedInRequest, companion_id: UUID, name: str, body: BlockIn) -> Block:
    companion = get_companion(request.user, companion_id)
    return edit_core_memory(companion, core_memory.write_block, name, now=timezone.now(), **body.dict())


@router.delete(
    f"{BLOCK}/{{path:name}}", response={204: None}, operation_id="delete_block", summary="Delete a block"
)
def delete_block(request: SignedInRequest, companion_id: UUID, name: str) -> Status[None]:
    companion = get_companion(request.user, companion_id)
    delete_core_memory(companion, core_memory.find_block(companion.pk, name), timezone.now())
    return Status(204, None)
