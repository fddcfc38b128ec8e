"""The tools `block_append`, `block_replace` and `note`: texts that are always in mind, and the session's notes."""

from datetime import datetime
from typing import Any

from django.db import transaction
from pydantic import BaseModel, Field

from companions.models import Message, Session
from companions.tools.provenance import sources
from companions.tools.tool import Tool, ToolContext, ToolError
from memory.core_memory import append_to_block, replace_in_block
from memory.models import Block
from memory.models.core_memory import By

SCRATCH_CHARACTERS = 4000


class AppendIn(BaseModel):
    """Add a line to a block that is always in mind."""

    block: str = Field(min_length=1, description="Its name.")
    text: str = Field(min_length=1, max_length=4000)


class ReplaceIn(BaseModel):
    """Replace words in a block; nothing in their place takes them out."""

    block: str = Field(min_length=1, description="Its name.")
    old: str = Field(min_length=1, max_length=4000, description="Stands there once.")
    new: str = Field("", max_length=4000)


@transaction.atomic
def _append(context: ToolContext, arguments: AppendIn, now: datetime) -> dict[str, Any]:
    context.hold()
    ids = sources(context, arguments.text)
    pk, text = context.companion.pk, arguments.text
    return _now(append_to_block(pk, arguments.block, text, by=By.COMPANION, now=now, source_ids=ids))


@transaction.atomic
def _replace(context: ToolContext, arguments: ReplaceIn, now: datetime) -> dict[str, Any]:
    context.hold()
    ids = sources(context, arguments.new) if arguments.new.strip() else []
    pk, old, new = context.companion.pk, arguments.old, arguments.new
    return _now(replace_in_block(pk, arguments.block, old, new, by=By.COMPANION, now=now, source_ids=ids))


def _now(block: Block) -> dict[str, Any]:
    return {"block": block.name, "full": f"{len(block.text)} of {block.most_characters} characters"}


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


TOOLS = [
    Tool("block_append", AppendIn, _append),
    Tool("block_replace", ReplaceIn, _replace),
    Tool("note", NoteIn, _note),
]
