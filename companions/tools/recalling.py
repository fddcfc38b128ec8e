"""The tool `recall`: long-term memory, searched by meaning and words."""

from datetime import datetime, tzinfo
from time import perf_counter
from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field

from companions.replies.material import Turn
from companions.replies.using import called_to_mind
from companions.tools.bounds import fitting, room
from companions.tools.showing import show
from companions.tools.tool import Tool, ToolError
from memory.among import Among
from memory.embedding import embed_cue
from memory.models import Recall
from memory.recall import Found, recall

MOST_A_TURN = 3


class RecallIn(BaseModel):
    """Search long-term memory when what is already given does not answer the person."""

    cue: str = Field(min_length=1, max_length=2000, description="What to look for, in plain words.")
    count: int = Field(5, ge=1, le=20, description="How many memories at most.")


def _recall(turn: Turn, arguments: RecallIn, now: datetime) -> dict[str, Any]:
    _allow(turn)
    began, companion = perf_counter(), turn.companion
    found = recall(
        companion.pk,
        arguments.cue,
        arguments.count,
        now=now,
        zone=companion.user.zone,
        vector=embed_cue(arguments.cue, turn.payer, companion.names),
        names=companion.names,
        policy=companion.policy,
        mood=turn.mood,
        among=Among(leaving_out=turn.given, leaving_out_memories=_known(turn, now)),
    )
    given = fitting([_told(one, companion.user.zone) for one in found], room(turn))
    show(turn, found[: len(given)], arguments.cue, now, began, policy=companion.recall_policy)
    return {"remembered": given}


def _allow(turn: Turn) -> None:
    mine = Recall.objects.filter(companion_id=turn.companion.pk, reply=turn.reply, by=Recall.By.TOOL)
    if mine.exclude(policy="").count() >= MOST_A_TURN:
        raise ToolError(f"You have searched {MOST_A_TURN} times in this turn. Answer with what you have.")


def _known(turn: Turn, now: datetime) -> list[UUID]:
    """What this session has recalled already."""
    before = called_to_mind(turn.message.session_id, now, but=turn.message.pk).memories
    return [*before, *(one.memory.pk for one in turn.found)]


def _told(found: Found, zone: tzinfo) -> dict[str, Any]:
    """A memory with its day in the user's zone."""
    memory = found.memory
    return {
        "when": f"{memory.happened_at.astimezone(zone):%Y-%m-%d}",
        "said_by": memory.speaker,
        "text": memory.text,
    }


TOOLS = [Tool("recall", RecallIn, _recall)]
