"""The tools `block_append`, `block_replace` and `note`, for blocks and for the session's scratch."""

from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from companions.models import Message, Session
from companions.tools.provenance import find_sources
from companions.tools.tool import Tool, ToolContext, ToolError
from memory.core_memory import append_to_block, replace_in_block
from memory.models import Block
from memory.models.core_memory import By

MAX_SCRATCH_CHARACTERS = 4000


class AppendToBlock(Tool):
    """Add a line to a block that is always in mind."""

    name = "block_append"
    writes = True
    under_way = _("%(name)s is updating what it always keeps in mind")
    done = _("updated what it always keeps in mind")

    block: str = Field(min_length=1, description="Its name.")
    text: str = Field(min_length=1, max_length=4000)

    def run(self, context: ToolContext, now: datetime) -> dict[str, Any]:
        sources = find_sources(context, self.text)
        changed = append_to_block(
            context.companion.pk, self.block, self.text, by=By.COMPANION, now=now, source_ids=sources
        )
        return _tell_length(changed)


class ReplaceInBlock(Tool):
    """Replace words in a block; nothing in their place takes them out."""

    name = "block_replace"
    writes = True
    under_way = _("%(name)s is updating what it always keeps in mind")
    done = _("updated what it always keeps in mind")

    block: str = Field(min_length=1, description="Its name.")
    old: str = Field(min_length=1, max_length=4000, description="Stands there once.")
    new: str = Field("", max_length=4000)

    def run(self, context: ToolContext, now: datetime) -> dict[str, Any]:
        sources = find_sources(context, self.new) if self.new.strip() else []
        changed = replace_in_block(
            context.companion.pk, self.block, self.old, self.new, by=By.COMPANION, now=now, source_ids=sources
        )
        return _tell_length(changed)


def _tell_length(block: Block) -> dict[str, Any]:
    return {"block": block.name, "full": f"{len(block.text)} of {block.most_characters} characters"}


class Note(Tool):
    """Note a line for the rest of this talk, for yourself."""

    name = "note"
    writes = True
    under_way = _("%(name)s is noting something down")
    done = _("noted something down")

    text: str = Field(min_length=1, max_length=1000)

    def run(self, context: ToolContext, now: datetime) -> dict[str, Any]:
        line = " ".join(self.text.split())
        if not line:
            raise ToolError("text: is empty")
        session = _find_session(context)
        scratch = f"{session.scratch}\n{line}".strip()
        while len(scratch) > MAX_SCRATCH_CHARACTERS:
            _oldest, _newline, scratch = scratch.partition("\n")
        session.scratch = scratch
        session.save(update_fields=["scratch"])
        return {"noted": line, "full": f"{len(scratch)} of {MAX_SCRATCH_CHARACTERS} characters"}


def _find_session(context: ToolContext) -> Session:
    """Return the message's session or, in a waking, the open one if the person has written in it; else ToolError."""
    mine = Session.objects.filter(companion=context.companion)
    if context.message:
        return mine.get(pk=context.message.session_id)
    session = mine.filter(ended_at=None, messages__role=Message.Role.USER).first()
    if session is None:
        raise ToolError("No talk is under way: there is nothing that this could be noted for.")
    return session
