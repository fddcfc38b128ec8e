"""The one registry of tools that a model may call, each with its handler. A handler answers with plain data."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from time import perf_counter
from typing import Any
from uuid import UUID

from django.db import transaction
from pydantic import BaseModel, Field, ValidationError

from companions.replies.claim import hold_claimed
from companions.replies.material import Turn
from memory.among import Among
from memory.embedding import embed_cue
from memory.keeping import keep_fact
from memory.models import Recall
from memory.recall import recall, record
from memory.terms import terms
from memory.text import is_storable


class RememberIn(BaseModel):
    """Keep one fact in long-term memory. Use it when the person asks you to remember something."""

    text: str = Field(min_length=1, max_length=2000, description="The fact, as one plain sentence.")


class RecallIn(BaseModel):
    """Search long-term memory when what is already given does not answer the person."""

    cue: str = Field(min_length=1, max_length=2000, description="What to look for, in plain words.")
    count: int = Field(5, ge=1, le=20, description="How many memories at most.")


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    arguments: type[BaseModel]
    handler: Callable[[Turn, Any, datetime], dict[str, Any]]

    @property
    def offer(self) -> dict[str, Any]:
        """The tool in the form of the chat protocol."""
        schema = self.arguments.model_json_schema()
        description = schema.pop("description", "")
        return {
            "type": "function",
            "function": {"name": self.name, "description": description, "parameters": schema},
        }


@transaction.atomic
def _remember(turn: Turn, arguments: RememberIn, now: datetime) -> dict[str, Any]:
    hold_claimed(turn.reply)
    memory = keep_fact(
        turn.companion.pk,
        arguments.text,
        now,
        now,
        source_ids=_sources(turn, arguments.text),
        zone=turn.companion.user.zone,
    )
    return {"remembered": memory.text}


def _sources(turn: Turn, fact: str) -> list[UUID]:
    """The message that is answered, and the fewest others shown that hold the words which the fact has besides."""
    shown = {message.pk: set(terms(message.text)) for message in turn.history}
    shown |= {
        one.memory.message_id: set(terms(one.memory.text)) for one in turn.found if one.memory.message_id
    }
    missing, sources = set(terms(fact)) - set(terms(turn.message.text)), [turn.message.pk]
    for id in sorted(shown, key=lambda id: -len(missing & shown[id])):
        if missing & shown[id]:
            sources.append(id)
            missing -= shown[id]
    return sources


def _recall(turn: Turn, arguments: RecallIn, now: datetime) -> dict[str, Any]:
    began = perf_counter()
    found = recall(
        turn.companion.pk,
        arguments.cue,
        arguments.count,
        now=now,
        zone=turn.companion.user.zone,
        vector=embed_cue(arguments.cue, turn.payer, turn.companion.names),
        names=turn.companion.names,
        policy=turn.companion.policy,
        mood=turn.mood,
        among=Among(leaving_out=turn.given, leaving_out_memories=[one.memory.pk for one in turn.found]),
    )
    with transaction.atomic():
        hold_claimed(turn.reply)
        record(
            turn.companion.pk,
            Recall.By.TOOL,
            arguments.cue,
            found,
            now,
            _since(began),
            reply_id=turn.reply.pk,
            policy=turn.companion.recall_policy,
        )
    turn.found += found
    turn.shown |= {one.memory.pk for one in found}
    return {
        "remembered": [
            {
                "when": f"{one.memory.happened_at:%Y-%m-%d}",
                "said_by": one.memory.speaker,
                "text": one.memory.text,
            }
            for one in found
        ]
    }


def _since(began: float) -> int:
    return round((perf_counter() - began) * 1000)


TOOLS = {
    tool.name: tool for tool in (Tool("remember", RememberIn, _remember), Tool("recall", RecallIn, _recall))
}


@cache
def offered() -> list[dict[str, Any]]:
    """All tools in the form of the chat protocol; the same list each time, not to be changed."""
    return [tool.offer for tool in TOOLS.values()]


def call(turn: Turn, name: str, arguments: str, now: datetime) -> dict[str, Any]:
    """What the tool gives back; an unknown name or wrong arguments give an `error` that the model can mend."""
    if name not in TOOLS:
        return {"error": f"There is no tool {name!r}. There are: {', '.join(TOOLS)}."}
    try:
        checked = TOOLS[name].arguments.model_validate_json(arguments or "{}")
    except ValidationError as error:
        return {
            "error": "; ".join(
                f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}" for e in error.errors()
            )
        }
    if not is_storable(json.dumps(checked.model_dump(), ensure_ascii=False)):
        return {"error": "arguments: not storable text"}
    return TOOLS[name].handler(turn, checked, now)
