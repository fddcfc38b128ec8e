"""ChatGPT's conversations.json: a list of conversations, each a tree of nodes with one current node."""

import re
from collections.abc import Iterator
from typing import Any

from pasts.collector import Collector
from pasts.json_scan import Piece, as_list, as_mapping, as_text
from pasts.programs import tree
from pasts.programs.tree import Node, Said
from pasts.times import read_time

ITEMS_A_NODE = 2  # counted for a node in addition to its parts
SPEAKERS = {"user": True, "assistant": False}
REASONING = {"thoughts", "reasoning_recap"}
SYSTEM = {"user_editable_context", "model_editable_context", "app_pairing_content", "system_error"}
TOOLS = {
    "code",
    "execution_output",
    "tether_quote",
    "tether_browsing_code",
    "tether_browsing_display",
    "sonic_webpage",
    "super_widget",
}
CITATION = re.compile("\ue200[^\ue200\ue201]{0,2000}\ue201|【\\d{1,4}(?::\\d{1,4})?†[^】]{0,200}】")


def read_conversations(collector: Collector, root: Piece) -> None:
    """Read a list of conversations, also under the key `conversations`, or a single one. Raise PastFormatError."""
    ids = ("conversation_id", "id")
    tree.read_conversations(
        collector, root, "mapping", _read_nodes, title="title", ids=ids, current="current_node"
    )


def _read_nodes(collector: Collector, mapping: Piece) -> Iterator[tuple[str, Node]]:
    for key, piece in mapping.members():
        collector.count_items(ITEMS_A_NODE)
        fields = as_mapping(piece.load())
        children = [child for child in as_list(fields.get("children")) if isinstance(child, str)]
        message = as_mapping(fields.get("message"))
        said = _read_message(collector, message) if message else None
        yield key, Node(as_text(fields.get("parent")) or None, children, said)


def _read_message(collector: Collector, message: dict[str, Any]) -> Said | None:
    """Return the message to import; None, with a remark, if it is a tool's, the system's, reasoning or hidden."""
    role = as_text(as_mapping(message.get("author")).get("role"))
    content, metadata = as_mapping(message.get("content")), as_mapping(message.get("metadata"))
    form = as_text(content.get("content_type"))
    remark = None
    if role == "tool" or form in TOOLS or as_text(message.get("recipient")) not in {"", "all"}:
        remark = "tools_left_out"
    elif role not in SPEAKERS or form in SYSTEM:
        remark = "system_left_out"
    elif form in REASONING or message.get("channel") == "analysis":
        remark = "reasoning_left_out"
    elif metadata.get("is_visually_hidden_from_conversation"):
        remark = "hidden_left_out"
    if remark:
        collector.remarks.add(remark)
        return None
    texts = [as_text(content.get("text"))]
    parts = as_list(content.get("parts"))
    collector.count_items(len(parts))
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif text := as_text(as_mapping(part).get("text")):
            texts.append(text)  # the transcript of speech
        else:
            collector.remarks.add("files_left_out")
    if metadata.get("attachments"):
        collector.remarks.add("files_left_out")
    text = "\n".join(text for text in texts if text)
    if role == "assistant" and CITATION.search(text):
        collector.remarks.add("citations_left_out")
        text = CITATION.sub("", text)
    at = read_time(message.get("create_time")) or read_time(message.get("update_time"))
    return Said(role, SPEAKERS[role], text, at)
