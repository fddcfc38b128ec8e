"""What the rehearsal model says in talks and wakings: only what the request tells, and deterministically."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from providers.chat.events import Messages, ToolCall
from providers.rehearsal.prompt import (
    BLOCK,
    Line,
    Talk,
    read_day,
    read_last_asked,
    read_lines,
    read_object,
    read_text,
    unquote,
)
from providers.rehearsal.words import (
    ASK,
    GREETING,
    MARKS,
    QUESTION,
    find_emotion,
    is_chinese,
    rank_by_likeness,
)

REMEMBER = re.compile(
    r"(?i)(?:^|[.!?,;]\s*|\band |\bplease |\bplease, |\b(?:can|could|will) you (?:please )?)"
    r"remember (?:that|this:?)\s+(?P<en>[^?]+?)[.!?]*$"
    r"|(?:^|[,，。!！;；]\s*|请|請|帮我|幫我|要)(?:记得|记住|記得|記住)(?!吗|嗎|的)[,，:：\s]*(?P<cn>[^?？吗]+?)[。!！]*$"
)
REMIND = re.compile(r"(?i)(?<!did you )(?<!do you )\bremind me\b|提醒我")
REMIND_IN = re.compile(
    r"(?i)\bin (?P<en>\d{1,9}|an?) ?(?P<unit>s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)\b"
    r"|在?(?P<cn>\d{1,9}) ?(?P<mass>秒钟?|分钟?|个?小时|天)(?:之后|以后|后)"
)
UNITS = {"s": "s", "秒": "s", "m": "min", "分": "min", "h": "h", "小": "h", "个": "h", "d": "d", "天": "d"}
LIST_TIMERS = re.compile(
    r"(?i)\b(?:what|which|list|show)\b[^.?!]{0,20}\b(?:timers|reminders)\b|(?:哪些|什么)(?:定时器|提醒)"
)
REMINDER_START = re.compile(r"(?i)^(?:please )?(?:to|that|about)\s+")
GO_ON = re.compile(r"(?i)^\W*(?:please )?(?:go on|continue|carry on)\b|^\W*(?:请)?(?:继续|接着)")
WHO = re.compile(r"(?i)what(?:'s| is) your name|who are you|你叫什么|你是谁|你的名字")
SPOKE_TODAY = re.compile(r"^They last wrote: (?:just now|\d+ (?:minutes?|hours?) ago)\.$", re.MULTILINE)
SECOND_SHARE = 0.7  # a second line is told too if it scores at least this share of the first one's score


def answer(messages: Messages, tools: Messages) -> tuple[str, list[ToolCall]]:
    """Return the text of the answer and its tool calls; at least one of the two is empty."""
    talk = Talk(messages)
    offered = {(tool.get("function") or {}).get("name") for tool in tools}
    for block in BLOCK.finditer(read_last_asked(messages)):
        if block["name"] == "waking":
            return _act_in_waking(block["text"], offered, has_acted=bool(talk.results))
    has_acted = any(name != "more_tools" for name, _arguments, _result in talk.results)
    for name, arguments in () if has_acted else _choose_tools(talk):
        if name in offered:
            return "", [_write_call(name, arguments, f"_{len(messages)}")]
    return _continue(messages, talk) or _say(talk), []


def show_emotion(text: str, messages: Messages) -> str:
    """Return the emotion tag for the answer, or an empty string if the prompt asks for none or the answer is empty."""
    talk = Talk(messages)
    if not text.strip() or not talk.shows_emotion:
        return ""
    emotion, intensity = find_emotion(talk.question)
    if emotion == "neutral" and text.rstrip().endswith(("?", "？")):
        emotion, intensity = "curious", 0.4
    return f"<emotion {emotion} {intensity:g}>"


def _choose_tools(talk: Talk) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the tools that a question plainly asks for, with their arguments."""
    if LIST_TIMERS.search(talk.question):
        yield "list_timers", {}
        if not talk.results:
            yield "more_tools", {"group": "timers"}
    remind, when = REMIND.search(talk.question), REMIND_IN.search(talk.question)
    if remind and when:
        amount, unit = when["en"] or when["cn"], UNITS[(when["unit"] or when["mass"])[0].lower()]
        schedule = f"{int(amount) if amount.isdigit() else 1}{unit}"
        rest = talk.question[: when.start()] + talk.question[when.end() :]
        note = " ".join(rest.partition(remind[0])[2].split()).strip(MARKS)
        yield "set_timer", {"schedule": schedule, "text": note or talk.question}
    if keep := REMEMBER.search(talk.question):
        yield "remember", {"text": (keep["en"] or keep["cn"]).strip()}
    elif not talk.remembered and ASK.search(talk.question):
        yield "recall", {"words": talk.question, "count": 5}


def _write_call(name: str, arguments: dict[str, Any], suffix: str = "") -> ToolCall:
    return ToolCall(f"call_{name}{suffix}", name, json.dumps(arguments, ensure_ascii=False))


def _continue(messages: Messages, talk: Talk) -> str:
    """Return the rest of an answer that was cut off if the user asks to go on, or an empty string otherwise."""
    if len(messages) < 3 or messages[-2].get("role") != "assistant" or not GO_ON.search(talk.question):
        return ""
    begun, whole = read_text(messages[-2].get("content")), _say(Talk(messages[:-2]))
    return whole.removeprefix(begun) if whole.startswith(begun) else ""


def _say(talk: Talk) -> str:
    if talk.results:
        return _say_after_tool(talk)
    if not talk.question:
        return "I am here. What is on your mind?"
    if talk.name and WHO.search(talk.question):
        return f"我是{talk.name}。" if talk.is_chinese else f"I am {talk.name}."
    is_question = bool(ASK.search(talk.question) or QUESTION.search(talk.question))
    lines = [*talk.remembered, *talk.pinned, *(talk.told if is_question else ())]
    if told := _tell_likest(talk, lines):
        return told
    if GREETING.search(talk.question):
        return "你好！今天过得怎么样？" if talk.is_chinese else "Hello! How has your day been?"
    if talk.remembered and ASK.search(talk.question):
        return _tell(talk, talk.remembered[0])
    if talk.is_chinese:
        return f"你说“{talk.question[:60]}”，我在听。再多说一点好吗？"
    word = max((word.strip(MARKS) for word in talk.question.split()), key=len, default="")
    return f"I am listening. Tell me more about “{word}”." if word else "I am listening. Go on?"


def _say_after_tool(talk: Talk) -> str:
    name, arguments, result = talk.results[-1]
    given = read_object(result)
    if name == "set_timer":
        note, when = arguments.get("text", ""), given.get("next", "")
        if "error" in given:
            start = "我设不了这个定时器：" if talk.is_chinese else "I could not set this timer: "
            return f"{start}{given['error']}"
        return (
            f"好，我会在{when}提醒你{note}。" if talk.is_chinese else f"I will remind you at {when} {note}."
        )
    if name == "list_timers":
        start = "这些定时器都设好了：" if talk.is_chinese else "These timers are set:"
        lines = [f"- {timer['text']} ({timer.get('next', '')})" for timer in given.get("timers", [])]
        return "\n".join([start, *lines]) if lines else "There are no timers."
    if name == "remember":
        text = arguments.get("text", "")
        return f"好，我记住了：“{text}”。" if talk.is_chinese else f"I will remember that: “{text}”"
    found = [Line(entry["text"], on=entry.get("when", "")) for entry in given.get("remembered", [])]
    if found := found or read_lines(result):
        return _tell_likest(talk, found) or _tell(talk, found[0])
    if name == "recall":
        nothing = "I looked, and found nothing. Will you tell me?"
        return "我想了想，没有找到。你愿意告诉我吗？" if talk.is_chinese else nothing
    return f"结果是：{result}" if talk.is_chinese else f"This is what came back: {result}"


def _tell_likest(talk: Talk, lines: Sequence[Line]) -> str:
    """Return an answer that tells the one or two lines most like the question; empty if none is like it."""
    by_text = {line.text: line for line in reversed(lines)}
    ranked = rank_by_likeness(talk.question, by_text.items())
    best = [line for score, line in ranked[:2] if score >= SECOND_SHARE * ranked[0][0]]
    return ("" if talk.is_chinese else " ").join(_tell(talk, line) for line in best)


def _tell(talk: Talk, line: Line) -> str:
    day = read_day(line.on, talk.year)
    if talk.is_chinese:
        on = f"{day.year}年{day.month}月{day.day}日" if day else ""
        return f"我记得，{on}{'我对你说过' if line.is_own else '你告诉过我'}：“{line.text}”。"
    on = f" on {day.day} {day:%B %Y}" if day else ""
    return f"I remember that {'I told you' if line.is_own else 'you told me'}{on}: “{line.text}”"


def _act_in_waking(block: str, offered: set[str | None], *, has_acted: bool) -> tuple[str, list[ToolCall]]:
    """Return a reminder that the user asked for, a call that writes the evening's diary, or the choice of silence."""
    fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
    note = unquote(fields.get("What for", "")).strip()
    chinese = is_chinese(note)
    if note and fields.get("They asked you for this") == "yes":
        if chinese:
            return f"你让我提醒你：{note.rstrip(MARKS)}。", []
        words = REMINDER_START.sub("", note)
        return f"You asked me to remind you: {words}{'' if words[-1:] in MARKS else '.'}", []
    calls = []
    if fields.get("You woke by", "").startswith("the evening timer") and not has_acted:
        day, has_spoken = fields["Now"].rpartition(",")[0], bool(SPOKE_TODAY.search(block))
        title, told = f"The evening of {day}", f"We {'talked' if has_spoken else 'did not talk'} today."
        end = "The day is coming to its end."
        if chinese:
            title, told = f"晚上 {day}", "今天我们说过话。" if has_spoken else "今天我们没有说上话。"
            end = "这一天要过去了。"
        calls.append(_write_call("write_diary", {"title": title, "text": f"{end}\n{told}"}))
    if calls := [call for call in calls if call.name in offered]:
        return "", calls
    why = "我没有要紧的话要说。" if chinese else "There is nothing that cannot wait."
    return json.dumps({"choice": "silent", "why": why}, ensure_ascii=False), []
