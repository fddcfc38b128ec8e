"""The tool `recall`: long-term memory, searched by meaning and words."""

from datetime import datetime
from time import perf_counter
from typing import Any

from pydantic import BaseModel, Field

from companions.models import Companion
from companions.remembered import describe
from companions.tools.acting import Acting
from companions.tools.bounds import fitting, room
from companions.tools.showing import show
from companions.tools.tool import Tool, ToolError
from memory.among import Among
from memory.embedding import embed_cue
from memory.models import Recall
from memory.origins import Origins, load_origins
from memory.recall import Found, recall

MOST_A_TURN = 3


class RecallIn(BaseModel):
    """Search long-term memory when what is already given does not answer the person."""

    cue: str = Field(min_length=1, max_length=2000, description="What to look for, in plain words.")
    count: int = Field(5, ge=1, le=20, description="How many memories at most.")


def _recall(acting: Acting, arguments: RecallIn, now: datetime) -> dict[str, Any]:
    _allow(acting)
    began, companion = perf_counter(), acting.companion
    found = recall(
        companion.pk,
        arguments.cue,
        arguments.count,
        now=now,
        zone=companion.user.zone,
        vector=embed_cue(arguments.cue, acting.payer, companion.names),
        names=companion.names,
        policy=companion.policy,
        mood=acting.mood,
        among=Among(leaving_out=[acting.message.pk] if acting.message else []),
    )
    origins = load_origins(companion.pk, [one.memory for one in found])
    given = fitting([_told(one, companion, origins) for one in found], room(acting))
    show(acting, found[: len(given)], arguments.cue, now, began, policy=companion.recall_policy)
    return {"remembered": given}


def _allow(acting: Acting) -> None:
    if _searches(acting) >= MOST_A_TURN:
        raise ToolError(f"You have searched {MOST_A_TURN} times in this turn. Answer with what you have.")


def _searches(acting: Acting) -> int:
    if acting.waking:
        return sum(one["name"] == "recall" for one in acting.waking.steps)
    mine = Recall.objects.filter(companion_id=acting.companion.pk, reply=acting.reply_id, by=Recall.By.TOOL)
    return mine.exclude(policy="").count()


def _told(found: Found, companion: Companion, origins: Origins) -> dict[str, Any]:
    """A memory with its day in the user's zone, and what it is."""
    memory = found.memory
    return {
        "when": f"{memory.happened_at.astimezone(companion.user.zone):%Y-%m-%d}",
        "what": describe(memory, companion, origins),
        "text": memory.text,
    }


TOOLS = [Tool("recall", RecallIn, _recall)]
