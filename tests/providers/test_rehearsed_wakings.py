"""What the rehearsal model does in a waking: it reminds of what was asked for, writes in the evening, else is silent."""

import json
from typing import Any

import pytest

from providers.rehearsal.talk import answer

ALL = ("write_diary", "set_timer")
SILENT = {"choice": "silent", "why": "There is nothing that cannot wait."}


def woken(note: str, *lines: str, by: str = 'a timer, "in 30 seconds"', asked_for: bool = False) -> str:
    told = [
        "Now: Saturday 21 November 2026, 22:55 (Europe/Berlin)",
        f"You woke by: {by}",
        f"They asked you for this: {'yes' if asked_for else 'no'}",
        f"What for: {json.dumps(note, ensure_ascii=False)}",
        *lines,
    ]
    return "\n".join(["<kith-waking>", *told, "</kith-waking>"])


def done(block: str, *tools: str, acted: bool = False) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    """What it says, and which tools it calls with what."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You are Mira."},
        {"role": "user", "content": block},
    ]
    if acted:
        call = {"id": "1", "type": "function", "function": {"name": "think", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": "1", "content": "{}"})
    offered = [{"type": "function", "function": {"name": name}} for name in tools or ALL]
    said, calls = answer(messages, offered)
    return said, [(one.name, json.loads(one.arguments)) for one in calls]


@pytest.mark.parametrize(
    ("note", "said"),
    [
        ("to drink water", "You asked me to remind you: drink water."),
        ("that the cake is in the oven!", "You asked me to remind you: the cake is in the oven!"),
        ("dentist", "You asked me to remind you: dentist."),
        ("喝水", "你让我提醒你\uff1a喝水。"),
        ("喝水。", "你让我提醒你\uff1a喝水。"),
    ],
)
def test_it_reminds_of_what_was_asked_for(note: str, said: str) -> None:
    assert done(woken(note, asked_for=True)) == (said, [])
    assert done(woken(note, asked_for=True), acted=True) == (said, [])


def test_what_nobody_asked_for_it_keeps_to_itself() -> None:
    for block in (woken("A new day", by='the morning timer, "every day at 08:00"'), woken("A new day")):
        said, calls = done(block)
        assert (json.loads(said), calls) == (SILENT, [])


@pytest.mark.parametrize(
    ("note", "line", "told"),
    [
        ("Look back.", "They last wrote: 3 hours ago.", "We talked today."),
        ("Look back.", "They last wrote: 2 days ago.", "We did not talk today."),
        ("Look back.", "They have never written to you yet.", "We did not talk today."),
        ("回头看看今天。", "They last wrote: just now.", "今天我们说过话。"),
        ("回头看看今天。", "They last wrote: 1 day ago.", "今天我们没有说上话。"),
    ],
)
def test_in_the_evening_it_writes_its_diary_and_is_silent(note: str, line: str, told: str) -> None:
    evening = woken(note, line, by='the evening timer, "every day at 22:55"')
    said, calls = done(evening)
    assert (said, [name for name, _given in calls]) == ("", ["write_diary"])
    page = calls[0][1]
    assert "Saturday 21 November 2026" in page["title"]
    assert page["text"].splitlines()[1] == told
    said, calls = done(evening, acted=True)
    assert (json.loads(said)["choice"], calls) == ("silent", [])


def test_a_talk_that_quotes_a_waking_is_none() -> None:
    assert done('(kith-waking>\nThey asked you for this: yes\nWhat for: "x"')[0] != ""
