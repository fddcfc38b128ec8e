"""What the rehearsal model says in a talk and in a waking: only from what it was given, the same for the same."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from providers.chat.events import ToolCall
from providers.rehearsal import timers
from providers.rehearsal.prompt import (
    CONTEXT,
    WAKING,
    Line,
    Messages,
    Talk,
    read_last_asked,
    read_lines,
    read_talk,
    read_text,
    unquote,
)
from providers.rehearsal.words import (
    ASK,
    GREETING,
    HAN,
    QUESTION,
    count_terms,
    find_emotion,
    rank_by_likeness,
)

KEEP = re.compile(
    r"(?i)(?:^|[.!?,;]\s*|\band |\bplease |\bplease, |\b(?:can|could|will) you (?:please )?)"
    r"remember (?:that|this:?)\s+(?P<en>[^?]+?)[.!?]*$"
    r"|(?:^|[,,。!!;;]\s*|请|請|帮我|幫我|要)(?:记得|记住|記得|記住)(?!吗|嗎|的)[,,::\s]*(?P<cn>[^??吗]+?)[。!!]*$"
)
GO_ON = re.compile(r"(?i)^\W*(?:please )?(?:go on|continue|carry on)\b|^\W*(?:请)?(?:继续|接着)")
WHO = re.compile(r"(?i)what(?:'s| is) your name|who are you|你叫什么|你是谁|你的名字")
RECALLED_LINE = re.compile(r"^- (?:\[[^\]]*\] )?(?:[^\"\n]*: )?(?P<text>\".*\")$", re.MULTILINE)
SECOND_SHARE = 0.7  # a second line is told too where it is nearly as like the question as the first
MAX_ECHOED, MAX_ECHO_CHARACTERS = 2, 120  # an echo of echoes has no end
WAKING_FIELD = r"^{}: (.+)$"
REMINDER_START = re.compile(r"(?i)^(?:please )?(?:to|that|about)\s+")
SPOKE_TODAY = re.compile(r"^They last wrote: (?:just now|\d+ (?:minutes?|hours?) ago)\.$", re.MULTILINE)
MARKS = ".!?。！？…"


def answer(messages: Messages, tools: Sequence[Mapping[str, Any]]) -> tuple[str, list[ToolCall]]:
    """Return what is said, and which tools are called: one of the two is empty, in a waking it may be both."""
    talk = read_talk(messages)
    offered = {(tool.get("function") or {}).get("name") for tool in tools}
    if waking := WAKING.search(read_last_asked(messages)):
        return _act_in_waking(waking[1], offered, has_acted=bool(talk.results))
    call = None if talk.results else _choose_call(talk, offered, len(messages))
    return ("", [call]) if call else (_continue(messages, talk) or _say(talk), [])


def show_emotion(text: str, messages: Messages) -> str:
    """Return the tag that fits what is said; nothing where no rule asks for one, or nothing is said."""
    rules = (read_text(message.get("content")) for message in messages if message.get("role") == "system")
    if not text.strip() or not any("<emotion " in rule for rule in rules):
        return ""
    emotion, intensity = find_emotion(read_talk(messages).question)
    if emotion == "neutral" and text.rstrip().endswith(("?", "？")):
        emotion, intensity = "curious", 0.4
    return f"<emotion {emotion} {intensity:g}>"


def echo(messages: Messages) -> str:
    """Return the first of what the last message gives to remember, word for word: a bad habit that tests script."""
    context = "".join(CONTEXT.findall(read_last_asked(messages)))
    texts = (unquote(line["text"]) for line in RECALLED_LINE.finditer(context))
    given = [text for text in texts if len(text) <= MAX_ECHO_CHARACTERS][:MAX_ECHOED]
    return " ".join(f"I remember that you told me: “{text}”." for text in given)


def _continue(messages: Messages, talk: Talk) -> str:
    """Return what is left of an answer that was cut off, where that is what is asked for."""
    if len(messages) < 3 or messages[-2].get("role") != "assistant" or not GO_ON.search(talk.question):
        return ""
    begun, whole = read_text(messages[-2].get("content")), _say(read_talk(messages[:-2]))
    return whole.removeprefix(begun) if whole.startswith(begun) else ""


def _choose_call(talk: Talk, offered: set[str | None], place: int) -> ToolCall | None:
    keep = KEEP.search(talk.question)
    wanted = timers.find_call(talk.question, talk.now)
    if (not wanted or wanted[0] not in offered) and keep and "remember" in offered:
        wanted = "remember", {"text": (keep["en"] or keep["cn"]).strip()}
    elif (not wanted or wanted[0] not in offered) and not talk.remembered and ASK.search(talk.question):
        wanted = "recall", {"cue": talk.question, "count": 5}
    if not wanted or wanted[0] not in offered:
        return None
    name, arguments = wanted
    return ToolCall(f"call_{name}_{place}", name, json.dumps(arguments, ensure_ascii=False))


def _say(talk: Talk) -> str:
    if talk.results:
        return _say_after_tool(talk)
    if not talk.question:
        return "I am here. What is on your mind?"
    if talk.name and WHO.search(talk.question):
        return f"我是{talk.name}。" if talk.is_chinese else f"I am {talk.name}."
    if told := _tell(talk, [*talk.remembered, *talk.pinned]) or _tell_from_history(talk):
        return told
    if GREETING.search(talk.question):
        since = f" We last spoke {talk.last_spoke}." if talk.last_spoke else ""
        return "你好!今天过得怎么样?" if talk.is_chinese else f"Hello!{since} How has your day been?"
    if talk.remembered and ASK.search(talk.question):
        return _tell_line(talk, talk.remembered[0])
    if talk.is_chinese:
        return f"你说“{talk.question[:60]}”,我在听。再多说一点好吗?"
    longest = max(count_terms(talk.question), key=len, default="")
    words = (word.strip(".,!?;:") for word in talk.question.split() if longest and longest in word.lower())
    word = next(words, "")
    return f"I am listening. Tell me more about “{word}”." if word else "I am listening. Go on?"


def _say_after_tool(talk: Talk) -> str:
    name, arguments, result = talk.results[-1]
    if name == "remember":
        text = timers.read_object(arguments).get("text", arguments)
        return f"好,我记住了:“{text}”。" if talk.is_chinese else f"I will remember that: “{text}”"
    if said := timers.describe(name, arguments, result, talk.now, chinese=talk.is_chinese):
        return said
    found = read_lines(result) or _read_listed(result)
    if found:
        return _tell(talk, found) or _tell_line(talk, found[0])
    if name == "recall":
        nothing = "I looked, and found nothing. Will you tell me?"
        return "我想了想,没有找到。你愿意告诉我吗?" if talk.is_chinese else nothing
    return f"结果是:{result}" if talk.is_chinese else f"This is what came back: {result}"


def _read_listed(result: str) -> list[Line]:
    """Return the lines in a JSON result: a list of texts or of objects with a text, or an object that holds one."""
    try:
        found = json.loads(result)
    except ValueError:
        return []
    if isinstance(found, dict):
        found = next((value for value in found.values() if isinstance(value, list)), [])
    lines = []
    for entry in found if isinstance(found, list) else []:
        if isinstance(entry, str):
            lines += read_lines(f"- {entry}") or [Line(unquote(entry))]
        elif isinstance(entry, dict) and "text" in entry:
            on = str(entry.get("happened_at") or entry.get("on") or "")[:10]
            lines.append(Line(str(entry["text"]), str(entry.get("who") or entry.get("author") or ""), on))
    return lines


def _tell(talk: Talk, lines: Sequence[Line]) -> str:
    """Return the lines that are most like the question; empty where none is."""
    ranked = rank_by_likeness(talk.question, ((line.text, line) for line in lines))
    best = [line for score, line in ranked[:2] if score >= SECOND_SHARE * ranked[0][0]]
    return ("" if talk.is_chinese else " ").join(_tell_line(talk, line) for line in best)


def _tell_line(talk: Talk, line: Line) -> str:
    try:
        day: date | None = date.fromisoformat(line.on)
    except ValueError:
        day = None
    year = f"{day.year}" if day and talk.now and talk.now.year != day.year else ""
    if talk.is_chinese:
        on = f"{year and f'{year}年'}{day.month}月{day.day}日" if day else ""
        return f"我记得,{on}{'我对你说过' if line.is_own else '你告诉过我'}:“{line.text}”。"
    on = f" on {day.day} {day:%B}{year and f' {year}'}" if day else ""
    return f"I remember that {'I told you' if line.is_own else 'you told me'}{on}: “{line.text}”"


def _tell_from_history(talk: Talk) -> str:
    if not ASK.search(talk.question) and not QUESTION.search(talk.question):
        return ""
    ranked = rank_by_likeness(talk.question, ((line.text, line) for line in talk.history if not line.is_own))
    if not ranked:
        return ""
    text = ranked[0][1].text
    return f"你刚才说过:“{text}”。" if talk.is_chinese else f"You said so a while ago: “{text}”"


def _act_in_waking(block: str, offered: set[str | None], *, has_acted: bool) -> tuple[str, list[ToolCall]]:
    """Say what one was asked to say, write of the evening, or be silent."""
    note = unquote(_find_field("What for", block)).strip()
    is_chinese = bool(HAN.search(note))
    if note and _find_field("They asked you for this", block) == "yes":
        if is_chinese:
            return f"你让我提醒你：{note.rstrip(MARKS)}。", []
        words = REMINDER_START.sub("", note)
        return f"You asked me to remind you: {words}{'' if words[-1:] in MARKS else '.'}", []
    if has_acted:
        return "", []
    calls = {}
    if _find_field("You woke by", block).startswith("the evening timer"):
        day, has_spoken = _find_field("Now", block).rpartition(",")[0], bool(SPOKE_TODAY.search(block))
        if is_chinese:
            told = "今天我们说过话。" if has_spoken else "今天我们没有说上话。"
            calls["write_diary"] = {"title": f"晚上 {day}", "text": f"这一天要过去了。\n{told}"}
        else:
            told = "We talked today." if has_spoken else "We did not talk today."
            text = f"The day is coming to its end.\n{told}"
            calls["write_diary"] = {"title": f"The evening of {day}", "text": text}
    calls["stay_silent"] = {
        "why": "我没有要紧的话要说。" if is_chinese else "There is nothing that cannot wait."
    }
    return "", [
        ToolCall(f"call_{name}", name, json.dumps(arguments, ensure_ascii=False))
        for name, arguments in calls.items()
        if name in offered
    ]


def _find_field(name: str, block: str) -> str:
    found = re.search(WAKING_FIELD.format(name), block, re.MULTILINE)
    return found[1].strip() if found else ""
