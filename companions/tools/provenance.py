"""What a tool showed a model, and which messages stand behind what it stores: deletion reaches both through this."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from time import perf_counter
from typing import Any
from uuid import UUID

from django.db import transaction

from companions.models import Companion, Message
from companions.tools.tool import ToolContext
from memory.models import Memory, Recall
from memory.recall.recall import Found, record
from memory.recall.traits import terms


def show(
    context: ToolContext, found: Sequence[Found], cue: str, now: datetime, began: float, policy: str = ""
) -> None:
    """Record that the model was shown these; without a policy they were not ranked, but looked up."""
    with transaction.atomic():
        context.hold()
        milliseconds = round((perf_counter() - began) * 1000)
        companion_id = context.companion.pk
        record(
            companion_id,
            Recall.By.TOOL,
            cue,
            found,
            now,
            milliseconds,
            reply_id=context.reply_id,
            policy=policy,
        )
    context.found += found
    context.shown |= {one.memory.pk for one in found}
    context.shown |= {one.memory.message_id for one in found if one.memory.message_id}


def originals(memories: Iterable[Memory], companion: Companion) -> list[dict[str, Any]]:
    """What was said, as it was said: when in the user's zone, who, and the words."""
    return [_original(one, companion) for one in memories]


def _original(memory: Memory, companion: Companion) -> dict[str, Any]:
    when = memory.happened_at.astimezone(companion.user.zone)
    text = memory.message.text if memory.message else memory.text
    return {"when": f"{when:%Y-%m-%d %H:%M}", "who": companion.names.get(memory.speaker) or "?", "text": text}


def sources(context: ToolContext, text: str) -> list[UUID]:
    """The messages that are acted upon, and the fewest others shown that hold the words which the text has besides."""
    shown = {message.pk: set(terms(message.text)) for message in context.history}
    shown |= {
        one.memory.message_id: set(terms(one.memory.text)) for one in context.found if one.memory.message_id
    }
    shown |= _behind_learnt(context)
    shown |= _behind_all_else(context, shown.keys())
    ids = [message.pk for message in context.causes]
    missing = set(terms(text)).difference(*(terms(message.text) for message in context.causes))
    for id in sorted(shown, key=lambda id: -len(missing & shown[id])):
        if id not in ids and missing & shown[id]:
            ids.append(id)
            missing -= shown[id]
    return ids


def _behind_all_else(context: ToolContext, known: Collection[UUID]) -> dict[UUID, set[str]]:
    """The messages behind what is always in mind, and behind the inner state, each with its words."""
    mine = Message.objects.filter(companion=context.companion.pk, pk__in=context.shown, is_hidden=False)
    return {id: set(terms(text)) for id, text in mine.exclude(pk__in=known).values_list("pk", "text")}


def _behind_learnt(context: ToolContext) -> dict[UUID, set[str]]:
    """The messages behind the learnt memories that were shown, each with the words of those."""
    learnt = {
        one.memory.pk: set(terms(one.memory.text)) for one in context.found if not one.memory.message_id
    }
    behind: dict[UUID, set[str]] = {}
    for memory_id, message_id in (
        Memory.sources.through.objects.filter(memory__companion=context.companion.pk, memory__in=learnt)
        .exclude(
            message__in=[
                *context.given,
                *(one.memory.message_id for one in context.found if one.memory.message_id),
            ]
        )
        .values_list("memory", "message")
    ):
        behind[message_id] = behind.get(message_id, set()) | learnt[memory_id]
    return behind
