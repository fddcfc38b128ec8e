"""Cards of every form and every habit: all are read, and what is written again is the same."""

import copy
import json
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cards.child import Parsed, parse
from cards.lorebooks import normalise_book
from cards.png import walk
from cards.reader import REMARKS, read_card
from cards.schema import KNOWN, TEXTS, find_version, normalise
from cards.versions import BACKFILL_NOTE, strip_decorators, to_v2, to_v3
from cards.writer import write_card, write_lorebook
from tests.cards.corpus import (
    BOOK,
    BOOKS,
    CHARX,
    ENTRY,
    FACE,
    FILES,
    SMILE,
    V1,
    V2,
    V3,
    V3_WITH_FILES,
    VARIANTS,
    WHOLE,
    Card,
    asset,
    changed,
    dumped,
    escaped,
    files,
    png_of,
    png_with,
    text_chunk,
)

CORPUS = {name: (form, make) for name, form, make in files()}
NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
ENTRY_KEYS = {
    "keys",
    "content",
    "extensions",
    "enabled",
    "insertion_order",
    "use_regex",
    "constant",
    "id",
    "name",
}
ENTRY_KEYS |= {"selective", "secondary_keys", "position", "case_sensitive", "priority", "comment"}


def comparable(card: Card) -> Card:
    """The card without the moment at which it was written."""
    told = copy.deepcopy(card)
    told["data"].pop("modification_date", None)
    return told


def read(content: bytes) -> Parsed:
    return parse(BytesIO(content))


def test_there_are_enough_of_them() -> None:
    assert len(CORPUS) >= 150
    assert {form for form, _make in CORPUS.values()} == {"json", "png", "charx", "lorebook"}


@pytest.mark.parametrize("name", CORPUS)
def test_it_is_read_and_written_and_read_again(name: str) -> None:
    form, make = CORPUS[name]
    told = read(make())
    card = told.file.known.card
    assert told.form == form
    assert set(told.file.known.remarks) <= REMARKS.keys()
    has_its_types(card)
    assert normalise(card)[0] == card
    if form == "lorebook":
        assert read(write_lorebook(card, NOW)).file.known.card == card
        return
    for spec in ("2", "3"):
        for written in ("json", "png", "charx"):
            how = {"picture_png": FACE, "assets": told.file.assets, "modified": NOW}
            again = read(write_card(card, spec=spec, form=written, **how))  # type: ignore[arg-type]
            expected = card if spec == "3" or written == "charx" else normalise(to_v2(card))[0]
            here, there = comparable(again.file.known.card), comparable(expected)
            # Files are where the form has room for them.
            assert {**here, "data": {**here["data"], "assets": 0}} == {
                **there,
                "data": {**there["data"], "assets": 0},
            }
            assert again.form == written
            assert again.file.known.version == (spec if written != "charx" else "3")


def has_its_types(card: Card) -> None:
    """Every key of the specification is there, of its type."""
    data = card["data"]
    if card["spec"] == "chara_card_v3":
        assert data.keys() >= KNOWN
        assert card["spec_version"] == "3.0"
        assert all(isinstance(data[key], str) for key in TEXTS)
        for key in ("tags", "source", "alternate_greetings", "group_only_greetings"):
            assert all(isinstance(text, str) for text in data[key])
        assert isinstance(data["extensions"], dict)
    book = data if card["spec"] == "lorebook_v3" else data["character_book"]
    for entry in book["entries"] if book else []:
        assert entry.keys() >= ENTRY_KEYS
        assert all(isinstance(entry[key], bool) for key in ("enabled", "use_regex", "constant", "selective"))
        assert all(
            isinstance(text, str) for text in [entry["content"], *entry["keys"], *entry["secondary_keys"]]
        )
        assert isinstance(entry["insertion_order"], int | float)


def fields(name: str) -> Card:
    return normalise(VARIANTS[name])[0]["data"]  # type: ignore[no-any-return]


def entry(name: str) -> Card:
    return fields(name)["character_book"]["entries"][0]  # type: ignore[no-any-return]


# What becomes of each habit: a way to it, and what is there.
MEANT: dict[str, tuple[Callable[[], object], object]] = {
    "the dialect's fields": (
        lambda: [fields("Pygmalion")[key] for key in ("name", "description", "first_mes", "scenario")],
        ["Mara", "dry", "Late.", "Storm."],
    ),
    "V1's fields are before the dialect's": (
        lambda: fields("Pygmalion and V1")["mes_example"],
        V1["mes_example"],
    ),
    "data is before the top": (lambda: fields("V2 repeated at the top")["name"], V1["name"]),
    "a book at the top": (
        lambda: fields("V2 with a book at the top")["character_book"]["name"],
        BOOK["name"],
    ),
    "a book for null": (
        lambda: fields("V2 with a book of null, and one at the top")["character_book"]["name"],
        BOOK["name"],
    ),
    "no book": (lambda: fields("V2 with a book of null")["character_book"], None),
    "one greeting is one": (lambda: fields("V2 with one greeting")["alternate_greetings"], ["1687, a year"]),
    "an empty greeting is one": (
        lambda: fields("V2 with an empty greeting")["alternate_greetings"],
        ["", "Hm."],
    ),
    "tags in a line": (lambda: fields("V2 with tags in a line")["tags"], ["sea", "slow", "storm"]),
    "a number for a version": (lambda: fields("V2 with a number for a version")["character_version"], "2"),
    "null is empty": (lambda: fields("V2 with nulls")["creator"], ""),
    "entries by number": (lambda: len(fields("V2 with entries by number")["character_book"]["entries"]), 2),
    "keys in a line": (
        lambda: [entry("V2 with keys in a line")[key] for key in ("keys", "secondary_keys")],
        [["lamp", "light"], ["oil", "wick"]],
    ),
    "a pattern is not parted": (lambda: entry("V2 with patterns in a line")["keys"], ["l{1,2}amp"]),
    "a position's number": (
        lambda: [entry("V2 with a position of a number")[key] for key in ("position", "extensions")],
        ["after_char", {"position": 1}],
    ),
    "words for numbers": (
        lambda: [
            entry("V2 with words for numbers")[key]
            for key in ("insertion_order", "enabled", "constant", "id")
        ],
        [9, True, True, "a-b"],
    ),
    "a date in words is unknown": (lambda: fields("V3 with a date in words")["creation_date"], 0),
    "characters that cannot be kept": (
        lambda: [
            fields("V3 with characters that cannot be kept")[key] for key in ("description", "extensions")
        ],
        ["ab\ufffd", {"k": "\ufffd"}],
    ),
    "the default icon": (lambda: fields("V3 without assets")["assets"], [asset("ccdefault:")]),
    "no icon is none": (lambda: fields("V3 with no asset")["assets"], []),
}


@pytest.mark.parametrize("habit", MEANT)
def test_a_habit_is_understood(habit: str) -> None:
    find, expected = MEANT[habit]
    assert find() == expected


# A lorebook of one entry, as each of these programs exports it.
FOREIGN: dict[str, dict[str, Any]] = {
    "RisuAI": {
        "type": "risu",
        "ver": 1,
        "data": [
            {"key": "\uf001folder", "comment": "Places", "content": "", "mode": "folder"},
            {
                **{"key": "lamp, 灯", "secondkey": "oil", "comment": "The lamp", "content": "It burns."},
                **{"insertorder": 7, "alwaysActive": True, "selective": True, "mode": "normal"},
            },
        ],
    },
    "Agnai": {
        "kind": "memory",
        "name": "The rock",
        "entries": [
            {
                **{"keywords": ["lamp", "灯"], "secondaryKeys": ["oil"], "name": "The lamp", "priority": 7},
                **{"entry": "It burns.", "weight": 7, "enabled": True, "constant": True, "selective": True},
            }
        ],
    },
    "NovelAI": {
        "lorebookVersion": 5,
        "entries": [
            {
                **{"keys": ["lamp", "灯"], "secondary_keys": ["oil"], "displayName": "The lamp"},
                **{"text": "It burns.", "contextConfig": {"budgetPriority": 7}, "forceActivation": True},
                **{"enabled": True, "selective": True},
            }
        ],
        "categories": [],
    },
}


@pytest.mark.parametrize("program", FOREIGN)
def test_a_lorebook_of_another_program_keeps_what_its_entries_say(program: str) -> None:
    form, file = parse(BytesIO(json.dumps(FOREIGN[program]).encode()))
    [entry] = file.known.card["data"]["entries"]
    assert (form, file.known.version, file.known.remarks) == ("lorebook", "3", ["other_lorebook"])
    assert normalise(file.known.card) == (file.known.card, [])
    assert normalise_book(FOREIGN[program])["entries"] == [entry]  # as the API gives it
    told = {"keys": ["lamp", "灯"], "secondary_keys": ["oil"], "content": "It burns.", "name": "The lamp"}
    rules = {"insertion_order": 7, "constant": True, "selective": True, "enabled": True, "use_regex": False}
    assert {key: entry[key] for key in (*told, *rules)} == told | rules


def test_world_info_becomes_a_lorebook_as_sillytavern_embeds_it() -> None:
    card, remarks = normalise(BOOKS["world info"])
    first, second = card["data"]["entries"]
    assert remarks == ["world_info"]
    assert {
        key: first[key] for key in ("id", "keys", "secondary_keys", "insertion_order", "enabled", "position")
    } == {
        "id": 0,
        "keys": ["lamp", "/l[ai]mp{1,2}/i"],
        "secondary_keys": ["oil"],
        "insertion_order": 55,
        "enabled": False,
        "position": "after_char",
    }
    assert first["extensions"] == {
        "position": 4,
        "exclude_recursion": True,
        "display_index": 0,
        "probability": 40,
        "useProbability": True,
        "depth": 2,
        "role": 2,
        "selectiveLogic": 3,
        "group": "light",
        "group_weight": 90,
        "scan_depth": None,
        "case_sensitive": None,
        "sticky": 3,
        "cooldown": None,
        "delay": 1,
    }
    assert first["characterFilter"] == {"isExclude": False, "names": [], "tags": []}
    assert second["position"] == "before_char"


UNKNOWN: dict[str, Callable[[Card], object]] = {
    "beside": lambda card: card["unknown_beside"] == V2["unknown_beside"],
    "data": lambda card: card["data"]["unknown_of_data"] == V2["data"]["unknown_of_data"],
    "extensions": lambda card: card["data"]["extensions"] == V2["data"]["extensions"],
    "book": lambda card: card["data"]["character_book"]["unknown_of_book"] == "kept",
    "book's extensions": lambda card: card["data"]["character_book"]["extensions"] == {"book": True},
    "entry": lambda card: card["data"]["character_book"]["entries"][0]["unknown_of_entry"] == 1.5,
    "entry's extensions": lambda card: (
        card["data"]["character_book"]["entries"][0]["extensions"] == ENTRY["extensions"]
    ),
}


@pytest.mark.parametrize("where", UNKNOWN)
def test_what_is_unknown_goes_out_as_it_came(where: str) -> None:
    card = normalise(V3)[0]
    for told in (card, to_v3(card, NOW), to_v2(card)):
        assert UNKNOWN[where](told)


REMARKED = {
    "V3 of a newer version": ["newer_version"],
    "V4": ["newer_version"],
    "V2 with a script": ["programs_inert"],
    "V2 with a trigger": ["programs_inert"],
    "V3 with characters that cannot be kept": ["text_cleaned"],
    "V3": [],
    "V2 by SillyTavern": [],
}


@pytest.mark.parametrize("variant", REMARKED)
def test_the_person_is_told(variant: str) -> None:
    assert normalise(VARIANTS[variant])[1] == REMARKED[variant]


def test_the_version_of_the_file_is_known() -> None:
    versions = {
        name: find_version(VARIANTS[name])
        for name in ("V1", "Pygmalion", "V2", "V2 without a spec", "V3", "V4")
    }
    assert list(versions.values()) == ["1", "1", "2", "2", "3", "3"]


# -- what is written -------------------------------------------------------------------------------------------------


def test_v2_has_nothing_that_v2_does_not_know() -> None:
    told = to_v2(normalise(V3)[0])
    assert (told["spec"], told["spec_version"]) == ("chara_card_v2", "2.0")
    assert {key: told[key] for key in V1} == V1  # for what knows V1 alone
    assert not told["data"].keys() & {"assets", "nickname", "source", "group_only_greetings", "creation_date"}
    first = told["data"]["character_book"]["entries"][0]
    assert "use_regex" not in first
    assert first["content"] == "The lamp is never out."
    assert told["data"]["creator_notes"] == V3["data"]["creator_notes"]
    assert to_v2(normalise(V3)[0], is_backfill=True)["data"]["creator_notes"].startswith(BACKFILL_NOTE)


@pytest.mark.parametrize(
    ("content", "left"),
    [
        ("plain", "plain"),
        ("@@depth 4\ntext", "text"),
        ("\n@@depth 4\r\n\r\n@@@role user\n\n\ntext\n@@later", "text\n@@later"),
        ("@@activate", ""),
        ("  text\n@@depth 4", "  text\n@@depth 4"),
        ("", ""),
    ],
)
def test_decorators_are_stripped(content: str, left: str) -> None:
    assert strip_decorators(content) == left


def test_v3_says_when_it_was_written_and_keeps_when_it_was_made() -> None:
    data = to_v3(normalise(V3)[0], NOW)["data"]
    assert data["modification_date"] == int(NOW.timestamp())
    assert data["creation_date"] == V3["data"]["creation_date"]
    assert (
        to_v3(normalise(VARIANTS["V2 with a book of null"])[0], NOW)["data"].keys() & {"character_book"}
        == set()
    )


def test_a_png_has_both_cards_and_no_stale_one() -> None:
    stale = [
        text_chunk(kind, keyword, b"stale")
        for kind in ("tEXt", "zTXt", "iTXt")
        for keyword in ("chara", "Chara", "ccv3", "CCV3", "chara-ext-asset_:0")
    ]
    picture = png_with(*stale, text_chunk("tEXt", "Comment", b"mine"), is_after=True)
    written = write_card(normalise(V3)[0], spec="3", form="png", modified=NOW, picture_png=picture)
    keywords = [chunk.keyword for chunk in walk(written) if chunk.keyword]
    assert keywords == [b"comment", b"ccv3", b"chara"]
    only_v2 = write_card(normalise(V3)[0], spec="2", form="png", modified=NOW, picture_png=written)
    assert [chunk.keyword for chunk in walk(only_v2) if chunk.keyword] == [b"comment", b"chara"]


def test_the_picture_of_a_png_is_without_its_card() -> None:
    assert read(png_of(V3)).file.picture == FACE


def test_the_files_of_a_charx_are_read_and_written_again() -> None:
    told = read(CHARX).file
    assert told.picture == FACE
    assert [(a.type, a.name, a.ext, a.content) for a in told.assets] == [
        ("icon", "main", "png", FACE),
        ("emotion", "joy", "png", SMILE),
        ("x-risu-asset", "smile", "png", SMILE),
    ]
    assert told.known.remarks == ["assets_not_fetched"]
    how: dict[str, Any] = {"spec": "3", "form": "charx", "modified": NOW}
    written = write_card(told.known.card, assets=told.assets, **how)
    assert written == write_card(told.known.card, assets=told.assets, **how)
    again = read(written).file
    assert [a.content for a in again.assets] == [a.content for a in told.assets]
    uris = [one["uri"] for one in again.known.card["data"]["assets"]]
    assert uris == [one["uri"].replace("embedded", "embeded") for one in V3_WITH_FILES["data"]["assets"]]
    assert again.known.card["data"]["extensions"] == V3["data"]["extensions"]


def test_files_go_from_a_png_into_a_charx_and_its_face_with_them() -> None:
    told = read(WHOLE["assets in chunks"][1]()).file
    assert [a.content for a in told.assets] == [SMILE, FACE, FACE]
    how: dict[str, Any] = {"spec": "3", "modified": NOW, "picture_png": told.picture}
    again = read(write_card(told.known.card, form="charx", assets=told.assets, **how)).file
    assert again.picture == FACE
    assert [a.content for a in again.assets] == [FACE, SMILE, FACE, FACE]
    back = read(write_card(again.known.card, form="png", assets=again.assets, **how)).file
    assert back.known.card["data"]["assets"] == [asset("ccdefault:")]


def test_a_charx_without_assets_gets_the_face_as_its_icon() -> None:
    card = normalise(changed(V3, assets=[]))[0]
    told = read(write_card(card, spec="3", form="charx", modified=NOW, picture_png=FACE)).file
    assert told.picture == FACE


def test_a_charx_names_no_icon_that_it_does_not_hold() -> None:
    card = normalise(changed(V3, assets=[]))[0]
    file = write_card(card, spec="3", form="charx", modified=NOW, picture_png=b"no PNG")
    with zipfile.ZipFile(BytesIO(file)) as archive:
        assert archive.namelist() == ["card.json"]
        assert json.loads(archive.read("card.json"))["data"]["assets"] == []


# -- cards that are made ---------------------------------------------------------------------------------------------

words = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30)
odd = [
    None,
    True,
    0,
    -1.5,
    2**60,
    "",
    "a, b",
    [],
    ["", None, 3],
    {},
    {"0": {}},
    [[{}]],
    {"entries": [[]]},
    10**30,
]
values = st.sampled_from(odd) | words
cards = st.fixed_dictionaries(
    {"spec": st.sampled_from(["chara_card_v2", "chara_card_v3"])},
    optional={
        "spec_version": values,
        "x_more": values,
        "data": st.dictionaries(
            st.sampled_from(sorted(KNOWN)) | words,
            values
            | st.fixed_dictionaries(
                {"entries": st.lists(st.dictionaries(st.sampled_from(sorted(ENTRY_KEYS)), values))}
            ),
            min_size=1,
            max_size=6,
        ),
    },
)


@given(cards)
def test_whatever_stands_in_a_card_it_is_read_and_comes_back(raw: Card) -> None:
    raw = {**raw, "data": {"name": "Mara", **raw.get("data", {})}}
    card = normalise(raw)[0]
    has_its_types(card)
    assert normalise(card)[0] == card
    known, data = card["data"], raw.get("data", {})
    unknown = {key: value for key, value in data.items() if key not in KNOWN}
    assert {key: known[key] for key in unknown} == unknown
    again = read(write_card(card, spec="3", form="png", modified=NOW, picture_png=FACE)).file.known.card
    here, there = comparable(again), comparable(card)
    assert {**here["data"], "assets": 0} == {**there["data"], "assets": 0}
    for form in ("json", "charx"):
        assert (
            comparable(read(write_card(card, spec="3", form=form, modified=NOW)).file.known.card).keys()
            == there.keys()
        )


# -- through the sandbox ---------------------------------------------------------------------------------------------

THROUGH = [
    "V1, JSON",
    "V2, PNG of zTXt",
    "V3, PNG",
    "world info",
    "a CHARX behind a JPEG",
    "assets in chunks",
]


@pytest.mark.parametrize("name", THROUGH)
def test_the_sandbox_reads_the_same(name: str) -> None:
    form, make = CORPUS[name]
    inside, outside = read(make()).file, read_card(make())
    assert (outside.form, outside.version) == (form, inside.known.version)
    assert outside.card == inside.known.card
    assert outside.picture == inside.picture
    assert outside.assets == inside.assets
    assert outside.remarks == sorted(inside.known.remarks)


def test_the_corpus_has_what_it_says() -> None:
    """Otherwise what is read of it would prove little."""
    assert len(FILES) == 3
    assert b'"\\ud83d"' in escaped({"a": "\ud83d"}).replace(b'"a": ', b"")
    assert dumped(V2) != escaped(V2)
