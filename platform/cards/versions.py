"""A card in the one form, as it is written for others: V3 as the specification has it, and V2 for what knows no V3."""

from datetime import datetime
from typing import Any

from cards.schema import CARD, LOREBOOK

V1 = ("name", "description", "personality", "scenario", "first_mes", "mes_example")
V3_ONLY = (
    "assets",
    "creation_date",
    "creator_notes_multilingual",
    "group_only_greetings",
    "modification_date",
    "nickname",
    "source",
)
MAY_BE_MISSING = ("character_book", "creator_notes_multilingual", "nickname", "source")
BOOK_MAY_MISS = ("name", "description", "scan_depth", "token_budget", "recursive_scanning")
ENTRY_MAY_MISS = ("case_sensitive", "position", "priority", "id", "name", "comment")
BACKFILL_NOTE = (
    "This character card is Character Card V3, but it is loaded as a Character Card V2. "
    "Please use a Character Card V3 compatible application to use this character card properly."
)


def to_v3(card: dict[str, Any], modified: datetime) -> dict[str, Any]:
    """Return the normalised card, or lorebook, for a file: without what says nothing."""
    data = card["data"]
    if card["spec"] == LOREBOOK:
        return {**card, "data": _write_book(data)}
    told = _without(data, MAY_BE_MISSING)
    if data["character_book"]:
        told["character_book"] = _write_book(data["character_book"])
    told["modification_date"] = int(modified.timestamp())
    return {**card, "spec": CARD, "spec_version": "3.0", "data": told}


def to_v2(card: dict[str, Any], *, is_backfill: bool = False) -> dict[str, Any]:
    """Return the normalised card without what V2 does not know: no decorators, and no patterns as keys.

    V1's fields stand at the top as well, as SillyTavern has them, for programs that know V1 alone.

    `is_backfill`: it stands beside a V3, and says so to whoever reads it instead.
    """
    data = card["data"]
    told = {key: value for key, value in _without(data, MAY_BE_MISSING).items() if key not in V3_ONLY}
    if book := data["character_book"]:
        entries = [
            {key: value for key, value in entry.items() if key != "use_regex"}
            | {"content": strip_decorators(entry["content"])}
            for entry in book["entries"]
        ]
        told["character_book"] = _write_book({**book, "entries": entries})
    if is_backfill:
        told["creator_notes"] = f"{BACKFILL_NOTE}\n\n{data['creator_notes']}".rstrip()
    repeated = {key: told[key] for key in V1}
    return {**card, **repeated, "spec": "chara_card_v2", "spec_version": "2.0", "data": told}


def strip_decorators(content: str) -> str:
    """Return the entry's text without the lines at its head that begin with @@, and the empty ones around them."""
    lines = content.split("\n")
    last = -1
    for at, line in enumerate(lines):
        if line.lstrip().startswith("@@"):
            last = at
        elif line.strip():
            break
    return content if last < 0 else "\n".join(lines[last + 1 :]).lstrip("\r\n")


def _write_book(book: dict[str, Any]) -> dict[str, Any]:
    entries = [_without(entry, ENTRY_MAY_MISS) for entry in book["entries"]]
    return {**_without(book, BOOK_MAY_MISS), "entries": entries}


def _without(told: dict[str, Any], may_be_missing: tuple[str, ...]) -> dict[str, Any]:
    """Return a copy without those of these keys that say nothing; 0 and no are something."""
    return {
        key: value
        for key, value in told.items()
        if key not in may_be_missing or value not in (None, "", [], {})
    }
