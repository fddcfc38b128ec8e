"""Records of what a tool showed a model, and of the messages behind what it stores, so that deletion reaches both."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from time import perf_counter
from typing import Any
from uuid import UUID

from django.db import transaction

from companions.models import Companion, Message
from companions.prompting.turn_prompt import PLAYED
from companions.tools.tool import ToolContext
from memory.models import Memory, Recall
from memory.recall.recall import Found, record
from memory.recall.traits import terms


def record_shown(
    context: ToolContext, found: Sequence[Found], cue: str, now: datetime, began: float, policy: str = ""
) -> None:
    """Record that the model was shown these memories, found since `began`. `policy` is that of the ranking, if any."""
    milliseconds = round((perf_counter() - began) * 1000)
    with transaction.atomic():
        context.hold()
        record(
            context.companion.pk,
            Recall.By.TOOL,
            cue,
            found,
            now,
            milliseconds,
            reply_id=context.reply_id,
            policy=policy,
        )
    context.recalled += found
    context.shown_ids |= {shown.memory.pk for shown in found}
    context.shown_ids |= {shown.memory.message_id for shown in found if shown.memory.message_id}


def render_originals(
    memories: Iterable[Memory], companion: Companion, played: Collection[UUID] = ()
) -> list[dict[str, Any]]:
    """Return what was said, verbatim: time in the user's zone, speaker, text, and a note if it may be a game's."""
    return [
        {
            "when": f"{memory.happened_at.astimezone(companion.user.zone):%a %Y-%m-%d %H:%M}",
            "who": (companion.user.name or "They") if memory.speaker == Memory.Speaker.USER else "You",
            "text": memory.message.text if memory.message else memory.text,
            **({"note": PLAYED} if memory.pk in played else {}),
        }
        for memory in memories
    ]


def find_sources(context: ToolContext, text: str) -> list[UUID]:
    """Return the ids of the text's sources: the messages acted upon, and the fewest shown ones with its other terms."""
    ids = [message.pk for message in context.causes]
    missing = set(terms(text)).difference(*(terms(message.text) for message in context.causes))
    shown = _load_shown_terms(context)
    for id in sorted(shown, key=lambda id: -len(missing & shown[id])):
        if id not in ids and missing & shown[id]:
            ids.append(id)
            missing -= shown[id]
    return ids


def _load_shown_terms(context: ToolContext) -> dict[UUID, set[str]]:
    """Return the terms of every message, by id, that the prompt shows or that something in it was drawn from.

    Of a message that only a learnt memory in the prompt was drawn from, these are the terms of that memory.
    """
    companion_id = context.companion.pk
    said = [found.memory for found in context.recalled if found.memory.message_id]
    learnt = {found.memory.pk: found.memory for found in context.recalled if not found.memory.message_id}
    shown = {message.pk: set(terms(message.text)) for message in context.history}
    shown |= {memory.message_id: set(terms(memory.text)) for memory in said if memory.message_id}
    behind: dict[UUID, set[str]] = {}
    links = Memory.sources.through.objects.filter(memory__companion=companion_id, memory__in=learnt)
    known = [*context.verbatim_ids, *(memory.message_id for memory in said)]
    for memory_id, message_id in links.exclude(message__in=known).values_list("memory", "message"):
        behind.setdefault(message_id, set()).update(terms(learnt[memory_id].text))
    shown |= behind
    # The sources of the pinned context and of the inner state.
    others = Message.objects.filter(companion=companion_id, pk__in=context.shown_ids, is_hidden=False)
    others = others.exclude(pk__in=shown.keys())
    return shown | {id: set(terms(text)) for id, text in others.values_list("pk", "text")}
