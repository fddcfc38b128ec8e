"""Recognising the form of a file of earlier talk by its content alone, and reading it with the right reader."""

import io
import re
from collections.abc import Callable, Collection
from typing import IO

from files.zips import OTHER_ARCHIVE, START
from pasts import plain_text
from pasts.archive import choose_paths, list_paths, read_files
from pasts.collector import Collector
from pasts.encoding import read_utf8
from pasts.json_scan import MAX_VALUES, Piece, as_mapping, peek_members, read_json
from pasts.past import MAX_BYTES, PastFormatError, TextPattern
from pasts.programs import character_ai, chatgpt, claude, deepseek, koboldai, oobabooga, risuai, sillytavern
from text.json_size import count_values

PEEKED_BYTES = 256_000
BRACKETS = re.compile(rb"\s*+(?:\[\s*+)*+\{")
MIND = {"longTermMemory", "shortTermMemory"}  # keys of DigitalLife's files, which are read elsewhere
READERS: dict[str, Callable[[Collector, Piece], None]] = {
    "chatgpt": chatgpt.read_conversations,
    "claude": claude.read_conversations,
    "deepseek": deepseek.read_conversations,
    "character_ai": character_ai.read_export,
    "risuai": risuai.read_export,
    "koboldai": koboldai.read_story,
    "oobabooga": oobabooga.read_history,
}


def parse(file: IO[bytes], body: IO[bytes], pattern: TextPattern | None = None) -> tuple[str, Collector]:
    """Read a file, writing its messages to `body` as they are found; return its form and the collector.

    With `pattern` it is read as plain text. Raise PastFormatError.
    """
    if file.seek(0, io.SEEK_END) > MAX_BYTES:
        raise PastFormatError("too_large")
    file.seek(0)
    beginning = file.read(PEEKED_BYTES)
    file.seek(0)
    if OTHER_ARCHIVE.match(beginning):
        raise PastFormatError("other_archive")
    collector = Collector(body)
    contents = read_files(file) if beginning.startswith(START) else [read_utf8(file, MAX_BYTES)]
    forms = [_read(collector, content, pattern) for content in contents]
    if not collector.pasts:
        raise PastFormatError("no_messages")
    return forms[0], collector


def looks_like_past(file: IO[bytes]) -> bool:
    """Return whether a file seems to be earlier talk, even if it is malformed. Only its beginning is examined.

    The file's position is reset to the beginning.
    """
    try:
        if file.read(len(START)) == START:
            return bool(choose_paths(list_paths(file)))
        part = _peek(file)
    except PastFormatError:
        return False
    finally:
        file.seek(0)
    if BRACKETS.match(part):
        return find_form(part) is not None
    return plain_text.looks_like_talk(part)


def is_plain_text(file: IO[bytes]) -> bool:
    """Return whether a file is lines of text, in which a pattern may find a talk. Only its beginning is examined."""
    try:
        return plain_text.is_plain_text(_peek(file))
    except PastFormatError:
        return False


def _peek(file: IO[bytes]) -> bytes:
    """Return the file's beginning as UTF-8, without an incomplete last line. Raise PastFormatError."""
    file.seek(0)
    beginning = file.read(PEEKED_BYTES)
    part = read_utf8(io.BytesIO(beginning), PEEKED_BYTES)
    return part[: part.rfind(b"\n")] if file.read(1) and not BRACKETS.match(part) else part


def find_form(content: bytes) -> str | None:
    """Return the form of JSON or JSON lines by the keys of the first object, or None if it is not a known one."""
    found = BRACKETS.match(content)
    if not found:
        return None
    is_list = found.group().count(b"[") == 1
    fields = peek_members(content, found.end() - 1)
    keys = fields.keys()
    if "spec" in keys or MIND & keys or found.group().count(b"[") > 1:
        return None
    if form := _find_assistant(keys):
        return form
    if "conversations" in keys and fields["conversations"].startswith(b"["):
        listed = peek_members(content, found.end() - 1, PEEKED_BYTES)["conversations"]
        first = BRACKETS.match(listed)
        return (first and _find_assistant(peek_members(listed, first.end() - 1).keys())) or "chatgpt"
    if fields.get("type", b"")[1:20].split(b'"')[0].decode("latin-1") in risuai.KINDS and not is_list:
        return "risuai"
    if character_ai.is_export(keys) or b'"src__is_human"' in fields.get("messages", b""):
        return "character_ai"
    if not is_list and oobabooga.is_history(fields):
        return "oobabooga"
    if not is_list and koboldai.is_story(keys):
        return "koboldai"
    return "sillytavern" if sillytavern.is_chat_line(keys) else None


def _find_assistant(keys: Collection[str]) -> str | None:
    """Return the form of an assistant's conversation that has these keys, or None if it is none."""
    if "chat_messages" in keys:
        return "claude"
    if "mapping" in keys:
        return "deepseek" if "inserted_at" in keys else "chatgpt"
    return None


def _read(collector: Collector, content: bytes, pattern: TextPattern | None) -> str:
    is_json = not pattern and BRACKETS.match(content, 0, PEEKED_BYTES)
    form = (find_form(content[:PEEKED_BYTES]) or find_form(content)) if is_json else "text"
    if form == "text":
        plain_text.read_text(collector, content, pattern)
        return form
    if count_values(content) > MAX_VALUES:
        raise PastFormatError("too_large")
    if form == "sillytavern" and not (is_json and b"[" in is_json.group()):
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
