"""Conversations whose messages form a tree, as ChatGPT, DeepSeek and Claude export them.

Nodes without a message that is imported are left out, and their children are attached to their parents.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pasts.collector import Collector
from pasts.json_scan import Piece
from pasts.past import MAX_MESSAGES, PastFormatError


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


def read_conversations(
    collector: Collector,
    root: Piece,
    key: str,
    read_nodes: Callable[[Collector, Piece], Iterable[tuple[str, Node]]],
    *,
    title: str,
    ids: Sequence[str],
    current: str | None = None,
) -> None:
    """Read a list of conversations, also under the key `conversations`, or a single one. Raise PastFormatError.

    The value under `key` holds a conversation's nodes, which `read_nodes` reads. `title`, `ids` and `current` are the
    keys of its title, of its id (the first that is there) and of the node that the person saw last.
    """
    for conversation in _list_conversations(root, key):
        collector.count_talk()
        fields: dict[str | None, Any] = {}
        nodes: dict[str, Node] = {}
        for name, piece in conversation.members():
            if name in {title, *ids, current}:
                fields[name] = piece.load()
            elif name == key:
                nodes = _collect_nodes(collector, read_nodes(collector, piece))
        given = _add_messages(collector, nodes)
        seen = fields.get(current)
        leaf = given.get(seen) if isinstance(seen, str) else None
        if leaf is None and given:
            leaf = _find_newest(nodes, given)
        id = next(filter(None, map(fields.get, ids)), "")
        collector.end(title=fields.get(title), id=id, leaf=leaf)


def _list_conversations(root: Piece, key: str) -> Iterator[Piece]:
    """Yield the conversations of a list, also under the key `conversations`, or a single one, which has the `key`."""
    if root.is_object:
        inner = dict(root.members())
        if key in inner:
            yield root
            return
        root = inner.get("conversations", root)
    yield from root.elements()


def _collect_nodes(collector: Collector, nodes: Iterable[tuple[str, Node]]) -> dict[str, Node]:
    """Return the nodes by their keys. Raise PastFormatError as soon as they have too many messages.

    The collector would find it too, but only after all nodes are read.
    """
    found: dict[str, Node] = {}
    count = collector.count
    for key, node in nodes:
        count += bool(node.said and node.said.text.strip())
        if count > MAX_MESSAGES:
            raise PastFormatError("too_many_messages")
        found[key] = node
    return found


def _add_messages(collector: Collector, nodes: dict[str, Node]) -> dict[str, str]:
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
    """Return the id of the message with the latest time, or of the last one if none has a time.

    Of several with the same time it is the last one, since a question and its answer may have the same.
    """
    last = list(given)[-1]
    timed = [(said.at, key) for key in given if (said := nodes[key].said) and said.at and said.at.tzinfo]
    return given[max(reversed(timed), key=lambda pair: pair[0])[1] if timed else last]
