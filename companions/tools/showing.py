"""What a tool shows a model is on record: it can be traced, is not shown twice, and goes where it is deleted."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from time import perf_counter
from typing import Any

from django.db import transaction

from companions.models import Companion
from companions.tools.tool_context import ToolContext
from memory.models import Memory, Recall
from memory.recall.recall import Found, record


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
