"""The tool `recall`: long-term memory, searched by meaning and words."""

from datetime import datetime, tzinfo
from time import perf_counter
from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field

from companions.replies.using import called_to_mind
from companions.tools.acting import Acting
from companions.tools.bounds import fitting, room
from companions.tools.showing import show
from companions.tools.tool import Tool, ToolError
from memory.among import Among
from memory.embedding import embed_cue
from memory.models import Recall
from memory.recall import Found, recall
from memory.together import alone

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
        among=Among(leaving_out=acting.given, leaving_out_memories=_known(acting, now)),
    )
    given = fitting([_told(one, companion.user.zone) for one in found], room(acting))
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


def _known(acting: Acting, now: datetime) -> list[UUID]:
    """What this session has recalled already."""
    asked, given = acting.message, [one.memory.pk for one in acting.found]
    before = alone(called_to_mind(asked.session_id, now, but=asked.pk)).memories if asked else []
    return [*before, *given]


def _told(found: Found, zone: tzinfo) -> dict[str, Any]:
    """A memory with its day in the user's zone."""
    memory = found.memory
    return {
        "when": f"{memory.happened_at.astimezone(zone):%Y-%m-%d}",
        "said_by": memory.speaker,
        "text": memory.text,
    }


TOOLS = [Tool("recall", RecallIn, _recall)]
