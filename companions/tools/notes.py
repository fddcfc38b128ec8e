"""The tool `note`: the session's scratch, which ends with it."""

from datetime import datetime
from typing import Any

from django.db import transaction
from pydantic import BaseModel, Field

from companions.models import Message, Session
from companions.tools.acting import Acting
from companions.tools.tool import Tool, ToolError

SCRATCH_CHARACTERS = 4000


class NoteIn(BaseModel):
    """Note a line for the rest of this talk, for yourself."""

    text: str = Field(min_length=1, max_length=1000)


@transaction.atomic
def _note(acting: Acting, arguments: NoteIn, now: datetime) -> dict[str, Any]:
    acting.hold()
    line = " ".join(arguments.text.split())
    if not line:
        raise ToolError("text: is empty")
    session = _session(acting)
    session.scratch = bounded(f"{session.scratch}\n{line}".strip())
    session.save(update_fields=["scratch"])
    return {"noted": line, "full": f"{len(session.scratch)} of {SCRATCH_CHARACTERS} characters"}


def _session(acting: Acting) -> Session:
    """The talk's: that of the message, or in a waking the open one, where the person has said something in it."""
    mine = Session.objects.filter(companion=acting.companion)
    if acting.message:
        return mine.get(pk=acting.message.session_id)
    session = mine.filter(ended_at=None, messages__role=Message.Role.USER).first()
    if session is None:
        raise ToolError("No talk is under way: there is nothing that this could be noted for.")
    return session


def bounded(scratch: str) -> str:
    """The newest lines that fit: the oldest fall out."""
    while len(scratch) > SCRATCH_CHARACTERS:
        _oldest, _end, scratch = scratch.partition("\n")
    return scratch


TOOLS = [Tool("note", NoteIn, _note)]
