"""What the rehearsal model does where a companion wakes: it says what it was asked to say, writes of the evening, or is
silent.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from providers.pieces import ToolCall
from providers.rehearsal.scene import HAN, plain, unquoted

BLOCK = re.compile(r"<kith-waking>(.*?)</kith-waking>", re.DOTALL)
NOTE = re.compile(r"^What for: (.+)$", re.MULTILINE)
BY = re.compile(r"^You woke by: (.+)$", re.MULTILINE)
ASKED_FOR = re.compile(r"^They asked you for this: yes$", re.MULTILINE)
NOW = re.compile(r"^Now: (.+?), \d\d:\d\d", re.MULTILINE)
TODAY = re.compile(r"^They last wrote: (?:just now|\d+ (?:minutes?|hours?) ago)\.$", re.MULTILINE)
TO = re.compile(r"(?i)^(?:please )?(?:to|that|about)\s+")
MARKS = ".!?。！？…"


def block_of(messages: Sequence[Mapping[str, Any]]) -> str:
    """What the last words of the user tell of a waking; nothing where a talk goes on."""
    asked = [plain(one.get("content")) for one in messages if one.get("role") == "user"]
    found = BLOCK.search(asked[-1]) if asked else None
    return found[1] if found else ""


def answer(block: str, offered: set[str | None], *, has_acted: bool) -> tuple[str, list[ToolCall]]:
    """What is said, or which tools are called; both are empty where it has done what it wanted."""
    note = _found(NOTE, block)
    told = unquoted(note).strip()
    if told and ASKED_FOR.search(block):
        return _reminder(told), []
    if has_acted:
        return "", []
    is_evening = _found(BY, block).startswith("the evening timer")
    calls = [_call("write_diary", _page(block, told))] if is_evening and "write_diary" in offered else []
    why = "我没有要紧的话要说。" if HAN.search(told) else "There is nothing that cannot wait."
    if "stay_silent" in offered:
        calls.append(_call("stay_silent", {"why": why}))
    return "", calls


def _reminder(note: str) -> str:
    if HAN.search(note):
        return f"你让我提醒你：{note.rstrip(MARKS)}。"
    words = TO.sub("", note)
    return f"You asked me to remind you: {words}{'' if words[-1:] in MARKS else '.'}"


def _page(block: str, note: str) -> dict[str, str]:
    day, spoke = _found(NOW, block), bool(TODAY.search(block))
    if HAN.search(note):
        told = "今天我们说过话。" if spoke else "今天我们没有说上话。"
        return {"title": f"晚上 {day}", "text": f"这一天要过去了。\n{told}"}
    told = "We talked today." if spoke else "We did not talk today."
    return {"title": f"The evening of {day}", "text": f"The day is coming to its end.\n{told}"}


def _found(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found[1].strip() if found else ""


def _call(name: str, arguments: dict[str, Any]) -> ToolCall:
    return ToolCall(f"call_{name}", name, json.dumps(arguments, ensure_ascii=False))
