"""RisuAI's `module.risum`, which its CHARX files contain beside the card: a lorebook, scripts, triggers and assets.

Its format: the byte 111, the version 0, the length of the payload (four bytes, little-endian), and the payload: JSON
whose bytes are substituted by a table. Assets may follow, which are not read. The table is RisuAI's, under a licence
that does not allow Kith to include it; an operator may provide it (`KITH_RISUAI_MAP`).

Scripts and triggers are kept where cards have them, and never run.
"""

from typing import Any

from cards.lorebooks import MAX_ENTRIES, normalise_book, translate_risuai
from cards.values import MAX_JSON_BYTES, CardFormatError, as_mapping, clean, parse_json

MODULE = "module.risum"
HEAD = b"\x6f\x00"
HEAD_BYTES = 6
MAX_BYTES = HEAD_BYTES + MAX_JSON_BYTES  # only assets can come after these
TABLE_BYTES = 256
# The keys of a module that contain scripts or HTML, and RisuAI's names for them in a card's extensions.
PROGRAMS = {"regex": "customScripts", "trigger": "triggerscript", "backgroundEmbedding": "backgroundHTML"}


def read_table(content: bytes) -> bytes:
    """Return the 256-byte decoding table from its file, which may have the encoding table of 256 bytes before it.

    Raise ValueError if there is no such table.
    """
    table = content[-TABLE_BYTES:]
    if len(content) not in {TABLE_BYTES, 2 * TABLE_BYTES} or len(set(table)) != TABLE_BYTES:
        raise ValueError("no table of 256 bytes that differ")
    return table


def add_module(card: dict[str, Any], content: bytes, table: bytes) -> set[str]:
    """Add the lorebook entries and programs of a module to its normalised card; return remarks about the outcome.

    The first MAX_BYTES of the module are enough as `content`. A module that cannot be read leaves the card unchanged.
    """
    if not content.startswith(HEAD):
        return {"module_broken"}
    if not table:
        return {"module_packed"}
    try:
        module = _read(content, table)
        book = normalise_book({"entries": [translate_risuai(entry) for entry in _list_entries(module)]})
    except CardFormatError:
        return {"module_broken"}
    remarks = _add_entries(card["data"], book["entries"])
    return remarks | _add_programs(card["data"], module)


def _read(content: bytes, table: bytes) -> dict[str, Any]:
    """Return the decoded module. Raise CardFormatError if anything is wrong with it."""
    length = int.from_bytes(content[2:HEAD_BYTES], "little")
    packed = content[HEAD_BYTES : HEAD_BYTES + length]
    if not packed or len(packed) < length or length > MAX_JSON_BYTES:
        raise CardFormatError("broken_json")
    root, _is_cleaned = clean(parse_json(packed.translate(table)))
    module = as_mapping(root).get("module")
    if as_mapping(root).get("type") != "risuModule" or not isinstance(module, dict):
        raise CardFormatError("no_card")
    return module


def _list_entries(module: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the module's lorebook entries except folders. Raise CardFormatError `too_many_entries`."""
    listed = module.get("lorebook")
    found = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    if len(found) > MAX_ENTRIES:
        raise CardFormatError("too_many_entries")
    return [entry for entry in found if entry.get("mode") != "folder"]


def _add_entries(data: dict[str, Any], entries: list[dict[str, Any]]) -> set[str]:
    """Add the entries that the card's own lorebook lacks (RisuAI writes most to both); return remarks."""
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
    """Copy the module's programs to the card's extensions unless it has them already; return remarks."""
    found = {name: module[key] for key, name in PROGRAMS.items() if module.get(key)}
    if not found:
        return set()
    extensions = data["extensions"]
    extensions["risuai"] = {**found, **as_mapping(extensions.get("risuai"))}
    return {"programs_inert"}
