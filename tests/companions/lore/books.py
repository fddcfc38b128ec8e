"""Lorebooks and talks for tests of the scan: only what matters in a test is written out there."""

from collections.abc import Mapping, Sequence
from typing import Any

from companions.lore.rules.books import read_book
from companions.lore.rules.context import ScanContext
from companions.lore.rules.entries import Entry
from companions.lore.rules.scan import Scan, scan

SAID = "Tell me of the dragon"
V3_FIELDS = {
    *("id", "name", "comment", "enabled", "insertion_order", "case_sensitive", "use_regex", "constant"),
    *("priority", "selective", "secondary_keys", "position", "extensions"),
}


def entry(content: str = "Lore.", keys: Sequence[str] = ("dragon",), **fields: Any) -> dict[str, Any]:
    """A V3 entry that the word dragon calls for; fields that V3 does not have are SillyTavern's."""
    own = {name: value for name, value in fields.items() if name in V3_FIELDS}
    extensions = {name: value for name, value in fields.items() if name not in V3_FIELDS}
    return {
        "keys": list(keys),
        "content": content,
        "enabled": True,
        "insertion_order": 10,
        "use_regex": False,
        "extensions": extensions,
        **own,
    }


def read(
    *entries: Mapping[str, Any], book_id: str = "book", rank: int = 0, **settings: Any
) -> tuple[Entry, ...]:
    return read_book(book_id, {"entries": list(entries), "extensions": {}, **settings}, rank)


def talk(*texts: str, **fields: Any) -> ScanContext:
    """A talk of these texts, the newest last and the person's; one token is one character."""
    roles = ["user" if index % 2 == 0 else "assistant" for index in range(len(texts))][::-1]
    known: dict[str, Any] = {
        "messages": list(zip(roles, texts, strict=True)),
        "assistant_messages": roles.count("assistant"),
        "message_count": len(texts),
        "chance": lambda _key: 0.5,
        "estimate": len,
        "budget": 100_000,
    }
    return ScanContext(**known | fields)


def run(entries: Sequence[Entry], *texts: str, **fields: Any) -> Scan:
    return scan(entries, talk(*(texts or (SAID,)), **fields))


def contents(outcome: Scan) -> list[str]:
    return [placed.content for placed in outcome.placed]


def codes(outcome: Scan) -> dict[str, str]:
    """Why entries were left out, by their keys without the book's."""
    return {dropped.entry.partition("#")[2]: dropped.code for dropped in outcome.dropped}
