"""Replies, messages and memories in the form in which sockets and the API give them."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.utils import translation

from companions.models import Companion, Message, Reply
from companions.reasons import in_words
from companions.replies.problems import detail_of
from memory.recall import Found

if TYPE_CHECKING:
    from companions.replies.start import Started


def as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def message(one: Message) -> dict[str, Any]:
    return {
        "id": str(one.pk),
        "role": one.role,
        "text": one.text,
        "client_id": one.client_id,
        "said_at": one.said_at.isoformat(),
        "is_hidden": one.is_hidden,
        "is_rehearsed": one.is_rehearsed,
    }


def saved(started: "Started") -> dict[str, Any]:
    """The frame which says that a message is kept, and which reply it will have."""
    reply = {"id": str(started.reply.pk), "state": started.reply.state}
    return {"type": "message.saved", "message": message(started.message), "reply": reply}


def recalled(found: Iterable[Found]) -> list[dict[str, Any]]:
    return [_recalled(one.memory, one.score, one.reasons) for one in found]


def _recalled(memory: Any, score: float, reasons: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": str(memory.pk),
        "kind": memory.kind,
        "text": memory.text,
        "happened_at": memory.happened_at.isoformat(),
        "score": score,
        "reasons": reasons,
        "message_id": str(memory.message_id) if memory.message_id else None,
    }


def recalled_for(reply: Reply) -> list[dict[str, Any]]:
    """What was recalled for the reply, from its rows, best first, each with a sentence that says why."""
    recalls = reply.recalls.order_by("at").prefetch_related("found__memory")
    found = [one for recall in recalls for one in recall.found.all()]
    with translation.override(reply.companion.user.language or "en"):
        return [
            {
                **_recalled(one.memory, one.score, one.reasons),
                "why": in_words(one.reasons, one.memory.text),
            }
            for one in found
        ]


def ending(reply: Reply, companion: Companion) -> dict[str, Any]:
    """The fields of the frame with which a reply ends."""
    fields: dict[str, Any] = {"message": message(reply.answer) if reply.answer else None}
    if reply.code:
        with translation.override(companion.user.language or "en"):
            fields |= {"code": reply.code, "detail": detail_of(reply.code)}
    return fields
