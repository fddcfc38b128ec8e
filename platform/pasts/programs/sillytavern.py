"""SillyTavern's chats: JSONL with a header line, then one line per message, which contains its swipes.

Older group chats have no header. Swipes are alternatives; `mes` is the text of the chosen one.
"""

from collections.abc import Iterable
from typing import Any

from pasts.collector import Collector
from pasts.json_scan import as_list, as_mapping, as_text, build
from pasts.past import MAX_MESSAGES, PastFormatError
from pasts.times import read_time

HEADER = {"user_name", "character_name", "chat_metadata", "is_group_chat_header"}
UNUSED = "unused"  # what newer versions write instead of the names
FILES = ("image", "image_swipes", "inline_image", "media", "file", "files", "video", "audio")
# Kinds of SillyTavern's own messages, and of a person's narration and notes.
SYSTEM_KINDS = {
    "assistant_note",
    "comment",
    "empty",
    "formatting",
    "generic",
    "help",
    "hotkeys",
    "macros",
    "narrator",
    "slash_commands",
    "welcome",
    "welcome_prompt",
}
SYSTEM_NAME = "SillyTavern System"
# Marks a message that shows a tool call, whose `mes` is the call's whole record.
TOOLS = "tool_invocations"
MAX_BROKEN_LINES = 100_000  # skipped before the file is refused


def is_chat_line(keys: Iterable[str]) -> bool:
    """Return whether an object with these keys is a line of a SillyTavern chat."""
    found = set(keys)
    return bool(HEADER & found and "spec" not in found) or (
        "mes" in found and bool(found & {"name", "is_user", "send_date"})
    )


def read_lines(collector: Collector, content: bytes) -> None:
    """Read a JSONL file, without lines that are not JSON, e.g. the last one of a cut file. Raise PastFormatError."""
    if content.count(b"\n") > 2 * MAX_MESSAGES:
        raise PastFormatError("too_many_messages")
    read_chat(collector, _parse_lines(collector, content))


def _parse_lines(collector: Collector, content: bytes) -> Iterable[dict[str, Any]]:
    start = broken = 0
    while start < len(content):
        end = content.find(b"\n", start)
        end = len(content) if end < 0 else end
        line, start = content[start:end].strip(), end + 1
        if not line:
            continue
        try:
            fields = build(line)
        except PastFormatError as error:
            if error.code != "broken_json":
                raise
            broken += 1
            if broken > MAX_BROKEN_LINES:
                raise
            fields = None
        if isinstance(fields, dict):
            yield fields
        else:
            collector.remarks.add("lines_left_out")


def read_chat(collector: Collector, lines: Iterable[dict[str, Any]]) -> None:
    """Read the lines of one chat, or of several one after the other. Raise PastFormatError."""
    chat = _Chat(collector)
    for fields in lines:
        if "mes" in fields:
            chat.add(fields)
        elif HEADER & fields.keys():
            if chat.is_begun:
                chat.end()
                chat = _Chat(collector)
            chat.begin(fields)
    chat.end()


class _Chat:
    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._character = ""
        self._id: object = ""
        self._leaf: str | None = None
        self._number = 0
        self.is_begun = False

    def begin(self, header: dict[str, Any]) -> None:
        self.is_begun = True
        name = as_text(header.get("character_name"))
        self._character = "" if name == UNUSED else name
        self._id = as_mapping(header.get("chat_metadata")).get("integrity", "")

    def add(self, fields: dict[str, Any]) -> None:
        self.is_begun = True
        number, self._number = self._number, self._number + 1
        extra = as_mapping(fields.get("extra"))
        if self._is_left_out(fields, extra):
            return
        is_person = bool(fields.get("is_user"))
        name = as_text(fields.get("name"))
        if not is_person and not self._character:
            self._character = name
        if extra.get("reasoning"):
            self._collector.remarks.add("reasoning_left_out")
        if any(extra.get(key) for key in FILES):
            self._collector.remarks.add("files_left_out")
        chosen, texts = _find_swipes(fields)
        self._collector.count_items(len(texts))
        parent = self._leaf
        for swipe in sorted(range(len(texts)), key=lambda at: at != chosen):  # the chosen one comes first
            text = texts[swipe]
            if text.strip():
                given = self._collector.add(
                    f"{number}.{swipe}",
                    parent=parent,
                    speaker=name,
                    is_person=is_person,
                    text=text,
                    at=read_time(_find_date(fields, swipe, chosen)),
                )
                if swipe == chosen and given:
                    self._leaf = given

    def _is_left_out(self, fields: dict[str, Any], extra: dict[str, Any]) -> bool:
        """Return whether the message is a tool's, SillyTavern's own or narration; others, even if hidden, are kept."""
        if extra.get(TOOLS):
            self._collector.remarks.add("tools_left_out")
            return True
        if as_text(extra.get("type")) in SYSTEM_KINDS or fields.get("name") == SYSTEM_NAME:
            self._collector.remarks.add("system_left_out")
            return True
        return False

    def end(self) -> None:
        self._collector.end(title=self._character, id=self._id, leaf=self._leaf)


def _find_swipes(fields: dict[str, Any]) -> tuple[int, list[str]]:
    """Return the index of the message's chosen text, and all its texts."""
    text = as_text(fields.get("mes"))
    texts = [as_text(swipe) for swipe in as_list(fields.get("swipes"))]
    number = fields.get("swipe_id")
    if not texts:
        return 0, [text]
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(texts):
        number = texts.index(text) if text in texts else len(texts)
    if number == len(texts):
        texts.append(text)
    elif text.strip():
        texts[number] = text  # the edited text
    return number, texts


def _find_date(fields: dict[str, Any], swipe: int, chosen: int) -> object:
    known = as_list(fields.get("swipe_info"))
    date = as_mapping(known[swipe]).get("send_date") if swipe < len(known) and swipe != chosen else None
    return date or fields.get("send_date")
