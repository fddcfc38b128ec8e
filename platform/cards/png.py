"""Cards in the text chunks of PNG and APNG: all three kinds of text chunks are read, the specified one is written."""

import base64
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from cards.assets import Asset, FileCard, list_paths, resolve
from cards.schema import Known, read_json
from cards.values import MAX_JSON_BYTES, CardFormatError, decode_base64

MAGIC = b"\x89PNG\r\n\x1a\n"
CARDS = (b"ccv3", b"chara")  # the first is preferred
ASSET = b"chara-ext-asset_"
TEXT_KINDS = (b"tEXt", b"zTXt", b"iTXt")
MAX_CHUNKS = 20_000
MAX_CARD_CHUNKS = 10
MAX_KEYWORD_BYTES = 1_024  # PNG allows 79, but keywords that contain an asset's path are longer
MAX_TEXT_BYTES = MAX_JSON_BYTES * 4 // 3 + 100_000  # of base64
ENCRYPTED = b"rcc||"


class Chunk(NamedTuple):
    """A chunk at [`start`, `end`) of the file; its content begins 8 bytes in, and its last 4 bytes are the checksum."""

    kind: bytes
    start: int
    end: int
    keyword: bytes  # of a text chunk, in lower case; empty for other chunks


def read_png(content: bytes) -> FileCard:
    """Return the card in the picture: the first chunk that can be read, V3 before V2.

    Raise CardFormatError, e.g. `no_card`, if none can.
    """
    chunks = list(walk(content))
    found = [chunk for keyword in CARDS for chunk in chunks if chunk.keyword == keyword]
    if not found:
        raise CardFormatError("no_card")
    refused: CardFormatError | None = None
    for chunk in found[:MAX_CARD_CHUNKS]:
        try:
            known = read_json(_decode(read_text(content, chunk, MAX_TEXT_BYTES)))
        except CardFormatError as error:
            refused = refused or error
            continue
        if refused:
            known.remarks.append("other_chunk")
        assets = read_assets(content, chunks, known)
        left = (content[chunk.start : chunk.end] for chunk in chunks if not _is_of_a_card(chunk))
        return FileCard(known, MAGIC + b"".join(left), assets)
    raise refused or CardFormatError("no_card")


def read_assets(content: bytes, chunks: list[Chunk], known: Known) -> list[Asset]:
    """Return the assets, including those in chunks of their own (as older programs do); extend `known.remarks`."""
    by_path = {_asset_path(content, chunk): chunk for chunk in chunks if chunk.keyword.startswith(ASSET)}

    def find(path: str, max_bytes: int) -> bytes | None:
        chunk = by_path.get(path)
        try:
            return decode_base64(read_text(content, chunk, max_bytes * 4 // 3 + 100)) if chunk else None
        except CardFormatError as error:
            if error.code == "too_large":
                raise
            return None

    assets, remarks = resolve(known.card, find)
    if by_path.keys() - list_paths(known.card):
        remarks.add("files_not_kept")
    known.remarks.extend(sorted(remarks))
    return assets


def walk(content: bytes) -> Iterator[Chunk]:
    """Yield the chunks up to IEND, after which nothing belongs to the picture. Raise CardFormatError `broken_png`."""
    if not content.startswith(MAGIC):
        raise CardFormatError("broken_png")
    at = len(MAGIC)
    for _ in range(MAX_CHUNKS):
        if at + 12 > len(content):
            break
        size, kind = struct.unpack_from(">I4s", content, at)
        end = at + 12 + size
        if end > len(content) or not kind.isalpha() or (at == len(MAGIC)) != (kind == b"IHDR"):
            break
        keyword = b""
        if kind in TEXT_KINDS:
            keyword = content[at + 8 : min(end - 4, at + 8 + MAX_KEYWORD_BYTES)].partition(b"\0")[0].lower()
        yield Chunk(kind, at, end, keyword)
        if kind == b"IEND":
            return
        at = end
    raise CardFormatError("broken_png")


def read_text(content: bytes, chunk: Chunk, max_bytes: int) -> bytes:
    """Return the chunk's text, decompressed. Raise CardFormatError `broken_sum`, `broken_text` or `too_large`."""
    inner = memoryview(content)[chunk.start + 4 : chunk.end - 4]
    if zlib.crc32(inner) != int.from_bytes(content[chunk.end - 4 : chunk.end], "big"):
        raise CardFormatError("broken_sum")
    rest = inner[4 + len(chunk.keyword) + 1 :]
    is_squeezed = chunk.kind == b"zTXt"
    if chunk.kind == b"zTXt":
        method, rest = bytes(rest[:1]), rest[1:]
    elif chunk.kind == b"iTXt":
        is_squeezed, method = bytes(rest[:1]) == b"\1", bytes(rest[1:2])
        # The language and the translated keyword, each up to its zero.
        parts = bytes(rest[2 : 2 + 2 * MAX_KEYWORD_BYTES]).split(b"\0", 2)
        if len(parts) < 3:
            raise CardFormatError("broken_text")
        rest = rest[2 + len(parts[0]) + len(parts[1]) + 2 :]
    if not is_squeezed:
        if len(rest) > max_bytes:
            raise CardFormatError("too_large")
        return bytes(rest)
    if method != b"\0":
        raise CardFormatError("broken_text")
    return inflate(rest, max_bytes)


def inflate(squeezed: bytes | memoryview, max_bytes: int) -> bytes:
    """Return the data decompressed. Raise CardFormatError `broken_text`, or `too_large` beyond `max_bytes`."""
    inflater = zlib.decompressobj()
    try:
        text = inflater.decompress(squeezed, max_bytes)
    except zlib.error:
        raise CardFormatError("broken_text") from None
    if not inflater.eof:
        raise CardFormatError("too_large" if len(text) >= max_bytes else "broken_text")
    return text


def _decode(text: bytes) -> bytes:
    """Return the card's JSON from the chunk's text, which is base64, or plain JSON from some programs."""
    stripped = text.lstrip(b"\xef\xbb\xbf \t\r\n")
    if stripped.startswith(ENCRYPTED):
        raise CardFormatError("encrypted_card")
    if stripped.startswith(b"{"):
        return stripped
    decoded = decode_base64(stripped)
    if decoded.startswith(ENCRYPTED):
        raise CardFormatError("encrypted_card")
    return decoded


def _asset_path(content: bytes, chunk: Chunk) -> str:
    """Return the asset's path from the chunk's keyword, in its original case; old programs write a number, no colon."""
    start = chunk.start + 8 + len(ASSET)
    path = content[start : start + len(chunk.keyword) - len(ASSET)]
    return path.removeprefix(b":").decode("utf-8", "replace")


def _is_of_a_card(chunk: Chunk) -> bool:
    return chunk.keyword in CARDS or chunk.keyword.startswith(ASSET)


def write_png(picture: bytes, texts: Mapping[bytes, bytes]) -> bytes:
    """Return the picture with `texts` (JSON by keyword) instead of the chunks of cards that it had.

    Raise CardFormatError `broken_png`.
    """
    chunks = [chunk for chunk in walk(picture) if not _is_of_a_card(chunk)]
    written = [write_chunk(b"tEXt", key + b"\0" + base64.b64encode(text)) for key, text in texts.items()]
    parts = [picture[chunk.start : chunk.end] for chunk in chunks]
    return MAGIC + b"".join([*parts[:-1], *written, parts[-1]])


def write_chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
