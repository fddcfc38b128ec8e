"""The tool `note`: the session's scratch, which ends with it."""

from datetime import datetime
from typing import Any

from django.db import transaction
from pydantic import BaseModel, Field

from companions.models import Message, Session
from companions.tools.tool import Tool, ToolError
from companions.tools.tool_context import ToolContext

SCRATCH_CHARACTERS = 4000


class NoteIn(BaseModel):
    """Note a line for the rest of this talk, for yourself."""

    text: str = Field(min_length=1, max_length=1000)


@transaction.atomic
def _note(context: ToolContext, arguments: NoteIn, now: datetime) -> dict[str, Any]:
    context.hold()
    line = " ".join(arguments.text.split())
    if not line:
        raise ToolError("text: is empty")
    session = _session(context)
    session.scratch = bounded(f"{session.scratch}\n{line}".strip())
    session.save(update_fields=["scratch"])
    return {"noted": line, "full": f"{len(session.scratch)} of {SCRATCH_CHARACTERS} characters"}


def _session(context: ToolContext) -> Session:
    """The talk's: that of the message, or in a waking the open one, where the person has said something in it."""
    mine = Session.objects.filter(companion=context.companion)
    if context.message:
        return mine.get(pk=context.message.session_id)
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
