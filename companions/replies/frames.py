"""Replies, messages and memories in the form in which sockets and the API give them."""

from collections.abc import Iterable
from typing import Any

from django.utils import translation
from django.utils.translation import gettext as _

from companions.memories.reasons import describe_reasons
from companions.models import Companion, Message, Reply
from companions.replies.queue import Started
from memory.models import Recalled
from memory.recall.recall import Found
from providers.errors import ProviderRefused, ProviderUnavailable

SENTENCES = {error.code: error.sentence for error in (ProviderUnavailable, ProviderRefused)}


def describe_failure(code: str) -> str:
    """Return what happened to a failed reply and what to do, kindly and in the active language."""
    return str(
        SENTENCES.get(code) or _("Something went wrong on Kith's side. Your message is kept; try again.")
    )


def message(row: Message) -> dict[str, Any]:
    return {
        "id": str(row.pk),
        "role": row.role,
        "text": row.text,
        "client_id": row.client_id,
        "said_at": row.said_at.isoformat(),
        "is_hidden": row.is_hidden,
        "is_rehearsed": row.is_rehearsed,
    }


def saved(started: Started) -> dict[str, Any]:
    """Return the frame which says that a message is kept, and which reply it will have."""
    reply = {"id": str(started.reply.pk), "state": started.reply.state}
    return {"type": "message.saved", "message": message(started.message), "reply": reply}


def heard(reply: Reply) -> dict[str, Any]:
    """Return the frame which says what is left of a reply that was broken off, and of the answer that it became."""
    answer = message(reply.answer) if reply.answer else None
    ids = {"id": str(reply.pk), "message_id": str(reply.message_id)}
    return {"type": "reply.heard", **ids, "text": reply.text, "message": answer}


def recalled(found: Iterable[Found]) -> list[dict[str, Any]]:
    return list(map(_describe_memory, found))


def _describe_memory(found: Found | Recalled) -> dict[str, Any]:
    memory = found.memory
    return {
        "id": str(memory.pk),
        "kind": memory.kind,
        "text": memory.text,
        "happened_at": memory.happened_at.isoformat(),
        "score": found.score,
        "reasons": found.reasons,
        "message_id": str(memory.message_id) if memory.message_id else None,
    }


def recalled_for(reply: Reply) -> list[dict[str, Any]]:
    """Return what was recalled for the reply, from its rows, best first, each with a sentence that says why."""
    recalls = reply.recalls.order_by("at").prefetch_related("found__memory")
    with translation.override(reply.companion.user.language or "en"):
        return [
            _describe_memory(found) | {"why": describe_reasons(found.reasons, found.memory.text)}
            for recall in recalls
            for found in recall.found.all()
        ]


def ending(reply: Reply, companion: Companion) -> dict[str, Any]:
    """Return the fields of the frame with which a reply ends."""
    fields: dict[str, Any] = {"message": message(reply.answer) if reply.answer else None}
    if reply.code:
        with translation.override(companion.user.language or "en"):
            fields |= {"code": reply.code, "detail": describe_failure(reply.code)}
    return fields
