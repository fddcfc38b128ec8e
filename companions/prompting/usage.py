"""How much of the context each part of a prompt takes, measured on the prompt as it is sent."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from companions.models import Companion
from companions.prompting import budgets
from companions.prompting.persona import Persona
from companions.prompting.pinned_context import NOTHING_PINNED
from companions.prompting.turn_prompt import render_system
from providers.selection import get_provider
from providers.tokens import ANSWER_TOKENS, MESSAGE_TOKENS, estimate

BLOCK = re.compile(r"<kith-(?P<name>[a-z-]+)>\n?(?P<text>.*?)\n?</kith-(?P=name)>", re.DOTALL)
CONTEXT = re.compile(r"<kith-(?:context|waking)>")  # the block of the moment, after the person's words
REMEMBERED = re.compile(r"^(?:- \[.*|Remembered:|Just came to mind.*)$", re.MULTILINE)


class Part(models.TextChoices):
    """The parts of a prompt, in their order in it, and the room for the answer."""

    TOOLS = "tools", _("tools")
    RULES = "rules", _("rules")
    PERSONA = "persona", _("persona")
    EXAMPLES = "examples", _("example dialogue")
    PERSON = "person", _("about you")
    PINNED = "pinned", _("always in mind")
    SUMMARY = "summary", _("summary")
    HISTORY = "history", _("the talk so far")
    MESSAGE = "message", _("the newest message")
    MOMENT = "moment", _("the present moment, and instructions")
    MEMORIES = "memories", _("what comes to mind")
    RESULTS = "results", _("what tools returned")
    ANSWER = "answer", _("room for the answer")


BLOCKS = {
    "persona": Part.PERSONA,
    "examples": Part.EXAMPLES,
    "person": Part.PERSON,
    "self-concept": Part.PINNED,
    "user-profile": Part.PINNED,
    "slots": Part.PINNED,
    "blocks": Part.PINNED,
    "summary": Part.SUMMARY,
}
Tokens = dict[Part, int]


def measure_parts(messages: Sequence[Mapping[str, Any]], tools: Sequence[Any]) -> Tokens:
    """Return about how many tokens each part of a prompt with these tools takes, without the room for the answer."""
    counted: Counter[Part] = Counter()
    if tools:
        counted[Part.TOOLS] = estimate(json.dumps(list(tools), ensure_ascii=False))
    counted[Part.RULES] = ANSWER_TOKENS
    asked = max((at for at, message in enumerate(messages) if CONTEXT.search(_get_text(message))), default=-1)
    for at, message in enumerate(messages):
        text = _get_text(message)
        if message.get("role") == "system":
            counted[Part.RULES] += MESSAGE_TOKENS + estimate(BLOCK.sub("", text))
            for block in BLOCK.finditer(text):
                counted[BLOCKS.get(block["name"], Part.PINNED)] += estimate(block[0])
        elif at == asked:
            counted += _measure_asked(text)
        else:
            called = [call["function"] for call in message.get("tool_calls") or ()]
            part = Part.RESULTS if called or message.get("role") == "tool" else Part.HISTORY
            counted[part] += MESSAGE_TOKENS + estimate(text)
            counted[part] += sum(estimate(each["name"]) + estimate(each["arguments"]) for each in called)
    return {part: counted[part] for part in Part if counted[part]}


def _get_text(message: Mapping[str, Any]) -> str:
    return str(message.get("content") or "")


def _measure_asked(text: str) -> Counter[Part]:
    """Count the tokens of the person's last message: their words, the block of the moment, and the memories in it."""
    mark = CONTEXT.search(text)
    begin = mark.start() if mark else len(text)
    said, context = text[:begin], text[begin:]
    remembered = "\n".join(REMEMBERED.findall(context))
    moment = REMEMBERED.sub("", context)
    return Counter(
        {
            Part.MESSAGE: MESSAGE_TOKENS + estimate(said),
            Part.MOMENT: estimate(moment),
            Part.MEMORIES: estimate(remembered),
        }
    )


@dataclass(frozen=True, slots=True)
class ContextUsage:
    """How a prompt fills the context, in tokens (an estimate); what is `left` is for the further talk."""

    parts: Tokens
    size: int

    @property
    def left(self) -> int:
        return max(self.size - sum(self.parts.values()), 0)

    @property
    def rows(self) -> list[tuple[str, str, int, float]]:
        """Each part that takes room: its name in code and in words, its tokens, and its share of the context."""
        return [
            (part.value, str(part.label), tokens, tokens / self.size) for part, tokens in self.parts.items()
        ]


def measure_usage(messages: Sequence[Mapping[str, Any]], tools: Sequence[Any]) -> ContextUsage:
    """Return how a prompt with these tools fills the context, including the room reserved for the answer."""
    provider = get_provider()
    parts = {**measure_parts(messages, tools), Part.ANSWER: provider.answer_tokens}
    return ContextUsage(parts, provider.context_tokens)


def leaves_no_room(companion: Companion, tool_tokens: int) -> bool:
    """Return whether persona, example dialogue and the person's description of themselves leave no room for a talk.

    `tool_tokens` is what the offered tools take.
    """
    always = render_system(Persona(companion=companion), NOTHING_PINNED, tool_tokens=tool_tokens)
    left = budgets.talk_tokens(tool_tokens) - estimate(always)
    return left < budgets.share(budgets.ROOM_FOR_TALK)
