"""RisuAI's module beside a card: its lorebook is read by a table that the operator gives, its programs stay inert.

The table here is the tests' own; RisuAI's is not needed to prove what is done by one.
"""

import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from cards.charx import read_charx
from cards.reader import REMARKS, read_card
from cards.risum import MODULE, read_table
from cards.schema import Known
from cards.values import MAX_JSON_BYTES, CardFormatError
from config.setting_rules import risuai_table
from tests.cards.corpus import V3, dumped, escaped, zipped

Raw = dict[str, Any]
TABLE = bytes((place * 7 + 13) % 256 for place in range(256))
WRITTEN_BY = bytes(TABLE.index(place) for place in range(256))
ENTRY = {
    "key": "storm, 风暴",
    "secondkey": "",
    "comment": "Storms",
    "content": "Storms last three days here.",
    "mode": "normal",
    "insertorder": 40,
    "alwaysActive": False,
    "selective": False,
    "useRegex": False,
    "activationPercent": 50,
    "extentions": {"risu_case_sensitive": True},
}
SCRIPT = {"comment": "x", "in": ".*", "out": "<script>", "type": "editdisplay"}


def packed(content: bytes, length: int | None = None) -> bytes:
    """A module's frame around what it holds, with an asset after it."""
    length = len(content) if length is None else length
    return b"\x6f\x00" + length.to_bytes(4, "little") + content.translate(WRITTEN_BY) + b"\1\3\0\0\0abc\0"


def module(**fields: Any) -> bytes:
    """A module with these fields."""
    return packed(escaped({"module": {"name": "Mara", "id": "1", **fields}, "type": "risuModule"}))


def read(content: bytes | None, table: bytes = TABLE, card: Raw = V3) -> Known:
    """The card of a CHARX with this module beside it."""
    files = {"card.json": escaped(card)} | ({MODULE: content} if content is not None else {})
    return read_charx(BytesIO(zipped(files, zipfile.ZIP_STORED)), table).known


def without_book() -> Raw:
    return {**V3, "data": {key: value for key, value in V3["data"].items() if key != "character_book"}}


def test_a_modules_lorebook_becomes_the_cards() -> None:
    known = read(module(lorebook=[ENTRY, {"mode": "folder", "key": "f"}, "x"]), card=without_book())
    [entry] = known.card["data"]["character_book"]["entries"]
    assert (entry["keys"], entry["content"], entry["name"]) == (["storm", "风暴"], ENTRY["content"], "Storms")
    assert (entry["insertion_order"], entry["enabled"], entry["case_sensitive"]) == (40, True, True)
    assert entry["extensions"]["probability"] == 50
    assert known.remarks == ["module_lore"]


def test_entries_that_the_card_has_too_are_not_doubled() -> None:
    before = read(None).card["data"]["character_book"]["entries"]
    again = {"key": ",".join(before[0]["keys"]), "content": before[0]["content"]}
    both = read(module(lorebook=[again, ENTRY])).card["data"]["character_book"]["entries"]
    assert both[:-1] == before
    assert both[-1]["content"] == ENTRY["content"]
    assert "module_lore" not in read(module(lorebook=[again])).remarks


def test_its_scripts_and_triggers_are_kept_beside_the_cards_own_and_said_to_be_inert() -> None:
    known = read(
        module(regex=[SCRIPT], trigger=[{"effect": [{"type": "runLua"}]}], backgroundEmbedding="<b>")
    )
    kept = known.card["data"]["extensions"]["risuai"]
    assert kept["customScripts"] == [SCRIPT]
    assert (kept["triggerscript"][0]["effect"][0]["type"], kept["backgroundHTML"]) == ("runLua", "<b>")
    assert "programs_inert" in known.remarks


BROKEN = {
    "another kind of file": b"PK\3\4" + bytes(100),
    "another version": b"\x6f\x01" + module()[2:],
    "nothing": b"",
    "a frame alone": b"\x6f\x00",
    "a length and nothing after it": b"\x6f\x00\xff\xff\xff\xff",
    "a length beyond its end": packed(b"{}", 3_000_000),
    "a length of 4 GB": packed(b"{}", 2**32 - 1),
    "a length that is too short": packed(b'{"type": "risuModule", "module": {}}', 20),
    "a length of nothing": packed(b"", 0),
    "no JSON": packed(b"\xff" * 1_000),
    "JSON of another kind": packed(b'{"type": "risuChat", "module": {}}'),
    "no module in it": packed(b'{"type": "risuModule", "module": []}'),
    "lists in lists": packed(b'{"type": "risuModule", "module": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    "a million values": packed(b'{"type": "risuModule", "module": {"a": [' + b"1," * 1_000_000 + b"1]}}"),
    "6 MB of text": packed(dumped({"type": "risuModule", "module": {"a": "x" * (MAX_JSON_BYTES + 1)}})),
    "2,001 entries": module(lorebook=[{"key": "a"}] * 2_001),
    "written by another table": module().translate(TABLE),
    "40 MB of zeros": b"\x6f\x00" + (40_000_000).to_bytes(4, "little") + bytes(40_000_000),
}


@pytest.mark.parametrize("name", BROKEN)
def test_one_that_is_broken_leaves_the_card_as_it_is_and_says_so(name: str) -> None:
    known = read(BROKEN[name])
    assert known.card == read(None).card
    assert known.remarks == ["module_broken"]


def test_one_that_unpacks_to_far_more_than_it_should_is_not_opened() -> None:
    bomb = b"\x6f\x00" + (40_000_000).to_bytes(4, "little") + bytes(40_000_000)
    with pytest.raises(CardFormatError) as told:
        read_charx(BytesIO(zipped({"card.json": escaped(V3), MODULE: bomb})), TABLE)
    assert told.value.code == "zip_bomb"


def test_without_a_table_the_card_alone_is_read_and_says_so() -> None:
    known = read(module(lorebook=[ENTRY], regex=[SCRIPT]), table=b"")
    assert (known.card, known.remarks) == (read(None).card, ["module_packed"])


def test_it_is_read_in_the_sandbox_by_the_operators_table(settings: Any) -> None:
    content = zipped({"card.json": escaped(V3), MODULE: module(lorebook=[ENTRY], regex=[SCRIPT])})
    assert read_card(content).remarks == ["module_packed"]
    settings.RISUAI_TABLE = TABLE
    read_anew = read_card(content)
    assert read_anew.card["data"]["character_book"]["entries"][-1]["content"] == ENTRY["content"]
    assert set(read_anew.remarks) == {"module_lore", "programs_inert"} <= REMARKS.keys()


def test_a_table_has_256_bytes_that_differ_or_stands_after_as_many(tmp_path: Path) -> None:
    assert read_table(TABLE) == read_table(WRITTEN_BY + TABLE) == TABLE
    for wrong in (b"", TABLE[:-1], bytes(256), TABLE * 3):
        with pytest.raises(ValueError, match="no table"):
            read_table(wrong)
    file = tmp_path / "rpack_map.bin"
    file.write_bytes(WRITTEN_BY + TABLE)
    assert (risuai_table(str(file)), risuai_table("")) == (TABLE, b"")
    with pytest.raises(ImproperlyConfigured, match="KITH_RISUAI_MAP"):
        risuai_table(str(tmp_path / "none"))
