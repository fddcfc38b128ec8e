"""Normalised cards converted for export: V3 according to the specification, and V2 for programs without V3."""

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
    """Return the normalised card or lorebook as V3 for a file, without empty optional keys."""
    data = card["data"]
    if card["spec"] == LOREBOOK:
        return {**card, "data": _write_book(data)}
    fields = _without(data, MAY_BE_MISSING)
    if data["character_book"]:
        fields["character_book"] = _write_book(data["character_book"])
    fields["modification_date"] = int(modified.timestamp())
    return {**card, "spec": CARD, "spec_version": "3.0", "data": fields}


def to_v2(card: dict[str, Any], *, is_backfill: bool = False) -> dict[str, Any]:
    """Return the normalised card as V2, without V3's keys, decorators and `use_regex`.

    V1's fields are repeated at the top level, as SillyTavern does, for programs that support only V1.

    With `is_backfill` the card accompanies a V3 card in the same file, and its creator's notes say so.
    """
    data = card["data"]
    fields = {key: value for key, value in _without(data, MAY_BE_MISSING).items() if key not in V3_ONLY}
    if book := data["character_book"]:
        entries = [
            {key: value for key, value in entry.items() if key != "use_regex"}
            | {"content": strip_decorators(entry["content"])}
            for entry in book["entries"]
        ]
        fields["character_book"] = _write_book({**book, "entries": entries})
    if is_backfill:
        fields["creator_notes"] = f"{BACKFILL_NOTE}\n\n{data['creator_notes']}".rstrip()
    repeated = {key: fields[key] for key in V1}
    return {**card, **repeated, "spec": "chara_card_v2", "spec_version": "2.0", "data": fields}


def strip_decorators(content: str) -> str:
    """Return the entry's text without its leading decorators (lines that begin with @@) and the blank lines around."""
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


def _without(fields: dict[str, Any], may_be_missing: tuple[str, ...]) -> dict[str, Any]:
    """Return a copy without those keys of `may_be_missing` that are None or empty; 0 and False are kept."""
    return {
        key: value
        for key, value in fields.items()
        if key not in may_be_missing or value not in (None, "", [], {})
    }
