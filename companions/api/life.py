from datetime import datetime
from typing import Literal
from uuid import UUID

from django.http import HttpRequest
from ninja import Field, Router, Schema

from companions.api.cursor import PageQuery, merged
from companions.api.finding import my_companion
from companions.life import log

router = Router(tags=["life"])
Out = dict[str, object]


class ToolOut(Schema):
    name: str
    is_error: bool


class LifeEntryOut(Schema):
    """A waking, or a change of its inner state by thinking about a talk."""

    id: UUID
    kind: Literal["waking", "reflection"]
    at: datetime
    why: str = Field(description="What made it do so, in a sentence in the person's language.")
    what: str = Field(description="What came of it, in a sentence.")
    state: Literal["waiting", "done", "skipped", "failed"]
    outcome: Literal["", "spoke", "silent", "held"]
    code: str = Field(description="Why it did not wake, or was not to speak, in a word.")
    note: str = Field(description="What it was to wake for.")
    is_asked_for: bool
    missed: int = Field(description="Due times that had passed before, for all of which this one stands.")
    thought: str
    message_id: UUID | None = Field(description="What it said.")
    tools: list[ToolOut]


class LifeLogOut(Schema):
    items: list[LifeEntryOut]
    next: str | None


@router.get(
    "/{uuid:companion_id}/life",
    response=LifeLogOut,
    operation_id="list_life",
    summary="Its life log: each waking and what came of it, newest first",
)
def list_life(request: HttpRequest, companion_id: UUID, asked: PageQuery) -> Out:
    companion = my_companion(request, companion_id)
    rows = [(log.wakings(companion), "due_at"), (log.reflections(companion), "made_at")]
    items, following = merged(rows, asked)
    return {"items": [log.entry(companion, one) for one in items], "next": following}
