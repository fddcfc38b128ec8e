"""RisuAI's `module.risum`, which its CHARX have beside the card: a lorebook, scripts and triggers, and assets.

A byte 111 and the version 0, the length of what follows (four bytes, the low one first), and that as JSON of which each
byte is exchanged for another by a table. The assets after it are not read. The table is RisuAI's own, and under a licence
that does not let it stand here: an operator may give it (`KITH_RISUAI_MAP`).

Scripts and triggers are kept where cards have them, and never run.
"""

from typing import Any

from cards.lorebooks import MAX_ENTRIES, normalise_book
from cards.values import (
    MAX_JSON_BYTES,
    CardFormatError,
    as_flag,
    as_mapping,
    as_number,
    as_text,
    clean,
    parse_json,
)

MODULE = "module.risum"
HEAD = b"\x6f\x00"
HEAD_BYTES = 6
MAX_BYTES = HEAD_BYTES + MAX_JSON_BYTES  # what comes after these is assets
TABLE_BYTES = 256
# What of a module is a program or a page, and what RisuAI calls that in a card's extensions.
PROGRAMS = {"regex": "customScripts", "trigger": "triggerscript", "backgroundEmbedding": "backgroundHTML"}


def read_table(content: bytes) -> bytes:
    """Return the table by which bytes are read, of such a file: its 256 bytes, or those after the 256 to write by.

    ValueError.
    """
    table = content[-TABLE_BYTES:]
    if len(content) not in {TABLE_BYTES, 2 * TABLE_BYTES} or len(set(table)) != TABLE_BYTES:
        raise ValueError("no table of 256 bytes that differ")
    return table


def add_module(card: dict[str, Any], content: bytes, table: bytes) -> set[str]:
    """Add to a normalised card what its module holds, of which the first MAX_BYTES are enough; return remarks: what
    became of it.

    A module that cannot be read leaves the card as it is.
    """
    if not content.startswith(HEAD):
        return {"module_broken"}
    if not table:
        return {"module_packed"}
    try:
        module = _read(content, table)
        book = normalise_book({"entries": [_translate(entry) for entry in _list_entries(module)]})
    except CardFormatError:
        return {"module_broken"}
    remarks = _add_entries(card["data"], book["entries"])
    return remarks | _add_programs(card["data"], module)


def _read(content: bytes, table: bytes) -> dict[str, Any]:
    """Return the module. CardFormatError for whatever is wrong with it."""
    length = int.from_bytes(content[2:HEAD_BYTES], "little")
    packed = content[HEAD_BYTES : HEAD_BYTES + length]
    if not packed or len(packed) < length or length > MAX_JSON_BYTES:
        raise CardFormatError("broken_json")
    told, _is_cleaned = clean(parse_json(packed.translate(table)))
    module = as_mapping(told).get("module")
    if as_mapping(told).get("type") != "risuModule" or not isinstance(module, dict):
        raise CardFormatError("no_card")
    return module


def _list_entries(module: dict[str, Any]) -> list[dict[str, Any]]:
    """Return its entries, but folders. CardFormatError `too_many_entries`."""
    listed = module.get("lorebook")
    found = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    if len(found) > MAX_ENTRIES:
        raise CardFormatError("too_many_entries")
    return [entry for entry in found if entry.get("mode") != "folder"]


def _translate(raw: dict[str, Any]) -> dict[str, Any]:
    """Return an entry of RisuAI's as one of a card."""
    chance = as_number(raw.get("activationPercent"), None)
    more = as_mapping(raw.get("extentions"))  # so RisuAI spells it
    extensions = {"risuai": more} if more else {}
    return {
        "keys": as_text(raw.get("key")),
        "secondary_keys": as_text(raw.get("secondkey")),
        "content": as_text(raw.get("content")),
        "name": as_text(raw.get("comment")),
        "comment": as_text(raw.get("comment")),
        "insertion_order": raw.get("insertorder"),
        "constant": raw.get("alwaysActive"),
        "selective": raw.get("selective"),
        "use_regex": raw.get("useRegex"),
        "case_sensitive": as_flag(more.get("risu_case_sensitive"), default=False),
        "extensions": extensions
        if chance is None
        else {"probability": chance, "useProbability": True, **extensions},
    }


def _add_entries(data: dict[str, Any], entries: list[dict[str, Any]]) -> set[str]:
    """Add those that the card's own lorebook lacks: RisuAI writes most of them twice."""
    book = data["character_book"]
    there = {_identify(entry) for entry in book["entries"]} if book else set()
    new = [entry for entry in entries if _identify(entry) not in there]
    if not new:
        return set()
    if book is None:
        book = data["character_book"] = normalise_book({})
    if len(book["entries"]) + len(new) > MAX_ENTRIES:
        return {"module_broken"}
    book["entries"] += new
    return {"module_lore"}


def _identify(entry: dict[str, Any]) -> tuple[str, frozenset[str]]:
    return entry["content"].strip(), frozenset(entry["keys"])


def _add_programs(data: dict[str, Any], module: dict[str, Any]) -> set[str]:
    """Keep its programs in the card's extensions, where those have none."""
    found = {name: module[key] for key, name in PROGRAMS.items() if module.get(key)}
    if not found:
        return set()
    extensions = data["extensions"]
    extensions["risuai"] = {**found, **as_mapping(extensions.get("risuai"))}
    return {"programs_inert"}
