from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from ninja import Field, Router, Schema, Status

from companions.api.finding import my_companion
from companions.locking import lock
from companions.schemas import Text
from memory.always import delete_block, find_block, write_block
from memory.models import Block
from memory.models.always import By

router = Router(tags=["always in mind"])


class BlockIn(Schema):
    text: Text
    description: Text | None = Field(None, description="What it is for: at most 200 characters.")
    most_characters: int | None = Field(None, description="How much it may hold.")
    is_read_only: bool | None = Field(None, description="Whether the companion may not write on it.")


class BlockOut(Schema):
    name: str
    description: str
    text: str
    most_characters: int
    is_read_only: bool
    by: By
    changed_at: datetime


class BlocksOut(Schema):
    items: list[BlockOut]
    next: str | None = Field(None, description="Always null: all are given at once.")


@router.get(
    "/{uuid:companion_id}/blocks", response=BlocksOut, operation_id="list_blocks", summary="Blocks, by name"
)
def list_blocks(request: HttpRequest, companion_id: UUID) -> dict[str, object]:
    return {"items": list(my_companion(request, companion_id).blocks.order_by("name")), "next": None}


@router.get(
    "/{uuid:companion_id}/blocks/{path:name}",
    response=BlockOut,
    operation_id="get_block",
    summary="One block",
)
def get_block(request: HttpRequest, companion_id: UUID, name: str) -> Block:
    return find_block(my_companion(request, companion_id).pk, name)


@router.put(
    "/{uuid:companion_id}/blocks/{path:name}",
    response=BlockOut,
    operation_id="write_block",
    summary="Write a block; what is not sent beside its text stays as it was",
)
@transaction.atomic
def put_block(request: HttpRequest, companion_id: UUID, name: str, body: BlockIn) -> Block:
    companion = my_companion(request, companion_id)
    lock(companion.pk)
    return write_block(companion.pk, name, by=By.USER, now=timezone.now(), **body.dict())


@router.delete(
    "/{uuid:companion_id}/blocks/{path:name}",
    response={204: None},
    operation_id="delete_block",
    summary="Delete it",
)
@transaction.atomic
def remove_block(request: HttpRequest, companion_id: UUID, name: str) -> Status[None]:
    companion = my_companion(request, companion_id)
    lock(companion.pk)
    delete_block(companion.pk, name)
    return Status(204, None)
