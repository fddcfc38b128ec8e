"""Claude's conversations.json: a list of conversations, each a list of messages.

Newer exports name the message that each one follows, so that edited questions and other answers are alternatives.
"""

from collections.abc import Iterator
from typing import Any

from pasts.collector import Collector
from pasts.json_scan import Piece, as_list, as_mapping, as_text
from pasts.programs import tree
from pasts.programs.tree import Node, Said
from pasts.times import read_time

ITEMS_A_MESSAGE = 2  # counted for a message in addition to its parts
NO_PARENT = "00000000-0000-4000-8000-000000000000"  # what the first message follows
SENDERS = {"human": "user", "user": "user", "assistant": "assistant"}
TEXTS = {"text", "voice_note"}  # types of parts that are said
OTHERS = {
    "thinking": "reasoning_left_out",
    "redacted_thinking": "reasoning_left_out",
    "tool_use": "tools_left_out",
    "tool_result": "tools_left_out",
    "image": "files_left_out",
    "document": "files_left_out",
}


def read_conversations(collector: Collector, root: Piece) -> None:
    """Read a list of conversations, also under the key `conversations`, or a single one. Raise PastFormatError."""
    current = "current_leaf_message_uuid"
    tree.read_conversations(
        collector, root, "chat_messages", _read_nodes, title="name", ids=("uuid",), current=current
    )


def _read_nodes(collector: Collector, messages: Piece) -> Iterator[tuple[str, Node]]:
    previous: str | None = None
    known: set[str] = set()
    for number, piece in enumerate(messages.elements()):
        collector.count_items(ITEMS_A_MESSAGE)
        message = as_mapping(piece.load())
        parent = message.get("parent_message_uuid", previous)
        uuid = as_text(message.get("uuid"))
        key = uuid if uuid and uuid not in known else f"{uuid[:40]}#{number}"
        while key in known:
            key += "#"
        known.add(key)
        previous = key
        follows = as_text(parent) if parent != NO_PARENT else ""
        yield key, Node(follows or None, [], _read_message(collector, message) if message else None)


def _read_message(collector: Collector, message: dict[str, Any]) -> Said | None:
    """Return the message to import; None, with a remark, if it is neither the person's nor Claude's."""
    speaker = SENDERS.get(as_text(message.get("sender")).lower())
    if speaker is None:
        collector.remarks.add("system_left_out")
        return None
    if message.get("attachments") or message.get("files") or message.get("files_v2"):
        collector.remarks.add("files_left_out")
    parts = as_list(message.get("content"))
    collector.count_items(len(parts))
    texts = []
    for part in map(as_mapping, parts):
        kind = as_text(part.get("type"))
        if kind in TEXTS:
            texts.append(as_text(part.get("text")))
        elif kind in OTHERS:
            collector.remarks.add(OTHERS[kind])
    # `text` repeats the parts, with a placeholder for those that it cannot show.
    is_known = any(as_text(part.get("type")) in TEXTS | OTHERS.keys() for part in map(as_mapping, parts))
    text = "\n\n".join(filter(None, texts)) if is_known else as_text(message.get("text"))
    at = read_time(message.get("created_at")) or read_time(message.get("updated_at"))
    return Said(speaker, speaker == "user", text, at)
