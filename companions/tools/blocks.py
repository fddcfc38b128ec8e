"""The tools `block_append` and `block_replace`: texts that are always in mind."""

from datetime import datetime
from typing import Any

from django.db import transaction
from pydantic import BaseModel, Field

from companions.tools.sources import sources
from companions.tools.tool import Tool
from companions.tools.tool_context import ToolContext
from memory.core_memory import append_to_block, replace_in_block
from memory.models import Block
from memory.models.always import By


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


TOOLS = [Tool("block_append", AppendIn, _append), Tool("block_replace", ReplaceIn, _replace)]
