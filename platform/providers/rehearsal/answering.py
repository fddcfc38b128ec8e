"""What the rehearsal model says in ordinary use: only from what it was given, the same for the same."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from providers.pieces import ToolCall
from providers.rehearsal import reminding, waking
from providers.rehearsal.likeness import likest, terms
from providers.rehearsal.scene import Line, Scene, lines, plain, read, unquoted

KEEP = re.compile(
    r"(?i)(?:^|[.!?,;]\s*|\band |\bplease |\bplease, |\b(?:can|could|will) you (?:please )?)"
    r"remember (?:that|this:?)\s+(?P<en>[^?]+?)[.!?]*$"
    r"|(?:^|[,,。!!;;]\s*|请|請|帮我|幫我|要)(?:记得|记住|記得|記住)(?!吗|嗎|的)[,,::\s]*(?P<cn>[^??吗]+?)[。!!]*$"
)
ASK = re.compile(
    r"(?i)do you (?:still )?(?:remember|recall|know)|what did i|did i (?:tell|say)|have i told"
    r"|记得|记不记得|記得"
)
GREETING = re.compile(
    r"(?i)^\W*(?:hi|hello|hey|good (?:morning|evening|afternoon))\b[^?]{0,20}$"
    r"|^\W*(?:你好|您好|嗨|早上好|晚上好)"
)
GO_ON = re.compile(r"(?i)^\W*(?:please )?(?:go on|continue|carry on)\b|^\W*(?:请)?(?:继续|接着)")
WHO = re.compile(r"(?i)what(?:'s| is) your name|who are you|你叫什么|你是谁|你的名字")
ENOUGH = 0.7  # a second line is told too where it is nearly as like the question as the first


def answer(
    messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]
) -> tuple[str, list[ToolCall]]:
    """What is said, and which tools are called: one of the two is empty, in a waking it may be both."""
    scene = read(messages)
    offered = {(tool.get("function") or {}).get("name") for tool in tools}
    if block := waking.block_of(messages):
        return waking.answer(block, offered, has_acted=bool(scene.results))
    call = None if scene.results else _call(scene, offered, len(messages))
    return ("", [call]) if call else (_rest(messages, scene) or _say(scene), [])


def _rest(messages: Sequence[Mapping[str, Any]], scene: Scene) -> str:
    """What is left of an answer that was cut off, where that is what is asked for."""
    if len(messages) < 3 or messages[-2].get("role") != "assistant" or not GO_ON.search(scene.question):
        return ""
    begun, whole = plain(messages[-2].get("content")), _say(read(messages[:-2]))
    return whole[len(begun) :] if whole.startswith(begun) else ""


def _call(scene: Scene, offered: set[str | None], place: int) -> ToolCall | None:
    timer = reminding.asked_for(scene.question, scene.now)
    if timer and timer[0] in offered:
        return _tool(*timer, place)
    kept = KEEP.search(scene.question)
    if kept and "remember" in offered:
        return _tool("remember", {"text": (kept["en"] or kept["cn"]).strip()}, place)
    if "recall" in offered and not scene.remembered and ASK.search(scene.question):
        return _tool("recall", {"cue": scene.question, "count": 5}, place)
    return None


def _tool(name: str, arguments: dict[str, Any], place: int) -> ToolCall:
    return ToolCall(f"call_{name}_{place}", name, json.dumps(arguments, ensure_ascii=False))


def _say(scene: Scene) -> str:
    chinese, question = scene.is_chinese, scene.question
    if scene.results:
        return _after_tool(scene)
    if not question:
        return "I am here. What is on your mind?"
    if scene.name and WHO.search(question):
        return f"我是{scene.name}。" if chinese else f"I am {scene.name}."
    told = _told(scene, [*scene.remembered, *scene.known]) or _earlier(scene)
    if told:
        return told
    if GREETING.search(question):
        return _greeting(scene)
    if scene.remembered and ASK.search(question):
        return _told_line(scene, scene.remembered[0])
    return _attentive(scene)


def _after_tool(scene: Scene) -> str:
    name, arguments, result = scene.results[-1]
    if name == "remember":
        text = _argument(arguments, "text")
        return f"好,我记住了:“{text}”。" if scene.is_chinese else f"I will remember that: “{text}”"
    if timers := reminding.told(name, arguments, result, scene.now, chinese=scene.is_chinese):
        return timers
    found = lines(result) or _listed(result)
    told = _told(scene, found) or (_told_line(scene, found[0]) if found else "")
    if told:
        return told
    if name == "recall":
        return (
            "我想了想,没有找到。你愿意告诉我吗?"
            if scene.is_chinese
            else "I looked, and found nothing. Will you tell me?"
        )
    return f"结果是:{result}" if scene.is_chinese else f"This is what came back: {result}"


def _argument(arguments: str, name: str) -> str:
    try:
        return str(json.loads(arguments).get(name, ""))
    except (ValueError, AttributeError):
        return arguments


def _listed(result: str) -> list[Line]:
    """The lines in a JSON result: a list of texts or of objects with a text, or an object that holds one."""
    try:
        found = json.loads(result)
    except ValueError:
        return []
    if isinstance(found, dict):
        found = next((value for value in found.values() if isinstance(value, list)), [])
    texts = found if isinstance(found, list) else []
    return [
        _listed_line(entry)
        for entry in texts
        if isinstance(entry, str) or (isinstance(entry, dict) and "text" in entry)
    ]


def _listed_line(entry: str | dict[str, Any]) -> Line:
    if isinstance(entry, str):
        return next(iter(lines(f"- {entry}")), Line(unquoted(entry)))
    on = str(entry.get("happened_at") or entry.get("on") or "")[:10]
    return Line(str(entry["text"]), str(entry.get("who") or entry.get("author") or ""), on)


def _told(scene: Scene, known: Sequence[Line]) -> str:
    ranked = likest(scene.question, known)
    if not ranked:
        return ""
    best = [line for score, line in ranked[:2] if score >= ENOUGH * ranked[0][0]]
    return (" " if not scene.is_chinese else "").join(_told_line(scene, line) for line in best)


def _told_line(scene: Scene, line: Line) -> str:
    day = _day(scene, line.on)
    if scene.is_chinese:
        who = "我对你说过" if line.is_own else "你告诉过我"
        return f"我记得,{day}{who}:“{line.text}”。"
    who = "I told you" if line.is_own else "you told me"
    return f"I remember that {who}{day}: “{line.text}”"


def _day(scene: Scene, on: str) -> str:
    try:
        day = date.fromisoformat(on)
    except ValueError:
        return ""
    is_this_year = not scene.year or scene.year == str(day.year)
    if scene.is_chinese:
        return f"{'' if is_this_year else f'{day.year}年'}{day.month}月{day.day}日"
    return f" on {day.day} {day:%B}{'' if is_this_year else f' {day.year}'}"


def _earlier(scene: Scene) -> str:
    ranked = likest(scene.question, [line for line in scene.history if not line.is_own])
    if not ranked or not (ASK.search(scene.question) or scene.question.rstrip().endswith(("?", "?"))):
        return ""
    text = ranked[0][1].text
    return f"你刚才说过:“{text}”。" if scene.is_chinese else f"You said so a while ago: “{text}”"


def _greeting(scene: Scene) -> str:
    if scene.is_chinese:
        return "你好!今天过得怎么样?"
    since = f" We last spoke {scene.last_spoke}." if scene.last_spoke else ""
    return f"Hello!{since} How has your day been?"


def _attentive(scene: Scene) -> str:
    if scene.is_chinese:
        return f"你说“{scene.question[:60]}”,我在听。再多说一点好吗?"
    longest = max(terms(scene.question), key=len, default="")
    word = next(
        (word.strip(".,!?;:") for word in scene.question.split() if longest and longest in word.lower()), ""
    )
    return f"I am listening. Tell me more about “{word}”." if word else "I am listening. Go on?"
