"""Files that are no card, that are broken or lie, or that cost more than they look."""

import base64
import gzip
import io
import json
import random
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from typing import Any

from cards.png import MAGIC, write_chunk
from tests.cards.corpus import (
    CHARX,
    ENTRY,
    FACE,
    V1,
    V2,
    V3,
    WORLD_INFO,
    asset,
    changed,
    dumped,
    escaped,
    png_of,
    png_with,
    text_chunk,
    with_entry,
    zipped,
)
from tests.files.hostile import SCRIPT, SVG, drawn, zeros
from tests.fixtures.hostile import ended_twice, flagged, lying, mutate

Make = Callable[[], bytes]
CARD = escaped(V3)


def nested(levels: int, begin: str = "[", end: str = "]", within: str = "") -> bytes:
    return (begin * levels + within + end * levels).encode()


def in_extensions(text: bytes) -> bytes:
    """A card with this JSON in its extensions."""
    return escaped(changed(V3, extensions={"x": "HERE"})).replace(b'"HERE"', text)


def chara(text: bytes, kind: str = "tEXt") -> bytes:
    return png_with(text_chunk(kind, "chara", text))


def false_sum(content: bytes) -> bytes:
    """The PNG, with another letter in its card."""
    at = content.index(b"chara\0") + 20
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


def of_size(size: int, kind: bytes = b"tEXt") -> bytes:
    """A PNG whose text says that it is so large."""
    return FACE[:33] + struct.pack(">I", size) + kind + b"chara\0" + b"e30=" * 1_000


def bomb(size: int = 100_000_000, kind: bytes = b"zTXt") -> bytes:
    flags = b"\0" if kind == b"zTXt" else b"\1\0\0\0"
    return write_chunk(kind, b"chara\0" + flags + zeros(size))


def entry(path: str, content: bytes = FACE, **fields: Any) -> bytes:
    """A ZIP with a card, and an entry of which more can be said than is so."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("card.json", CARD)
        info = zipfile.ZipInfo("PLACEHOLDER".ljust(len(path), "_")[: len(path)])
        for name, value in fields.items():
            setattr(info, name, value)
        archive.writestr(info, content)
    return file.getvalue().replace(info.filename.encode(), path.encode())


def with_method(method: int) -> bytes:
    return zipped({"card.json": CARD}, method)


def many(count: int) -> bytes:
    return zipped({"card.json": CARD} | {f"a/{number}": b"" for number in range(count)}, zipfile.ZIP_STORED)


def twice() -> bytes:
    content = zipped({"card.json": CARD, "cardAjson": escaped(V2)})
    return content.replace(b"cardAjson", b"card.json")


def with_end(**fields: int) -> bytes:
    """A ZIP whose end says other things of its directory."""
    content = bytearray(CHARX)
    at = content.rindex(b"PK\5\6")
    for name, value in fields.items():
        offset, form = {"count": (10, "<H"), "size": (12, "<I"), "start": (16, "<I")}[name]
        struct.pack_into(form, content, at + offset, value)
    return bytes(content)


def overlapping(count: int) -> bytes:
    """A ZIP with many names for the same bytes."""
    card = escaped(changed(V3, assets=[asset(f"embeded://{number:04}") for number in range(count)]))
    content = zipped({"card.json": card, "AAAA": zlib.compress(random.Random(1).randbytes(1_000))})
    end = content.rindex(b"PK\5\6")
    first = content.index(b"PK\1\2")
    second = content.index(b"PK\1\2", first + 4)
    record = content[second:end]
    records = content[first:second] + b"".join(
        record.replace(b"AAAA", f"{number:04}".encode()) for number in range(count)
    )
    tail = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, count + 1, count + 1, len(records), first, 0)
    return content[:first] + records + tail


def one_file_many_times(count: int) -> bytes:
    """A CHARX that names one asset of 5 MB again and again."""
    picture = FACE + random.Random(1).randbytes(5_000_000)
    assets = [asset("embeded://a.png", "emotion", str(number)) for number in range(count)]
    return zipped({"card.json": escaped(changed(V3, assets=assets)), "a.png": picture}, zipfile.ZIP_STORED)


def with_assets(*assets: dict[str, Any], **files: bytes) -> bytes:
    return zipped({"card.json": escaped(changed(V3, assets=list(assets)))} | files)


def with_entries(count: int) -> bytes:
    return dumped(changed(V2, character_book={"entries": [{"keys": [], "content": ""}] * count}))


# What none of these may become is a card: the code that says why.
REFUSED: Mapping[str, tuple[str, Make]] = {
    "nothing": ("no_card", lambda: b""),
    "one byte": ("no_card", lambda: b"\x89"),
    "noise": ("no_card", lambda: random.Random(1).randbytes(1_000_000)),
    "51 MB": ("too_large", lambda: bytes(51_000_000)),
    "a page": ("no_card", lambda: b"<!doctype html>" + SCRIPT),
    "a drawing": ("no_card", lambda: SVG),
    "a PDF": ("no_card", lambda: b"%PDF-1.7\n/JavaScript (app.alert(1))"),
    "a program": ("no_card", lambda: b"\x7fELF" + bytes(1_000)),
    "a JPEG": ("no_card", lambda: drawn("JPEG")),
    "a WebP": ("no_card", lambda: drawn("WEBP")),
    "a PNG": ("no_card", lambda: FACE),
    "a card, squeezed": ("no_card", lambda: gzip.compress(CARD)),
    "a RAR": ("other_archive", lambda: b"Rar!\x1a\x07\0" + CHARX),
    "a RAR of 5": ("other_archive", lambda: b"Rar!\x1a\x07\1\0" + bytes(1_000)),
    "a 7z": ("other_archive", lambda: b"7z\xbc\xaf\x27\x1c" + bytes(1_000)),
    # JSON
    "a list": ("no_card", lambda: b"[]"),
    "an empty object": ("no_card", lambda: b"{}"),
    "another program's JSON": ("no_card", lambda: b'{"name": "kith", "version": "1.0", "scripts": {}}'),
    "a list of conversations": ("no_card", lambda: b'[{"title": "x", "mapping": {}}]'),
    "a card of no data": ("no_card", lambda: b'{"spec": "chara_card_v3", "data": []}'),
    "a lorebook of no data": ("no_card", lambda: b'{"spec": "lorebook_v3", "data": null}'),
    "half a JSON": ("broken_json", lambda: CARD[: len(CARD) // 2]),
    "JSON and more": ("broken_json", lambda: CARD + b"x"),
    "JSON with a comma too many": ("broken_json", lambda: b'{"name": "x", "first_mes": "y",}'),
    "JSON that is no UTF-8": ("broken_json", lambda: dumped(V1).replace(b"Mara", b"M\xff\xfea")),
    "half a character of UTF-16": ("broken_json", lambda: escaped(V1).decode().encode("utf-16")[:-1]),
    "NaN": ("broken_json", lambda: in_extensions(b"NaN")),
    "infinity": ("broken_json", lambda: in_extensions(b"-Infinity")),
    "a number beyond all": ("broken_json", lambda: in_extensions(b"1e999")),
    "a number of ten thousand digits": ("broken_json", lambda: in_extensions(b"9" * 10_000)),
    "a number of four million digits": ("broken_json", lambda: in_extensions(b"9" * 4_000_000)),
    "49 MB of text": ("too_large", lambda: b'{"name": "' + b"x" * 49_000_000 + b'"}'),
    "49 MB of lists": ("too_large", lambda: b'{"name": [' + b"[]," * 16_000_000 + b"[]]}"),
    "5 MB of lists": ("too_large", lambda: b'{"name": [' + b"[]," * 1_600_000 + b"[]]}"),
    "5 MB of objects": ("too_large", lambda: b'{"name": [' + b'{"":0},' * 690_000 + b"{}]}"),
    "lists in lists, 65": ("too_deep", lambda: in_extensions(nested(65))),
    "lists in lists, a hundred thousand": (
        "too_deep",
        lambda: nested(100_000).replace(b"[", b'{"name":[', 1),
    ),
    "lists without an end": ("too_deep", lambda: b'{"a":' + b"[" * 200_000),
    "objects in objects": ("too_deep", lambda: nested(50_000, '{"a":', "}", "1")),
    "2,001 entries": ("too_many_entries", lambda: with_entries(2_001)),
    "world info of 2,001": (
        "too_many_entries",
        lambda: dumped({"entries": {str(at): WORLD_INFO["entries"]["1"] for at in range(2_001)}}),
    ),
    # PNG
    "a PNG's first bytes": ("broken_png", lambda: MAGIC),
    "half a PNG": ("broken_png", lambda: png_of(V2)[:500]),
    "a PNG without its end": ("broken_png", lambda: png_of(V2)[:-12]),
    "a PNG without its last byte": ("broken_png", lambda: png_of(V2)[:-1]),
    "a PNG without its head": ("broken_png", lambda: MAGIC + png_of(V2)[33:]),
    "a PNG with two heads": (
        "broken_png",
        lambda: png_with(FACE[8:33], text_chunk("tEXt", "chara", b"e30=")),
    ),
    "a false sum": ("broken_sum", lambda: false_sum(png_of(V2))),
    "a text of 4 GB": ("broken_png", lambda: of_size(0xFFFF_FFFF)),
    "a text of 2 GB": ("broken_png", lambda: of_size(0x7FFF_FFFF, b"zTXt")),
    "a text that ends after the file": ("broken_png", lambda: of_size(4_100)),
    "letters that are none": ("broken_png", lambda: png_with(write_chunk(b"t\0Xt", b"chara\0e30="))),
    "a million chunks": ("broken_png", lambda: png_with(write_chunk(b"tEXt", b"") * 1_000_000)),
    "thousands of cards": ("broken_text", lambda: png_with(text_chunk("tEXt", "chara", b"?") * 10_000)),
    "a text that grows": ("too_large", lambda: png_with(bomb())),
    "an international text that grows": ("too_large", lambda: png_with(bomb(kind=b"iTXt"))),
    "a hundred texts that grow": ("too_large", lambda: png_with(bomb() * 100)),
    "a text that grows within a text": ("too_large", lambda: chara(b"A" * 30_000_000, "zTXt")),
    "a large text": ("too_large", lambda: chara(base64.b64encode(b'{"name": "' + b"x" * 6_000_000 + b'"}'))),
    "a text of 40 MB": ("too_large", lambda: chara(b"A" * 40_000_000)),
    "base64 of no letters": ("broken_text", lambda: chara(b"!" * 1_000)),
    "base64 of another alphabet": ("broken_text", lambda: chara("карта".encode() * 100)),
    "base64 of one letter": ("broken_text", lambda: chara(b"A")),
    "base64 of noise": (
        "broken_json",
        lambda: chara(base64.b64encode(b"\xff" + random.Random(2).randbytes(1_000))),
    ),
    "base64 of a list": ("no_card", lambda: chara(base64.b64encode(b"[1]"))),
    "base64 of base64": ("broken_json", lambda: chara(base64.b64encode(base64.b64encode(CARD)))),
    "base64 of deep lists": ("too_deep", lambda: chara(base64.b64encode(b'{"a":' + b"[" * 200_000))),
    "an empty text": ("broken_json", lambda: chara(b"")),
    "half a stream": (
        "broken_text",
        lambda: png_with(write_chunk(b"zTXt", b"chara\0\0" + zeros(10**6)[:-9])),
    ),
    "no stream": ("broken_text", lambda: png_with(write_chunk(b"zTXt", b"chara\0\0" + b"hello"))),
    "a stream of another method": (
        "broken_text",
        lambda: png_with(write_chunk(b"zTXt", b"chara\0\7" + zeros(10**6))),
    ),
    "an international text without its zeros": (
        "broken_text",
        lambda: png_with(write_chunk(b"iTXt", b"chara\0\0\0en")),
    ),
    "an international text of nothing": ("broken_text", lambda: png_with(write_chunk(b"iTXt", b"chara"))),
    "RisuAI's own": ("encrypted_card", lambda: chara(b"rcc||rccv1||abc||def")),
    "RisuAI's own, in base64": ("encrypted_card", lambda: chara(base64.b64encode(b"rcc||rccv1||abc"))),
    "two broken cards": (
        "broken_json",
        lambda: png_with(text_chunk("tEXt", "ccv3", b"{"), text_chunk("tEXt", "chara", b"!")),
    ),
    "a PNG with a CHARX behind it": ("no_card", lambda: FACE + CHARX),
    # CHARX
    "half a ZIP": ("broken_zip", lambda: CHARX[: len(CHARX) // 2]),
    "a ZIP without its beginning": ("broken_zip", lambda: CHARX[200:]),
    "a ZIP's last bytes": ("no_card", lambda: CHARX[-22:].replace(CHARX[-14:-2], bytes(12))),
    "a ZIP before a long tail": ("broken_zip", lambda: CHARX + bytes(70_000)),
    "a ZIP without a card": ("no_card", lambda: zipped({"word/document.xml": b"<x/>"})),
    "a card in a folder": ("no_card", lambda: zipped({"x/card.json": CARD})),
    "a card by another name": ("no_card", lambda: zipped({"Card.JSON": CARD})),
    "ZIPs in a ZIP": (
        "no_card",
        lambda: zipped({f"{at}.zip": zipped({"card.json": CARD}) for at in range(16)}),
    ),
    "two PNGs in a ZIP": ("no_card", lambda: zipped({"a.png": png_of(V2), "b.png": png_of(V3)})),
    "a plain PNG in a ZIP": ("no_card", lambda: zipped({"a.png": FACE})),
    "a broken PNG in a ZIP": ("broken_png", lambda: zipped({"a.png": png_of(V2)[:300]})),
    "10,000 files": ("too_many_files", lambda: many(10_000)),
    "60,000 files": ("too_many_files", lambda: many(60_000)),
    "many files that are not counted": (
        "too_many_files",
        lambda: many(20_000)[:-12] + b"\1\0" + many(20_000)[-10:],
    ),
    "a path that leaves": ("unsafe_path", lambda: entry("../../etc/cron.d/x")),
    "a path that leaves within": ("unsafe_path", lambda: entry("assets/../../x")),
    "a path from the root": ("unsafe_path", lambda: entry("/etc/passwd")),
    "a path of another system": ("unsafe_path", lambda: entry("..\\..\\x")),
    "a path on a drive": ("unsafe_path", lambda: entry("C:/x")),
    "a path with a zero": ("unsafe_path", lambda: entry("card.json\0.png")),
    "a path with a bell": ("unsafe_path", lambda: entry("a\7.png")),
    "a long path": ("unsafe_path", lambda: entry("a/" * 300 + "b")),
    "a link": ("unsafe_path", lambda: entry("link.png", b"/etc/passwd", external_attr=0o120777 << 16)),
    "a device": ("unsafe_path", lambda: entry("device.png", external_attr=0o020666 << 16)),
    "a password": ("encrypted_zip", lambda: flagged(zipped({"card.json": CARD}), 0x01)),
    "a strong password": ("encrypted_zip", lambda: flagged(zipped({"card.json": CARD}), 0x40)),
    "another packing": ("broken_zip", lambda: with_method(zipfile.ZIP_BZIP2)),
    "a third packing": ("broken_zip", lambda: with_method(zipfile.ZIP_LZMA)),
    "a card that grows": ("zip_bomb", lambda: zipped({"card.json": bytes(200_000_000)})),
    "an asset that grows": (
        "zip_bomb",
        lambda: zipped({"card.json": CARD, "a.png": FACE + bytes(100_000_000)}),
    ),
    "a PNG that grows": ("zip_bomb", lambda: zipped({"a.png": FACE + bytes(100_000_000)})),
    "a card of 6 MB": (
        "too_large",
        lambda: zipped({"card.json": b" " * 6_000_000 + CARD}, zipfile.ZIP_STORED),
    ),
    "a card that is a list": ("no_card", lambda: zipped({"card.json": b"[]"})),
    "a card that is a picture": ("broken_json", lambda: zipped({"card.json": FACE})),
    "two cards of one name": ("broken_zip", twice),
    "many names for the same bytes": (
        "broken_zip",
        lambda: overlapping(1_000),
    ),
    "a size too small": ("broken_zip", lambda: lying(CHARX, 10)),
    "a size too large": ("zip_bomb", lambda: lying(CHARX, 2**31)),
    "a size somewhat too large": ("broken_zip", lambda: lying(CHARX, len(CARD) + 100)),
    "a directory of 4 GB": ("too_many_files", lambda: with_end(size=0xFFFF_FFFF)),
    "a directory that is elsewhere": ("broken_zip", lambda: with_end(start=0xFFFF_0000)),
    "a directory of another size": ("broken_zip", lambda: with_end(size=10)),
    "20,000 files told in 64 bits": ("too_many_files", lambda: ended_twice(many(20_000), 20_000)),
    "a false sum in a ZIP": (
        "broken_zip",
        lambda: zipped({"card.json": CARD}, 0).replace(b"Mara", b"Mora", 1),
    ),
    "a JPEG before half a ZIP": ("no_card", lambda: drawn("JPEG") + CHARX[: len(CHARX) // 2]),
}
# What these become is a card like any other, with what is bad in it left out or without effect: the remarks.
ODD: Mapping[str, tuple[set[str], Make]] = {
    "a drawing as its icon": (
        {"assets_not_kept"},
        lambda: with_assets(asset("embeded://a.svg", ext="svg"), **{"a.svg": SVG}),
    ),
    "a drawing that says it is a PNG": (
        {"assets_not_kept"},
        lambda: with_assets(asset("embeded://a.png"), **{"a.png": SVG}),
    ),
    "a page that says it is a PNG": (
        {"assets_not_kept"},
        lambda: with_assets(asset("embeded://a.png"), **{"a.png": b"<!doctype html>" + SCRIPT}),
    ),
    "a program that says it is a PNG": (
        {"assets_not_kept"},
        lambda: with_assets(asset("embeded://a.png"), **{"a.png": b"MZ" + bytes(1_000)}),
    ),
    "a drawing in its JSON": (
        {"assets_not_kept"},
        lambda: escaped(
            changed(
                V3, assets=[asset("data:image/svg+xml;base64," + base64.b64encode(SVG).decode(), ext="svg")]
            )
        ),
    ),
    "a page in its JSON": (
        {"assets_not_kept"},
        lambda: escaped(changed(V3, assets=[asset("data:text/html,<script>alert(1)</script>")])),
    ),
    "an icon on another website": (
        {"assets_not_fetched"},
        lambda: escaped(changed(V3, assets=[asset("http://169.254.169.254/latest/meta-data")])),
    ),
    "an icon of the server's": (
        {"assets_not_kept"},
        lambda: escaped(
            changed(V3, assets=[asset("file:///etc/passwd"), asset("ftp://x/y"), asset("/etc/passwd")])
        ),
    ),
    "an icon that leaves its file": (
        {"assets_not_kept"},
        lambda: with_assets(asset("embeded://../../../etc/passwd"), asset("embeded:///etc/passwd")),
    ),
    "an icon that is not there": ({"assets_not_kept"}, lambda: with_assets(asset("embeded://a.png"))),
    "an icon of 11 MB": (
        {"assets_beyond"},
        lambda: with_assets(
            asset("embeded://a.png"), **{"a.png": FACE + random.Random(1).randbytes(11_000_000)}
        ),
    ),
    "one file of 5 MB for a hundred assets": ({"assets_beyond"}, lambda: one_file_many_times(100)),
    "three thousand assets": (
        {"assets_not_fetched"},
        lambda: escaped(changed(V3, assets=[asset(f"https://x/{at}") for at in range(3_000)])),
    ),
    "an asset in a chunk that grows": (
        {"assets_beyond"},
        lambda: png_with(
            write_chunk(b"zTXt", b"chara-ext-asset_:0\0\0" + zeros(100_000_000)),
            text_chunk("tEXt", "ccv3", base64.b64encode(escaped(changed(V3, assets=[asset("__asset:0")])))),
        ),
    ),
    "keys of one name": (set(), lambda: CARD.replace(b'"data": {', b'"data": {"name": "Old",', 1)),
    "zeros and half characters": (
        {"text_cleaned"},
        lambda: escaped(changed(V3, name="a\0\ud800", extensions={"\0": ["\udfff"]})),
    ),
    "a number of four thousand digits": (set(), lambda: in_extensions(b"9" * 4_000)),
    "an order beyond all": (set(), lambda: escaped(with_entry(V3, insertion_order=10**400))),
    "an order that is none": (
        set(),
        lambda: escaped(with_entry(V3, insertion_order=[1], priority="x", id={})),
    ),
    "a version that is none": (set(), lambda: escaped({**V3, "spec_version": ["3.0"]})),
    "fields of other types": (
        set(),
        lambda: escaped(changed(V3, name={"a": 1}, tags=5, extensions=[1], assets="x", character_book="x")),
    ),
    "a pattern that explodes": (set(), lambda: escaped(with_entry(V3, keys=["(a+)+$" * 50], use_regex=True))),
    "names of programs": (set(), lambda: in_extensions(b'{"__proto__": {"x": 1}, "__class__": "os.system"}')),
    "macros and tags": (
        set(),
        lambda: escaped(changed(V3, name="{{char}}<img src=x onerror=alert(1)>${7*7}")),
    ),
    "lists in lists, 60": (set(), lambda: in_extensions(nested(60))),
    "2,000 entries": (set(), lambda: with_entries(2_000)),
    "2,000 full entries": (
        set(),
        lambda: dumped(changed(V2, character_book={"entries": [ENTRY] * 2_000})),
    ),
    "5 MB of text": (set(), lambda: dumped(changed(V2, description="玛" * 1_600_000))),
    "a picture of 45 MB": (
        set(),
        lambda: png_with(write_chunk(b"IDAT", bytes(45_000_000)), picture=png_of(V2)),
    ),
    "a CHARX of 39 MB": (
        set(),
        lambda: zipped(
            {
                "card.json": escaped(
                    changed(V3, assets=[asset(f"embeded://{at}.png", name=str(at)) for at in range(13)])
                )
            }
            | {f"{at}.png": FACE + random.Random(at).randbytes(3_000_000) for at in range(13)},
            zipfile.ZIP_STORED,
        ),
    ),
    "1,400 files": ({"files_not_kept"}, lambda: many(1_400)),
    "a name of a million letters": (set(), lambda: dumped(changed(V3, name="x" * 1_000_000))),
}


def mutated(seed: int) -> bytes:
    """One of the cards, broken by chance."""
    chance = random.Random(seed)
    content = mutate(chance, SEEDS, WORDS, NUMBERS)
    return bytes(mend(content) if chance.random() < 0.3 else content)


def mend(content: bytearray) -> bytearray:
    """The sums of a PNG made right, as far as its chunks go: otherwise hardly anything gets behind them."""
    at = len(MAGIC)
    while at + 12 <= len(content):
        end = at + 12 + int.from_bytes(content[at : at + 4], "big")
        if end > len(content):
            break
        content[end - 4 : end] = struct.pack(">I", zlib.crc32(content[at + 4 : end - 4]))
        at = end
    return content


SMALL = {**V2, "data": {**V1, "character_book": {"entries": [{"keys": ["a"], "content": "@@depth 1\nb"}]}}}
SEEDS = [
    json.dumps(SMALL).encode(),
    json.dumps(WORLD_INFO).encode(),
    json.dumps({**V3, "data": {**V1, "assets": [asset("data:image/png;base64,iVBORw0KGgo=")]}}).encode(),
    chara(dumped(SMALL)),
    *(chara(base64.b64encode(dumped(SMALL)), kind) for kind in ("tEXt", "zTXt", "iTXt", "iTXt squeezed")),
    png_with(
        text_chunk("tEXt", "chara-ext-asset_:0", base64.b64encode(FACE)),
        text_chunk("tEXt", "ccv3", dumped({**V3, "data": {**V1, "assets": [asset("__asset:0")]}})),
        text_chunk("tEXt", "chara", dumped(V1)),
    ),
    zipped(
        {"card.json": dumped({**V3, "data": {**V1, "assets": [asset("embeded://a.png")]}}), "a.png": FACE}
    ),
    zipped({"card.json": dumped(V1), "a.png": FACE}, zipfile.ZIP_STORED),
    drawn("JPEG", (4, 4)) + zipped({"card.json": dumped(V1)}),
    zipped({"a.png": chara(dumped(V1))}, zipfile.ZIP_STORED),
]
NUMBERS = [bytes(4), b"\xff" * 4, b"\x7f\xff\xff\xff", b"\x80\0\0\0", b"\0\0\0\1", b"\xff\xff\0\0"]
WORDS = [
    b"PK\3\4",
    b"PK\1\2",
    b"PK\5\6",
    b"PK\6\7",
    b"chara\0",
    b"ccv3\0",
    b"IEND",
    b"IHDR",
    b"zTXt",
    b"card.json",
    b"rcc||",
    b'"data":null,',
    b'"entries":[',
    b'{"entries":{"0":',
    b"NaN",
    b"1e999",
    b'"\\ud800\\u0000"',
    b"[" * 2_000,
    b"9" * 5_000,
    b"\0",
    b"../",
    b"embeded://",
    b"\xef\xbb\xbf",
]
