"""Which form a file has, told by its content alone, and what is read of it."""

import json
import re
from collections.abc import Callable

from files.zips import START
from pasts import character_ai, chatgpt, koboldai, oobabooga, risuai, sillytavern, text
from pasts.archive import choose_paths, list_paths, read_files
from pasts.collector import Collector
from pasts.errors import PastFormatError
from pasts.json_scan import Piece, peek_members, read_json
from pasts.past import MAX_BYTES, TextPattern
from pasts.values import as_mapping

PEEKED_BYTES = 256_000
BRACKETS = re.compile(rb"\s*(?:\[\s*)*\{")
OTHER_ARCHIVE = re.compile(rb"Rar!\x1a\x07|7z\xbc\xaf\x27\x1c")
MARKS = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")  # of UTF-16 and UTF-32
MIND = {"longTermMemory", "shortTermMemory"}  # DigitalLife's, which is read elsewhere
READERS: dict[str, Callable[[Collector, Piece], None]] = {
    "chatgpt": chatgpt.read_conversations,
    "character_ai": character_ai.read_export,
    "risuai": risuai.read_export,
    "koboldai": koboldai.read_story,
    "oobabooga": oobabooga.read_history,
}


def parse(content: bytes, pattern: TextPattern | None = None) -> tuple[str, Collector]:
    """Return the form of a file, and what was found in it. With a pattern it is read as plain text. PastFormatError."""
    if len(content) > MAX_BYTES:
        raise PastFormatError("too_large")
    if OTHER_ARCHIVE.match(content):
        raise PastFormatError("other_archive")
    collector = Collector()
    files = read_files(content) if content.startswith(START) else [content]
    forms = [_read(collector, _decode(file), pattern) for file in files]
    if not collector.pasts:
        raise PastFormatError("no_messages")
    return forms[0], collector


def looks_like_past(content: bytes) -> bool:
    """Return whether a file is meant as earlier talk, however well it is formed. Only a part of it is looked at."""
    if content.startswith(START):
        return bool(choose_paths(list_paths(content)))
    try:
        part = _decode(content[:PEEKED_BYTES])
    except PastFormatError:
        return False
    if BRACKETS.match(part):
        return find_form(part) is not None
    return text.looks_like_talk(_cut(part, content))


def is_plain_text(content: bytes) -> bool:
    """Return whether a file is lines of text that a pattern may tell a talk in. Only a part of it is looked at."""
    try:
        part = _decode(content[:PEEKED_BYTES])
    except PastFormatError:
        return False
    return text.is_plain_text(_cut(part, content))


def find_form(content: bytes) -> str | None:
    """Return the form of JSON or of lines of JSON, by the keys of the first object in it; None for any other."""
    found = BRACKETS.match(content)
    if not found:
        return None
    is_list = found.group().count(b"[") == 1
    told = peek_members(content, found.end() - 1)
    keys = told.keys()
    if "spec" in keys or MIND & keys or found.group().count(b"[") > 1:
        return None
    if "mapping" in keys or ("conversations" in keys and told["conversations"].startswith(b"[")):
        return "chatgpt"
    if told.get("type", b"")[1:20].split(b'"')[0].decode("latin-1") in risuai.KINDS and not is_list:
        return "risuai"
    if character_ai.is_export(keys) or b'"src__is_human"' in told.get("messages", b""):
        return "character_ai"
    if not is_list and oobabooga.is_history(told):
        return "oobabooga"
    if not is_list and koboldai.is_story(keys):
        return "koboldai"
    return "sillytavern" if sillytavern.is_chat_line(keys) else None


def _read(collector: Collector, content: bytes, pattern: TextPattern | None) -> str:
    is_json = not pattern and BRACKETS.match(content)
    form = (find_form(content[:PEEKED_BYTES]) or find_form(content)) if is_json else "text"
    if form == "text":
        text.read_text(collector, content, pattern)
    elif form == "sillytavern" and not content.lstrip().startswith(b"["):
        sillytavern.read_lines(collector, content)
    elif form == "sillytavern":
        sillytavern.read_chat(
            collector, map(as_mapping, (piece.load() for piece in read_json(content).elements()))
        )
    elif form:
        READERS[form](collector, read_json(content))
    else:
        read_json(content)
        raise PastFormatError("no_past")
    return form


def _cut(part: bytes, content: bytes) -> bytes:
    """Return the part's whole lines, where the content goes on after it."""
    return part[: part.rfind(b"\n")] if len(content) > PEEKED_BYTES else part


def _decode(content: bytes) -> bytes:
    """Return it as UTF-8 without a mark of its encoding, from UTF-16 or UTF-32 where a mark or JSON itself tells so."""
    if content.startswith(b"\xef\xbb\xbf"):
        return content[3:]
    encoding = json.detect_encoding(content)
    if encoding.startswith("utf-8"):
        return content
    begins = content[:64].decode(encoding, "ignore").lstrip("\ufeff \r\n")
    if not content.startswith(MARKS) and not begins.startswith(("{", "[")):
        return content
    try:
        return content.decode(encoding).encode(errors="replace")
    except UnicodeDecodeError:
        raise PastFormatError("wrong_encoding") from None
