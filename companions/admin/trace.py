"""How a reply came to be, gathered from its rows for an operator's eyes."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import Any

from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.models import ModelCall
from companions.models import Prompt, Reply
from memory.models import Recall


@dataclass(frozen=True, slots=True)
class Line:
    """One message as it was sent: who speaks in it, its text, its tool calls, and whether an earlier round had it."""

    role: str
    text: str
    calls: Sequence[Any]
    is_repeated: bool


@dataclass(frozen=True, slots=True)
class Round:
    """One request to the model: the prompt as sent, and the call's row; either may be gone."""

    number: int
    prompt: Prompt | None
    call: ModelCall | None
    lines: Sequence[Line]

    @property
    def tools(self) -> str:
        return pretty(self.prompt.tools) if self.prompt else ""

    @property
    def repeated(self) -> Sequence[Line]:
        return [line for line in self.lines if line.is_repeated]

    @property
    def new(self) -> Sequence[Line]:
        return [line for line in self.lines if not line.is_repeated]


@dataclass(frozen=True, slots=True)
class Stretch:
    """What happened between two moments of a reply, and how many milliseconds it took."""

    name: str | Promise
    milliseconds: int
    until: int


def rounds(reply: Reply) -> list[Round]:
    """The rounds of a reply in their order, each message marked that the round before had sent already."""
    prompts = list(reply.prompts.order_by("round"))
    calls = list(reply.model_calls.filter(purpose=ModelCall.Purpose.ANSWER).order_by("started_at", "pk"))
    earlier: Sequence[Any] = ()
    gathered = []
    for number, (prompt, call) in enumerate(zip_longest(prompts, calls), start=1):
        sent = prompt.messages if prompt else ()
        gathered.append(Round(number, prompt, call, lines(sent, earlier)))
        earlier = sent
    return gathered


def lines(sent: Sequence[Any], earlier: Sequence[Any] = ()) -> list[Line]:
    """The messages of a prompt; those with which it begins as the earlier prompt did count as repeated."""
    same = 0
    while same < min(len(sent), len(earlier)) and sent[same] == earlier[same]:
        same += 1
    return [
        Line(
            message.get("role", ""),
            _text(message.get("content")),
            message.get("tool_calls") or (),
            number < same,
        )
        for number, message in enumerate(sent)
    ]


def _text(content: Any) -> str:
    if content is None:
        return ""
    return content if isinstance(content, str) else pretty(content)


def pretty(value: Any) -> str:
    """JSON to be read: indented, in its own script; a string that holds JSON is opened first."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return str(value)
    return json.dumps(value, ensure_ascii=False, indent=2)


def stretches(reply: Reply) -> list[Stretch]:
    """Waiting, thinking and answering, as far as the reply came, with the milliseconds since it was asked for."""
    moments = [
        (name, at)
        for name, at in (
            ("", reply.created_at),
            (_("waited"), reply.started_at),
            (_("until the first piece"), reply.first_piece_at),
            (_("answered") if reply.first_piece_at else _("until it ended"), reply.ended_at),
        )
        if at is not None
    ]
    return [
        Stretch(
            name,
            round((at - before).total_seconds() * 1000),
            round((at - reply.created_at).total_seconds() * 1000),
        )
        for (_before, before), (name, at) in pairwise(moments)
    ]


def recalls(reply: Reply) -> QuerySet[Recall]:
    """What was recalled for the reply, each with what it found."""
    return reply.recalls.order_by("at").prefetch_related("found__memory")


def tools_used(reply: Reply) -> list[dict[str, Any]]:
    """The calls of tools, arguments and results made readable."""
    return [
        {
            "name": call.get("name"),
            "arguments": pretty(call.get("arguments")),
            "result": pretty(call.get("result")),
            "milliseconds": call.get("milliseconds"),
            "is_error": isinstance(call.get("result"), dict) and "error" in call["result"],
        }
        for call in reply.tool_calls
    ]


def tokens(calls: Sequence[ModelCall | None]) -> dict[str, int]:
    """What the rounds cost together."""
    made = [call for call in calls if call]
    return {
        "sent": sum(call.prompt_tokens for call in made),
        "cached": sum(call.cached_tokens for call in made),
        "received": sum(call.completion_tokens for call in made),
    }
