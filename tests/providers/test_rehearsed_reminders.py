"""The rehearsal model sets a timer where it is plainly asked to, and says when."""

import json
from typing import Any

import pytest

from providers.rehearsal.talk import answer

CONTEXT = "\n\n<kith-context>\nNow: Friday 20 November 2026, 21:49 (Europe/Berlin)\n</kith-context>"
TOOLS = [{"type": "function", "function": {"name": name}} for name in ("set_timer", "list_timers")]


def asked(question: str, tools: list[Any] | None = None) -> tuple[str, dict[str, Any]] | None:
    """The tool that it calls, with its arguments."""
    _said, calls = answer(
        [{"role": "user", "content": question + CONTEXT}], TOOLS if tools is None else tools
    )
    return (calls[0].name, json.loads(calls[0].arguments)) if calls else None


def said_after(question: str, result: dict[str, Any]) -> str:
    """What it says when the tool that it called has given that."""
    prompt: list[dict[str, Any]] = [{"role": "user", "content": question + CONTEXT}]
    _said, [call] = answer(prompt, TOOLS)
    function = {"name": call.name, "arguments": call.arguments}
    prompt.append({"role": "assistant", "tool_calls": [{"id": call.id, "function": function}]})
    prompt.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)})
    said, calls = answer(prompt, TOOLS)
    assert calls == []
    return said


@pytest.mark.parametrize(
    ("question", "schedule", "note"),
    [
        ("remind me in 30s to drink water", "30s", "to drink water"),
        ("Please remind me in 5 minutes to stretch.", "5min", "to stretch"),
        ("Remind me to call mum in an hour!", "1h", "to call mum"),
        ("30秒后提醒我喝水", "30s", "喝水"),
        ("记得5分钟后提醒我站起来。", "5min", "站起来"),
        ("提醒我在2小时后关火", "2h", "关火"),
    ],
)
def test_a_plain_wish_sets_a_timer(question: str, schedule: str, note: str) -> None:
    assert asked(question) == ("set_timer", {"schedule": schedule, "text": note})


@pytest.mark.parametrize(
    "question",
    ["You remind me of her.", "Did you remind me in 5 minutes?", "提醒我"],
)
def test_what_is_no_plain_wish_sets_none(question: str) -> None:
    assert asked(question) is None


@pytest.mark.parametrize("question", ["What timers do I have?", "list my reminders", "我有哪些提醒?"])
def test_a_question_after_timers_lists_them(question: str) -> None:
    assert asked(question) == ("list_timers", {})


def test_nothing_is_called_that_is_not_offered() -> None:
    assert asked("remind me in 30s to drink water", []) is None


@pytest.mark.parametrize(
    ("question", "given", "said"),
    [
        (
            "remind me in 30s to drink water",
            {"next": "2026-11-20 21:49:30"},
            "I will remind you at 2026-11-20 21:49:30 to drink water.",
        ),
        ("30秒后提醒我喝水", {"next": "2026-11-20 21:49:30"}, "好，我会在2026-11-20 21:49:30提醒你喝水。"),
        (
            "remind me in 0s to drink water",
            {"error": "At least one second."},
            "I could not set this timer: At least one second.",
        ),
        ("what timers do I have?", {"timers": [], "more": 0}, "There are no timers."),
        (
            "what timers do I have?",
            {"timers": [{"text": "to swim", "next": "2026-11-21 09:00:00"}]},
            "These timers are set:\n- to swim (2026-11-21 09:00:00)",
        ),
    ],
)
def test_it_says_what_the_tool_gave(question: str, given: dict[str, Any], said: str) -> None:
    assert said_after(question, given) == said
