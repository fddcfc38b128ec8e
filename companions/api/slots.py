from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from ninja import Field, Router, Schema, Status

from companions.api.finding import my_companion
from companions.locking import lock
from companions.schemas import Text
from memory.always import delete_slot, find_slot, set_slot
from memory.models import Slot
from memory.models.always import SLOT_CHARACTERS, By

router = Router(tags=["always in mind"])


class SlotIn(Schema):
    text: Text = Field(description=f"At most {SLOT_CHARACTERS} characters.")


class SlotOut(Schema):
    name: str
    text: str
    by: By
    changed_at: datetime


class SlotsOut(Schema):
    items: list[SlotOut]
    next: str | None = Field(None, description="Always null: all are given at once.")


@router.get(
    "/{uuid:companion_id}/slots", response=SlotsOut, operation_id="list_slots", summary="Slots, by name"
)
def list_slots(request: HttpRequest, companion_id: UUID) -> dict[str, object]:
    return {"items": list(my_companion(request, companion_id).slots.order_by("name")), "next": None}


@router.get(
    "/{uuid:companion_id}/slots/{path:name}", response=SlotOut, operation_id="get_slot", summary="One slot"
)
def get_slot(request: HttpRequest, companion_id: UUID, name: str) -> Slot:
    return find_slot(my_companion(request, companion_id).pk, name)


@router.put(
    "/{uuid:companion_id}/slots/{path:name}",
    response=SlotOut,
    operation_id="set_slot",
    summary="Set a slot; sent twice it is set once",
)
@transaction.atomic
def put_slot(request: HttpRequest, companion_id: UUID, name: str, body: SlotIn) -> Slot:
    companion = my_companion(request, companion_id)
    lock(companion.pk)
    return set_slot(companion.pk, name, body.text, by=By.USER, now=timezone.now())


@router.delete(
    "/{uuid:companion_id}/slots/{path:name}",
    response={204: None},
    operation_id="delete_slot",
    summary="Delete it",
)
@transaction.atomic
def remove_slot(request: HttpRequest, companion_id: UUID, name: str) -> Status[None]:
    companion = my_companion(request, companion_id)
    lock(companion.pk)
    delete_slot(companion.pk, name)
    return Status(204, None)
