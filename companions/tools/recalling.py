"""The tool `recall`: long-term memory, searched by meaning and words."""

from datetime import datetime
from time import perf_counter
from typing import Any

from pydantic import BaseModel, Field

from companions.models import Companion
from companions.prompting.turn_prompt import describe_memory
from companions.tools.bounds import fitting, room
from companions.tools.showing import show
from companions.tools.tool import Tool, ToolError
from companions.tools.tool_context import ToolContext
from memory.embedding import embed_cue
from memory.models import Recall
from memory.recall.filters import MemoryFilter
from memory.recall.origins import Origins, load_origins
from memory.recall.recall import Found, recall

MOST_A_TURN = 3


class RecallIn(BaseModel):
    """Search long-term memory when what is already given does not answer the person."""

    cue: str = Field(min_length=1, max_length=2000, description="What to look for, in plain words.")
    count: int = Field(5, ge=1, le=20, description="How many memories at most.")


def _recall(context: ToolContext, arguments: RecallIn, now: datetime) -> dict[str, Any]:
    _allow(context)
    began, companion = perf_counter(), context.companion
    found = recall(
        companion.pk,
        arguments.cue,
        arguments.count,
        now=now,
        zone=companion.user.zone,
        vector=embed_cue(arguments.cue, context.payer, companion.names),
        names=companion.names,
        policy=companion.policy,
        mood=context.mood,
        filters=MemoryFilter(leaving_out=[context.message.pk] if context.message else []),
    )
    origins = load_origins(companion.pk, [one.memory for one in found])
    given = fitting([_told(one, companion, origins) for one in found], room(context))
    show(context, found[: len(given)], arguments.cue, now, began, policy=companion.recall_policy)
    return {"remembered": given}


def _allow(context: ToolContext) -> None:
    if _searches(context) >= MOST_A_TURN:
        raise ToolError(f"You have searched {MOST_A_TURN} times in this turn. Answer with what you have.")


def _searches(context: ToolContext) -> int:
    if context.waking:
        return sum(one["name"] == "recall" for one in context.waking.steps)
    mine = Recall.objects.filter(companion_id=context.companion.pk, reply=context.reply_id, by=Recall.By.TOOL)
    return mine.exclude(policy="").count()


def _told(found: Found, companion: Companion, origins: Origins) -> dict[str, Any]:
    """A memory with its day in the user's zone, and what it is."""
    memory = found.memory
    return {
        "when": f"{memory.happened_at.astimezone(companion.user.zone):%Y-%m-%d}",
        "what": describe_memory(memory, companion, origins),
        "text": memory.text,
    }


TOOLS = [Tool("recall", RecallIn, _recall)]
