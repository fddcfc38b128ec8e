"""ChatGPT's conversations.json: a list of conversations, each a tree of nodes with one current node.

Nodes without a message of the person or of ChatGPT are left out, and their children are attached to their parents.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

from pasts.collector import Collector
from pasts.json_scan import Piece, as_list, as_mapping, as_text
from pasts.past import MAX_MESSAGES, PastFormatError
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


class Said(NamedTuple):
    """A message that is imported."""

    speaker: str
    is_person: bool
    text: str
    at: datetime | None


class Node(NamedTuple):
    parent: str | None
    children: list[str]
    said: Said | None


def read_conversations(collector: Collector, root: Piece) -> None:
    """Read a list of conversations, also under the key `conversations`, or a single one. Raise PastFormatError."""
    if root.is_object:
        inner = dict(root.members())
        if "mapping" in inner:
            _read_conversation(collector, root)
            return
        root = inner.get("conversations", root)
    for conversation in root.elements():
        _read_conversation(collector, conversation)


def _read_conversation(collector: Collector, conversation: Piece) -> None:
    collector.count_talk()
    fields: dict[str, Any] = {}
    nodes: dict[str, Node] = {}
    for key, piece in conversation.members():
        if key in {"title", "current_node", "conversation_id", "id"}:
            fields[key] = piece.load()
        elif key == "mapping":
            nodes = dict(_read_nodes(collector, piece))
    given = _add_tree(collector, nodes)
    current = fields.get("current_node")
    leaf = given.get(current) if isinstance(current, str) else None
    if leaf is None and given:
        leaf = _find_newest(nodes, given)
    collector.end(
        title=fields.get("title"), id=fields.get("conversation_id") or fields.get("id") or "", leaf=leaf
    )


def _read_nodes(collector: Collector, mapping: Piece) -> Iterator[tuple[str, Node]]:
    count = collector.count
    for key, piece in mapping.members():
        collector.count_items(ITEMS_A_NODE)
        fields = as_mapping(piece.load())
        children = [child for child in as_list(fields.get("children")) if isinstance(child, str)]
        message = as_mapping(fields.get("message"))
        said = _read_message(collector, message) if message else None
        count += bool(said and said.text.strip())
        if count > MAX_MESSAGES:  # the collector would find it too, but only after all nodes are read
            raise PastFormatError("too_many_messages")
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


def _add_tree(collector: Collector, nodes: dict[str, Node]) -> dict[str, str]:
    """Add the messages, parents first; return for each node the id of its message, or of its nearest ancestor's."""
    followers = _find_followers(collector, nodes)
    given: dict[str, str] = {}
    visited: set[str] = set()
    for root in [*followers.pop(None, []), *nodes]:  # nodes last, for cycles that no root reaches
        if root in visited:
            continue
        waiting: list[tuple[str, str | None]] = [(root, None)]
        while waiting:
            key, parent = waiting.pop()
            if key in visited:
                continue
            visited.add(key)
            if said := nodes[key].said:
                parent = collector.add(key, parent=parent, **said._asdict()) or parent
            if parent:
                given[key] = parent
            waiting.extend((follower, parent) for follower in reversed(followers.get(key, [])))
    return given


def _find_followers(collector: Collector, nodes: dict[str, Node]) -> dict[str | None, list[str]]:
    """Return the children of each node, in its own order; those under None have no parent in the file."""
    named_by = {child: key for key, node in nodes.items() for child in node.children if child in nodes}
    parents: dict[str, str | None] = {}
    for key, node in nodes.items():
        parent = node.parent if node.parent in nodes else named_by.get(key)
        if node.parent not in nodes and node.parent:
            collector.remarks.add("tree_mended")
        parents[key] = parent
    followers: dict[str | None, list[str]] = {}
    for key, node in nodes.items():
        for child in dict.fromkeys(node.children):
            if parents.get(child) == key:
                followers.setdefault(key, []).append(child)
    placed = {child for children in followers.values() for child in children}
    for key, parent in parents.items():
        if key not in placed:
            followers.setdefault(parent, []).append(key)
    return followers


def _find_newest(nodes: dict[str, Node], given: dict[str, str]) -> str:
    """Return the id of the message with the latest time, or of the last one if none has a time."""
    last = list(given)[-1]
    timed = [(said.at, key) for key in given if (said := nodes[key].said) and said.at and said.at.tzinfo]
    return given[max(timed)[1] if timed else last]
