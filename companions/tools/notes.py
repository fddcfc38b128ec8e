"""The tool `note`: the session's scratch, which ends with it."""

from datetime import datetime
from typing import Any

from django.db import transaction
from pydantic import BaseModel, Field

from companions.models import Session
from companions.replies.claim import hold_claimed
from companions.replies.material import Turn
from companions.tools.tool import Tool, ToolError

SCRATCH_CHARACTERS = 4000


class NoteIn(BaseModel):
    """Note a line for the rest of this talk, for yourself."""

    text: str = Field(min_length=1, max_length=1000)


@transaction.atomic
def _note(turn: Turn, arguments: NoteIn, now: datetime) -> dict[str, Any]:
    hold_claimed(turn.reply)
    line = " ".join(arguments.text.split())
    if not line:
        raise ToolError("text: is empty")
    session = Session.objects.get(companion=turn.companion, pk=turn.message.session_id)
    session.scratch = bounded(f"{session.scratch}\n{line}".strip())
    session.save(update_fields=["scratch"])
    return {"noted": line, "full": f"{len(session.scratch)} of {SCRATCH_CHARACTERS} characters"}


def bounded(scratch: str) -> str:
    """The newest lines that fit: the oldest fall out."""
    while len(scratch) > SCRATCH_CHARACTERS:
        _oldest, _end, scratch = scratch.partition("\n")
    return scratch


TOOLS = [Tool("note", NoteIn, _note)]
