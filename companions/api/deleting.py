from typing import Self
from uuid import UUID

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from ninja import Field, Router, Schema
from pydantic import model_validator

from companions.api.finding import my_companion
from companions.deletion import forget_every, forget_many
from companions.deletion.memories import MOST_AT_ONCE
from companions.errors import CompanionsError
from memory.models import Memory

router = Router(tags=["memories"])


class DeleteIn(Schema):
    ids: list[UUID] = Field(
        [], max_length=MOST_AT_ONCE, description="These memories; others are passed over."
    )
    all: bool = Field(False, description="All of them, in place of some.")
    kinds: list[Memory.Kind] = Field([], max_length=20, description="With `all`: only those of these kinds.")
    confirm: str = Field("", description="With `all`: the companion's name, so that nothing goes by a slip.")
    with_messages: bool = Field(
        False,
        description="Delete the messages as well that they come from; else those are hidden from prompts.",
    )

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if self.all == bool(self.ids):
            raise ValueError("name ids, or all")
        if self.kinds and not self.all:
            raise ValueError("kinds go with all")
        return self


class DeletedOut(Schema):
    deleted: int


@router.post(
    "/{uuid:companion_id}/memories/delete",
    response=DeletedOut,
    operation_id="delete_memories",
    summary="Delete many memories everywhere, or all",
)
def delete_memories(request: HttpRequest, companion_id: UUID, body: DeleteIn) -> dict[str, int]:
    companion, now = my_companion(request, companion_id), timezone.now()
    if not body.all:
        return {"deleted": forget_many(companion.pk, body.ids, now, with_messages=body.with_messages)}
    if body.confirm.strip() != companion.name.strip():
        raise CompanionsError("not_confirmed", _("This is not its name."))
    return {"deleted": forget_every(companion.pk, body.kinds, now, with_messages=body.with_messages)}
