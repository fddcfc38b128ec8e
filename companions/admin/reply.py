"""The admin of replies with their traces, prompts, and proposals to forget."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import Any

from django.contrib import admin
from django.db.models import F
from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.models import ModelCall
from companions.events import describe_failure
from companions.lore.explanation import explain
from companions.models import ForgetProposal, Prompt, Reply
from companions.prompting.usage import ContextUsage, measure_usage
from memory.admin.absence import list_left_out
from memory.emotion import Emotion
from memory.models import Recall
from providers.selection import preferring
from safety.admin import PrivateAdmin, code_column, code_filter, link, moment, state


@dataclass(frozen=True, slots=True)
class Line:
    """One message of a prompt: its role, text and tool calls, and whether the round before had sent it already."""

    role: str
    text: str
    calls: Sequence[Any]
    is_repeated: bool


@dataclass(frozen=True, slots=True)
class Round:
    """One request to the model: the prompt as sent, and the row of the model call; either may be missing."""

    number: int
    prompt: Prompt | None
    call: ModelCall | None
    lines: Sequence[Line]

    @property
    def tools(self) -> str:
        return format_json(self.prompt.tools) if self.prompt else ""

    @property
    def usage(self) -> ContextUsage | None:
        """Return how many tokens of the context each part of the prompt takes, or None without a prompt."""
        if self.prompt is None:
            return None
        with preferring(self.prompt.companion.preference):
            return measure_usage(self.prompt.messages, self.prompt.tools)

    @property
    def repeated(self) -> Sequence[Line]:
        return [line for line in self.lines if line.is_repeated]

    @property
    def new(self) -> Sequence[Line]:
        return [line for line in self.lines if not line.is_repeated]


@dataclass(frozen=True, slots=True)
class Stretch:
    """A phase of a reply: its duration, and its end counted from the request (`until`), both in milliseconds."""

    name: str | Promise
    milliseconds: int
    until: int


def load_rounds(reply: Reply) -> list[Round]:
    """Return the rounds of a reply in order. Messages that the round before had sent already are marked as repeated."""
    prompts = list(reply.prompts.select_related("companion__mind").order_by("round"))
    calls = list(reply.model_calls.filter(purpose=ModelCall.Purpose.ANSWER).order_by("started_at", "pk"))
    earlier: Sequence[Any] = ()
    gathered = []
    for number, (prompt, call) in enumerate(zip_longest(prompts, calls), start=1):
        sent = prompt.messages if prompt else ()
        gathered.append(Round(number, prompt, call, mark_lines(sent, earlier)))
        earlier = sent
    return gathered


def mark_lines(sent: Sequence[Any], earlier: Sequence[Any] = ()) -> list[Line]:
    """Return the messages of a prompt as lines; those of the beginning that it shares with `earlier` are repeated."""
    same = 0
    while same < min(len(sent), len(earlier)) and sent[same] == earlier[same]:
        same += 1
    return [
        Line(
            message.get("role", ""),
            _read_text(message.get("content")),
            message.get("tool_calls") or (),
            number < same,
        )
        for number, message in enumerate(sent)
    ]


def _read_text(content: Any) -> str:
    if content is None:
        return ""
    return content if isinstance(content, str) else format_json(content)


def format_json(value: Any) -> str:
    """Return a value as indented JSON, not ASCII-escaped. A string is parsed first, and stays as it is if not JSON."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return str(value)
    return json.dumps(value, ensure_ascii=False, indent=2)


def measure_stretches(reply: Reply) -> list[Stretch]:
    """Return the phases that the reply went through: waiting, the time to the first piece, and answering."""
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


def divide_first_wait(reply: Reply, rounds: Sequence[Round]) -> dict[str, int] | None:
    """Return how many milliseconds `model`, `tools` and `kith` itself took until the first piece, if there is one."""
    if reply.first_piece_at is None or reply.started_at is None:
        return None
    model = tools = 0
    for call in filter(None, (round.call for round in rounds)):
        model += call.first_piece_milliseconds or call.milliseconds or 0
        if call.first_piece_milliseconds is not None:
            break
        tools = sum(call.get("milliseconds") or 0 for call in reply.tool_calls)
    whole = round((reply.first_piece_at - reply.started_at).total_seconds() * 1000)
    return {"model": model, "tools": tools, "kith": max(whole - model - tools, 0)}


def format_call(call: dict[str, Any]) -> dict[str, Any]:
    """Return a tool call for display, with its arguments and result as indented JSON."""
    result = call.get("result")
    return {
        "name": call.get("name"),
        "arguments": format_json(call.get("arguments")),
        "result": format_json(result),
        "milliseconds": call.get("milliseconds"),
        "is_error": isinstance(result, dict) and "error" in result,
    }


def count_tokens(calls: Sequence[ModelCall | None]) -> dict[str, int]:
    """Return the tokens sent, cached and received in all `calls` together."""
    made = [call for call in calls if call]
    return {
        "sent": sum(call.prompt_tokens for call in made),
        "cached": sum(call.cached_tokens for call in made),
        "received": sum(call.completion_tokens for call in made),
    }


CODE = code_column("code", _("error"))
COLOURS = {
    Reply.State.DONE: "success",
    Reply.State.FAILED: "danger",
    Reply.State.INTERRUPTED: "warning",
    Reply.State.STOPPED: "info",
}


@admin.register(Reply)
class ReplyAdmin(PrivateAdmin):
    """A reply with its whole trace: what was sent, recalled, called, thought and answered, and how long each took."""

    named_by = "created_at"
    annotations = {
        "wait": F("first_piece_at") - F("created_at"),
        "span": F("ended_at") - F("created_at"),
    }
    list_display = (
        moment("created_at", _("requested")),
        *("owner", "of_companion", "shown_state", CODE),
        *("first_piece", "took"),
    )
    list_filter = ("state", ("code", code_filter()), "created_at", "template", "model", "is_stand_in")
    search_ids = ("pk", "companion", "message", "answer")
    fields = (
        *("id", "owner", "of_companion", "state", CODE, "of_continued", "template", "model"),
        *("is_stand_in", "is_in_call", "last_frame", "lease_by", "lease_at", "is_stop_asked"),
    )
    private_template = "admin/companions/reply.html"

    shown_state = state(COLOURS)
    of_continued = link("continues", _("continues from"))

    @admin.display(description=_("last frame saved"))
    def last_frame(self, reply: Reply) -> int:
        return reply.seq

    @admin.display(description=_("first piece (ms)"), ordering="wait")
    def first_piece(self, reply: Any) -> int | None:
        return round(reply.wait.total_seconds() * 1000) if reply.wait else None

    @admin.display(description=_("duration (ms)"), ordering="span")
    def took(self, reply: Any) -> int | None:
        return round(reply.span.total_seconds() * 1000) if reply.span else None

    def private(self, request: HttpRequest, thing: Reply) -> dict[str, Any]:
        rounds = load_rounds(thing)
        recalls = (
            thing.recalls.order_by("at")
            .select_related("companion", "reply")
            .prefetch_related("found__memory")
        )
        return {
            "reply": thing,
            "rounds": rounds,
            "recalls": recalls,
            "absences": list_left_out([recall for recall in recalls if recall.by == Recall.By.TURN]),
            "lore": explain(thing.lore),
            "tools_used": [format_call(call) for call in thing.tool_calls],
            "stretches": measure_stretches(thing),
            "first_wait": divide_first_wait(thing, rounds),
            "felt": [(Emotion(emotion["emotion"]).label, emotion) for emotion in thing.emotions],
            "tokens": count_tokens([round.call for round in rounds]),
            "told": describe_failure(thing.code) if thing.code else "",
        }


@admin.register(ForgetProposal)
class ForgetProposalAdmin(PrivateAdmin):
    """A companion's proposal to forget something, as its user asked, and what the user decided."""

    named_by = "made_at"
    list_display = (moment("made_at", _("created")), "owner", "of_companion", "state")
    list_filter = ("state", "made_at")
    fields = ("id", "owner", "of_companion", "of_reply", "state", "made_at", "ended_at")

    of_reply = link("reply", _("reply"))


@admin.register(Prompt)
class PromptAdmin(PrivateAdmin):
    """A prompt exactly as it was sent to the model."""

    named_by = "created_at"
    annotations = {"shown_count": F("shown__len")}
    list_display = (
        moment("created_at", _("sent")),
        "owner",
        "of_companion",
        "of_reply",
        "round",
        "shown_count",
    )
    list_filter = ("round", "created_at")
    search_ids = ("pk", "companion", "reply")
    ordering = ("-created_at",)
    fields = ("id", "owner", "of_companion", "of_reply", "round", "shown_count", "created_at")
    private_template = "admin/companions/prompt.html"

    of_reply = link("reply", _("reply"))

    @admin.display(description=_("items shown"), ordering="shown_count")
    def shown_count(self, prompt: Any) -> int:
        return prompt.shown_count or 0

    def private(self, request: HttpRequest, thing: Prompt) -> dict[str, Any]:
        return {"lines": mark_lines(thing.messages), "tools": format_json(thing.tools), "wrote": thing.wrote}
