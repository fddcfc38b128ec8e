"""DeepSeek's conversations.json: a list of conversations, each a tree of nodes without a current one.

A message has `fragments` of several types. Older exports have one `content` instead, and mostly no role: there, who
asks and who answers take turns.
"""

import re
from collections.abc import Iterator
from typing import Any

from pasts.collector import Collector
from pasts.json_scan import Piece, as_list, as_mapping, as_text
from pasts.programs import tree
from pasts.programs.tree import Node, Said
from pasts.times import read_time

ITEMS_A_NODE = 2  # counted for a node in addition to its fragments
SIDES = {"REQUEST": True, "RESPONSE": False}  # types of fragments that are said; true for the person's
ROLES = {"user": True, "assistant": False}
OTHERS = {"THINK": "reasoning_left_out", "FILE": "files_left_out"}  # all other types are steps of a search
CITATION = re.compile(r" ?\[citation:\d{1,4}\]")


def read_conversations(collector: Collector, root: Piece) -> None:
    """Read a list of conversations, also under the key `conversations`, or a single one. Raise PastFormatError."""
    tree.read_conversations(collector, root, "mapping", _read_nodes, title="title", ids=("id",))


def _read_nodes(collector: Collector, mapping: Piece) -> Iterator[tuple[str, Node]]:
    sides: dict[str, bool] = {}  # of the nodes read so far; a node comes after its parent
    for key, piece in mapping.members():
        collector.count_items(ITEMS_A_NODE)
        fields = as_mapping(piece.load())
        parent = as_text(fields.get("parent"))
        said = None
        if message := as_mapping(fields.get("message")):
            said = _read_message(collector, message, answers=sides.get(parent, False))
            sides[key] = said.is_person
        children = [child for child in as_list(fields.get("children")) if isinstance(child, str)]
        yield key, Node(parent or None, children, said)


def _read_message(collector: Collector, message: dict[str, Any], *, answers: bool) -> Said:
    """Return the message. `answers` tells whether it follows one of the person's, for messages without a role."""
    if message.get("files"):
        collector.remarks.add("files_left_out")
    if message.get("search_results"):
        collector.remarks.add("tools_left_out")
    if message.get("reasoning_content"):
        collector.remarks.add("reasoning_left_out")
    role = ROLES.get(as_text(message.get("role")).lower())
    said: dict[bool, list[str]] = {True: [], False: []}
    fragments = as_list(message.get("fragments"))
    collector.count_items(len(fragments))
    for fragment in map(as_mapping, fragments):
        kind, text = as_text(fragment.get("type")), as_text(fragment.get("content"))
        if kind in SIDES:
            said[SIDES[kind]].append(text)
        elif kind:
            collector.remarks.add(OTHERS.get(kind, "tools_left_out"))
    if any(said.values()):
        is_person = bool(said[True])
    elif role is not None:
        is_person = role
    else:
        is_person = not answers and not message.get("reasoning_content")
    texts = said[is_person] or [as_text(message.get("content"))]
    text = "\n\n".join(filter(None, texts))
    if not is_person and CITATION.search(text):
        collector.remarks.add("citations_left_out")
        text = CITATION.sub("", text)
    return Said("user" if is_person else "assistant", is_person, text, read_time(message.get("inserted_at")))
