"""Cards as they are met: every form of file, and every way in which programs write the same things."""

import base64
import copy
import io
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from cards.charx import write_charx
from cards.png import MAGIC, walk, write_chunk
from tests.files.hostile import drawn

Card = dict[str, Any]
FACE = drawn(size=(8, 8))
SMILE = drawn(size=(9, 9))
V1: Card = {
    "name": "Mara 玛拉",
    "description": '{{char}} keeps the lighthouse.\r\nShe "hums" — 🌊',
    "personality": "dry, kind",
    "scenario": "A storm.",
    "first_mes": "*looks up* You are late, {{user}}.",
    "mes_example": "<START>\n{{user}}: Hi\n{{char}}: Hello.",
}
ENTRY: Card = {
    "keys": ["lamp", "灯"],
    "content": "@@depth 4\n@@@role system\n\nThe lamp is never out.",
    "extensions": {"position": 4, "probability": 50, "selectiveLogic": 2, "mine": {"a": [1, None]}},
    "enabled": True,
    "insertion_order": 7,
    "case_sensitive": False,
    "name": "lamp",
    "priority": 3,
    "id": 12,
    "comment": "the lamp",
    "selective": True,
    "secondary_keys": ["oil"],
    "constant": False,
    "position": "before_char",
    "unknown_of_entry": 1.5,
}
BOOK: Card = {
    "name": "The island",
    "description": "What is there",
    "scan_depth": 5,
    "token_budget": 400,
    "recursive_scanning": True,
    "extensions": {"book": True},
    "entries": [ENTRY, {**ENTRY, "id": 13, "constant": True, "keys": []}],
    "unknown_of_book": "kept",
}
V2: Card = {
    "spec": "chara_card_v2",
    "spec_version": "2.0",
    "data": {
        **V1,
        "creator_notes": "Play in the evening.",
        "system_prompt": "{{original}} Be brief.",
        "post_history_instructions": "Stay in the storm.",
        "alternate_greetings": ["Come in.", "Who is there?"],
        "tags": ["sea", "slow"],
        "creator": "Alice",
        "character_version": "1.2",
        "extensions": {
            "talkativeness": "0.5",
            "fav": False,
            "depth_prompt": {"prompt": "x", "depth": 4, "role": "system"},
        },
        "character_book": BOOK,
        "unknown_of_data": [1, {"deep": None}],
    },
    "unknown_beside": {"kept": True},
}
V3: Card = {
    **V2,
    "spec": "chara_card_v3",
    "spec_version": "3.0",
    "data": {
        **V2["data"],
        "character_book": {**BOOK, "entries": [{**ENTRY, "use_regex": False}]},
        "nickname": "Mar",
        "creator_notes_multilingual": {"en": "Play.", "zh": "玩。"},
        "source": ["https://example.org/mara"],
        "group_only_greetings": ["All of you are late."],
        "creation_date": 1_700_000_000,
        "modification_date": 0,
        "assets": [{"type": "icon", "uri": "ccdefault:", "name": "main", "ext": "png"}],
    },
}
WORLD_INFO: Card = {
    "entries": {
        "0": {
            "uid": 0,
            "key": ["lamp", "/l[ai]mp{1,2}/i"],
            "keysecondary": ["oil"],
            "comment": "the lamp",
            "content": "Never out.",
            "constant": False,
            "selective": True,
            "selectiveLogic": 3,
            "order": 55,
            "position": 4,
            "disable": True,
            "excludeRecursion": True,
            "probability": 40,
            "useProbability": True,
            "depth": 2,
            "group": "light",
            "groupWeight": 90,
            "scanDepth": None,
            "caseSensitive": None,
            "role": 2,
            "sticky": 3,
            "cooldown": None,
            "delay": 1,
            "displayIndex": 0,
            "characterFilter": {"isExclude": False, "names": [], "tags": []},
        },
        "1": {"uid": 1, "key": ["sea"], "keysecondary": [], "content": "Cold.", "order": 100, "position": 0},
    }
}


def changed(card: Card, **data: Any) -> Card:
    """The card with other fields under `data`; ... takes one away."""
    told = copy.deepcopy(card)
    for key, value in data.items():
        told["data"].pop(key, None) if value is ... else told["data"].update({key: value})
    return told


def with_entry(card: Card, **fields: Any) -> Card:
    """The card with one entry, which has other fields."""
    told = copy.deepcopy(card)
    entry = {**ENTRY, **fields}
    told["data"]["character_book"]["entries"] = [{k: v for k, v in entry.items() if v is not ...}]
    return told


def beside(card: Card, **fields: Any) -> Card:
    return {**copy.deepcopy(card), **fields}


# How the same things are written by one program or another.
VARIANTS: dict[str, Card] = {
    "V1": V1,
    "V1 with more": {
        **V1,
        "avatar": "none",
        "chat": "Mara - 1",
        "create_date": "2023-1-1",
        "metadata": {"v": 1},
    },
    "V1 with a book": {**V1, "character_book": BOOK, "alternate_greetings": ["Hm."]},
    "V1 without a scenario": {key: value for key, value in V1.items() if key != "scenario"},
    "V1 of nulls": {**V1, "scenario": None, "personality": None},
    "Pygmalion": {
        "char_name": "Mara",
        "char_persona": "dry",
        "char_greeting": "Late.",
        "world_scenario": "Storm.",
    },
    "Pygmalion and V1": {**V1, "char_name": "Mara", "example_dialogue": "old"},
    "V2": V2,
    "V2 repeated at the top": {**V1, "name": "Old", "creatorcomment": "old", **V2},
    "V2 of V1 alone": {"spec": "chara_card_v2", "spec_version": "2.0", "data": V1},
    "V2 without a version": {"spec": "chara_card_v2", "data": V2["data"]},
    "V2 without a spec": {"data": V2["data"]},
    "V2 with its fields at the top": {"spec": "chara_card_v2", **V2["data"]},
    "V2 with a book of null": changed(V2, character_book=None),
    "V2 with a book at the top": beside(changed(V2, character_book=...), character_book=BOOK),
    "V2 with a book of null, and one at the top": beside(
        changed(V2, character_book=None), character_book=BOOK
    ),
    "V2 with one greeting": changed(V2, alternate_greetings="1687, a year"),
    "V2 with greetings of null": changed(V2, alternate_greetings=None),
    "V2 with an empty greeting": changed(V2, alternate_greetings=["", "Hm.", None]),
    "V2 with tags in a line": changed(V2, tags="sea, slow ,, storm"),
    "V2 with a number for a version": changed(V2, character_version=2),
    "V2 with a fraction for a version": changed(V2, character_version=2.5),
    "V2 without extensions": changed(V2, extensions=...),
    "V2 with extensions of null": changed(V2, extensions=None),
    "V2 with nulls": changed(V2, creator=None, system_prompt=None, creator_notes=None, tags=None),
    "V2 with entries by number": changed(V2, character_book={**BOOK, "entries": {"0": ENTRY, "1": ENTRY}}),
    "V2 with an empty book": changed(V2, character_book={"entries": []}),
    "V2 with a book without entries": changed(V2, character_book={"name": "x"}),
    "V2 with an empty object for a book": changed(V2, character_book={}),
    "V2 with keys in a line": with_entry(V2, keys="lamp, light", secondary_keys="oil,wick"),
    "V2 with patterns in a line": with_entry(V2, keys="l{1,2}amp", use_regex=True),
    "V2 with an entry of little": changed(V2, character_book={"entries": [{"keys": ["a"], "content": "b"}]}),
    "V2 with an entry of nulls": with_entry(V2, name=None, priority=None, secondary_keys=None, position=None),
    "V2 with a position of a number": with_entry(V2, position=1, extensions=...),
    "V2 with an entry of world info": changed(V2, character_book={"entries": [WORLD_INFO["entries"]["0"]]}),
    "V2 with words for numbers": with_entry(V2, insertion_order="9", enabled="true", constant=1, id="a-b"),
    "V2 with what is no entry": changed(V2, character_book={"entries": [None, "x", ENTRY]}),
    "V2 by SillyTavern": with_entry(V2, use_regex=True),
    "V2 with a script": changed(
        V2, extensions={"regex_scripts": [{"findRegex": "/a/", "replaceString": "b"}]}
    ),
    "V2 with a trigger": changed(V2, extensions={"risuai": {"triggerscript": [{"code": "alert(1)"}]}}),
    "V2 with a page in a greeting": changed(V2, first_mes="<script>alert(1)</script>{{random:a,b}}"),
    "V2 of another's data": changed(
        V2, extensions={"chub": {"id": 1, "full_path": "a/b"}, "agnai": {"x": [[]]}}
    ),
    "V2 with very long words": changed(V2, description="word " * 20_000),
    "V3": V3,
    "V3 of its least": {
        "spec": "chara_card_v3",
        "spec_version": "3.0",
        "data": {**V1, "group_only_greetings": [], "extensions": {}, "tags": [], "alternate_greetings": []},
    },
    "V3 without greetings for groups": changed(V3, group_only_greetings=...),
    "V3 of a newer version": beside(V3, spec_version="3.1"),
    "V4": beside(V3, spec="chara_card_v4", spec_version="4.0"),
    "V3 without assets": changed(V3, assets=...),
    "V3 with assets of null": changed(V3, assets=None),
    "V3 with no asset": changed(V3, assets=[]),
    "V3 with an asset elsewhere": changed(
        V3, assets=[{"type": "icon", "uri": "https://example.org/a.png", "name": "main", "ext": "png"}]
    ),
    "V3 with an asset in itself": changed(
        V3,
        assets=[
            {
                "type": "icon",
                "uri": f"data:image/png;base64,{base64.b64encode(FACE).decode()}",
                "name": "main",
                "ext": "png",
                "unknown_of_asset": 1,
            }
        ],
    ),
    "V3 with a pattern": with_entry(V3, use_regex=True, keys=["l[ai]mp{1,2}"]),
    "V3 with dates in fractions": changed(V3, creation_date=1_700_000_000.5, modification_date="1700000000"),
    "V3 with a date in words": changed(V3, creation_date="2024-01-01"),
    "V3 with a source of one": changed(V3, source="https://example.org"),
    "V3 with characters that cannot be kept": changed(
        V3, description="a\0b\ud83d", extensions={"k\0": "\udc00"}
    ),
}
BOOKS: dict[str, Card] = {
    "a lorebook": {"spec": "lorebook_v3", "data": V3["data"]["character_book"]},
    "a lorebook with more": {"spec": "lorebook_v3", "data": BOOK, "mine": 1},
    "a lorebook without a spec": BOOK,
    "world info": WORLD_INFO,
    "world info with a name": {"name": "The island", **WORLD_INFO, "extensions": {}},
    "world info without entries": {"entries": {}},
}


def dumped(told: object) -> bytes:
    return json.dumps(told, ensure_ascii=False).encode("utf-8", "surrogatepass")


def escaped(told: object) -> bytes:
    """Every character above ASCII is escaped, half ones too."""
    return json.dumps(told, indent=4).encode()


def text_chunk(kind: str, keyword: str, text: bytes) -> bytes:
    key = keyword.encode() + b"\0"
    if kind == "tEXt":
        return write_chunk(b"tEXt", key + text)
    if kind == "zTXt":
        return write_chunk(b"zTXt", key + b"\0" + zlib.compress(text))
    squeezed = kind == "iTXt squeezed"
    flags = b"\1\0" if squeezed else b"\0\0"
    return write_chunk(b"iTXt", key + flags + b"en\0Card\0" + (zlib.compress(text) if squeezed else text))


def png_with(*chunks: bytes, is_after: bool = False, picture: bytes = FACE) -> bytes:
    """A picture with these chunks after its head, or after its pixels."""
    parts = [picture[chunk.start : chunk.end] for chunk in walk(picture)]
    at = len(parts) - 1 if is_after else 1
    return MAGIC + b"".join([*parts[:at], *chunks, *parts[at:]])


def png_of(card: Card, kind: str = "tEXt", keyword: str = "", **how: Any) -> bytes:
    keyword = keyword or ("ccv3" if str(card.get("spec", "")) > "chara_card_v2" else "chara")
    return png_with(text_chunk(kind, keyword, base64.b64encode(escaped(card))), **how)


def wrapped(text: bytes) -> bytes:
    """Base64 as some wrap it, without its padding."""
    encoded = base64.b64encode(text).rstrip(b"=")
    return b" \r\n".join(encoded[at : at + 76] for at in range(0, len(encoded), 76))


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return file.getvalue()


def asset(uri: str, kind: str = "icon", name: str = "main", ext: str = "png") -> Card:
    return {"type": kind, "uri": uri, "name": name, "ext": ext}


V3_WITH_FILES = changed(
    V3,
    assets=[
        asset("embeded://assets/icon/images/main.png"),
        asset("embeded://assets/emotion/images/joy.png", "emotion", "joy"),
        asset("embedded://other/smile.PNG", "x-risu-asset", "smile", "PNG"),
        asset("https://example.org/far.png", "background", "far"),
    ],
)
FILES = {
    "assets/icon/images/main.png": FACE,
    "assets/emotion/images/joy.png": SMILE,
    "other/smile.PNG": SMILE,
}
CHARX = write_charx(escaped(V3_WITH_FILES), sorted(FILES.items()))


# Forms of file for any card: its name, how it is made, and as what it is read.
FORMS: dict[str, tuple[str, Callable[[Card], bytes]]] = {
    "JSON": ("json", escaped),
    "JSON with a mark": ("json", lambda card: b"\xef\xbb\xbf \n" + escaped(card)),
    "PNG": ("png", png_of),
    "PNG of zTXt": ("png", lambda card: png_of(card, "zTXt")),
    "CHARX": ("charx", lambda card: zipped({"card.json": escaped(card)})),
}
# Files of their own: as what each is read.
WHOLE: dict[str, tuple[str, Callable[[], bytes]]] = {
    "JSON in UTF-16": ("json", lambda: escaped(V2).decode().encode("utf-16")),
    "JSON unescaped": ("json", lambda: dumped(V2)),
    **{
        f"{keyword} in {kind}, {'after' if is_after else 'before'} the pixels": (
            "png",
            lambda card=card, kind=kind, keyword=keyword, is_after=is_after: png_of(
                card, kind, keyword, is_after=is_after
            ),
        )
        for keyword, card in (("chara", V2), ("ccv3", V3), ("Chara", V2), ("CCV3", V3))
        for kind in ("tEXt", "zTXt", "iTXt", "iTXt squeezed")
        for is_after in (False, True)
    },
    "an APNG": ("png", lambda: png_of(V3, picture=drawn(size=(8, 8), save_all=True, append_images=[]))),
    "base64 in lines": ("png", lambda: png_with(text_chunk("tEXt", "chara", wrapped(escaped(V2))))),
    "base64 for addresses": (
        "png",
        lambda: png_with(text_chunk("tEXt", "chara", base64.urlsafe_b64encode(dumped(V2)))),
    ),
    "JSON for base64": ("png", lambda: png_with(text_chunk("tEXt", "chara", dumped(V2)))),
    "a picture with a tail": ("png", lambda: png_of(V2) + b"tail" * 100),
    "a broken ccv3 and a chara": (
        "png",
        lambda: png_with(
            text_chunk("tEXt", "ccv3", b"!!!"), text_chunk("tEXt", "chara", base64.b64encode(dumped(V2)))
        ),
    ),
    "a ccv3 after a chara": (
        "png",
        lambda: png_with(
            text_chunk("tEXt", "chara", base64.b64encode(dumped(changed(V2, name="Old")))),
            text_chunk("zTXt", "ccv3", base64.b64encode(dumped(V3))),
        ),
    ),
    "assets in chunks": (
        "png",
        lambda: png_with(
            text_chunk("tEXt", "chara-ext-asset_:0", base64.b64encode(SMILE)),
            text_chunk("tEXt", "chara-ext-asset_1", base64.b64encode(FACE)),
            text_chunk("tEXt", "chara-ext-asset_:Joy/a.png", base64.b64encode(FACE)),
            text_chunk(
                "tEXt",
                "ccv3",
                base64.b64encode(
                    dumped(
                        changed(
                            V3,
                            assets=[
                                asset("ccdefault:"),
                                asset("__asset:0", "emotion", "joy"),
                                asset("__asset:1", "emotion", "fear"),
                                asset("__asset:Joy/a.png", "x-risu-asset", "a"),
                            ],
                        )
                    )
                ),
            ),
        ),
    ),
    "a CHARX with files": ("charx", lambda: CHARX),
    "a CHARX, stored": ("charx", lambda: zipped({"card.json": escaped(V3), **FILES}, zipfile.ZIP_STORED)),
    "a CHARX behind a JPEG": ("charx", lambda: drawn("JPEG") + CHARX),
    "a CHARX behind a program": ("charx", lambda: b"MZ" + bytes(5_000) + CHARX),
    "a CHARX with a comment": ("charx", lambda: CHARX[:-2] + b"\5\0hello"),
    "a CHARX with more": (
        "charx",
        lambda: zipped(
            {"card.json": escaped(V3), "module.risum": b"\x6f\0", "x_meta/0.json": b"{}", "a/": b""}
        ),
    ),
    "a PNG in a ZIP": ("charx", lambda: zipped({"Mara/card.png": png_of(V2), "readme.txt": b"hello"})),
}


def files() -> Iterator[tuple[str, str, Callable[[], bytes]]]:
    """Each file: its name, as what it is read, how it is made."""
    for variant, card in VARIANTS.items():
        for name, (form, make) in FORMS.items():
            yield f"{variant}, {name}", form, lambda card=card, make=make: make(card)  # type: ignore[misc]
    for variant, book in BOOKS.items():
        yield variant, "lorebook", lambda book=book: escaped(book)  # type: ignore[misc]
    for name, (form, whole) in WHOLE.items():
        yield name, form, whole
