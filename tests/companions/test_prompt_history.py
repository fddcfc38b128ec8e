"""The history as it is sent: what was done, emotions where they were shown, times where the talk rested, a beginning that
stays.
"""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from companions.conversations.messages import Spoken, load_spoken
from companions.models import Companion, Message, Reply, Waking
from companions.prompting.history import (
    align_window,
    choose_newest,
    render_history,
    render_time,
    show_emotions,
)
from companions.replies.checkpoint import Said
from companions.replies.finish import finish
from companions.replies.lifecycle import process_name
from companions.replies.model_calls import record_call
from tests.companions.talking import say
from tests.companions.tools.conftest import end, turn_of, use

NOON = datetime(2026, 11, 24, 12, tzinfo=UTC)


def spoken(role: str, text: str, at: datetime, *emotions: dict[str, object]) -> Spoken:
    return Spoken(uuid4(), role, text, False, None, at, emotions)


def test_an_emotion_stands_where_it_was_shown() -> None:
    felt: list[dict[str, Any]] = [
        {"at": 0, "emotion": "curious", "intensity": 0.4},
        {"at": 4, "emotion": "happy", "intensity": 0.9},
    ]
    assert show_emotions("Oh? Good!", felt) == "<emotion curious 0.4> Oh? <emotion happy 0.9> Good!"
    assert show_emotions("Oh?", felt) == "<emotion curious 0.4> Oh?"  # what was cut off has no place any more
    assert show_emotions("Oh?", []) == "Oh?"


def test_times_are_told_where_the_talk_rested_and_between_what_was_said_unasked() -> None:
    history = [
        spoken("user", "Good night.", NOON),
        spoken("assistant", "Sleep well.", NOON + timedelta(minutes=1)),
        spoken("assistant", "Good morning.", NOON + timedelta(days=1)),
        spoken("assistant", "Still asleep?", NOON + timedelta(days=1, hours=3)),
        spoken("user", "I am up.", NOON + timedelta(days=1, hours=4)),
        spoken("user", "At last.", NOON + timedelta(days=1, hours=4, minutes=1)),
    ]
    sent = render_history(history, UTC)
    notice = "<kith-notice>\n[Wed 25 Nov, {}] You write again:\n</kith-notice>"
    assert [(line["role"], line["content"]) for line in sent] == [
        ("user", "Good night."),
        ("assistant", "Sleep well."),
        ("user", notice.format("12:00")),
        ("assistant", "Good morning."),
        ("user", notice.format("15:00")),
        ("assistant", "Still asleep?"),
        ("user", "[Wed 25 Nov, 16:00]\nI am up."),
        ("user", "At last."),
    ]


@pytest.mark.django_db
def test_a_talk_that_the_companion_begins_unasked_begins_with_its_time(mira: Companion) -> None:
    now = timezone.now()
    (first,) = say(mira, "Good morning.", at=now)
    waking = Waking.objects.create(companion=mira, due_at=now, created_at=now, drive="morning")
    Message.objects.filter(pk=first.pk).update(role=Message.Role.ASSISTANT, waking=waking)
    sent = render_history(load_spoken(first, 1), UTC)
    assert [line["role"] for line in sent] == ["user", "assistant"]
    time = render_time(now, UTC)
    assert sent[0]["content"] == f"<kith-notice>\n{time} You write to them first:\n</kith-notice>"
    assert render_history([spoken("assistant", "Hello, I am Mira.", NOON)], UTC)[0]["role"] == "assistant"


def used(name: str, result: dict[str, Any], **arguments: Any) -> dict[str, Any]:
    """A call of a tool, as it is kept with its reply."""
    return {"id": "call_1", "name": name, "arguments": json.dumps(arguments), "result": result}


SET = used("set_timer", {"when": "5 minutes", "next": "2026-11-24 12:05:00"}, schedule="5min", text="tea")


def test_what_an_answer_did_stands_before_its_words_and_after_what_it_answers() -> None:
    told = used("remember", {"remembered": "x" * 900}, text="x" * 900)
    calls = [
        used("recall", {"remembered": []}, words="tea"),
        SET,
        told,
        used("remember", {"error": "text: is empty"}),
    ]
    history = [
        spoken("user", "Remind me of the tea.", NOON),
        spoken("assistant", "I'll remind you!", NOON)._replace(calls=calls),
        spoken("assistant", "Tea!", NOON + timedelta(minutes=5)),
    ]
    asked, call, given, second, _given, answer, _notice, _said = render_history(history, UTC)
    assert (asked["content"], answer["content"]) == ("Remind me of the tea.", "I'll remind you!")
    [sent] = call["tool_calls"]  # type: ignore[misc]
    assert sent["function"] == {"name": "set_timer", "arguments": SET["arguments"]}
    assert json.loads(str(given["content"])) == SET["result"]
    assert given["tool_call_id"] == sent["id"]
    assert sent["id"].isalnum()
    assert len(sent["id"]) == 9
    assert len(str(second["tool_calls"])) < 400
    assert [line["role"] for line in render_history(history[1:], UTC)] == ["assistant", "user", "assistant"]


def test_what_an_answer_could_not_do_is_known_later() -> None:
    """Small models say that all is done although the tool refused."""
    refused = used(
        "set_timer", {"error": "schedule: is in the past"}, schedule="once:1999-01-01 09:00", text="tea"
    )
    broken = {
        **refused,
        "name": "note",
        "arguments": "no JSON",
        "result": {"error": "arguments: Invalid JSON"},
    }
    history = [
        spoken("user", "Remind me of the tea.", NOON),
        spoken("assistant", "I'll remind you!", NOON)._replace(calls=[refused, refused, broken]),
    ]
    _asked, call, given, second, other, _answer = render_history(history, UTC)
    assert "1999" in str(call["tool_calls"])
    assert json.loads(str(given["content"])) == {"not_done": "schedule: is in the past"}
    assert "no JSON" not in str(second["tool_calls"])
    assert json.loads(str(other["content"])) == {"not_done": "arguments: Invalid JSON"}


def test_what_was_done_takes_its_room() -> None:
    said = [spoken("assistant", "I'll remind you!", NOON), spoken("user", "Remind me.", NOON)]
    done = [said[0]._replace(calls=[SET]), said[1]]
    assert len(choose_newest(said, 40)) == 2
    assert len(choose_newest(done, 40)) < 2


def test_what_came_with_a_message_takes_its_room() -> None:
    said = [spoken("user", "Look.", NOON)]
    assert choose_newest(said, 20) == said
    assert choose_newest([said[0]._replace(files=[("a cat on a roof.png", True)])], 20) == []


def test_the_window_moves_by_steps_so_that_the_prompt_begins_the_same() -> None:
    said = [spoken("user", "A long day in the garden.", NOON)] * 100
    firsts = []
    for count in range(60, 92):
        fitting = choose_newest(said[:count], 400)
        kept = align_window(fitting, count)
        firsts.append(count - len(kept))
        assert len(kept) > len(fitting) // 2
    assert len(set(firsts)) == 3
    assert firsts == sorted(firsts)
    assert len(align_window(said, 100)) == 100


@pytest.mark.django_db
def test_the_prompt_of_a_turn_begins_as_the_one_before_did(mira: Companion) -> None:
    now = timezone.now()
    first = turn_of(mira, "I am Alice.", now)
    end(first, "Hello, Alice.", now)
    second = turn_of(mira, "What is new?", now + timedelta(minutes=1))
    assert second.prompt[: len(first.prompt) - 1] == first.prompt[:-1]
    assert str(first.prompt[-1]["content"]).startswith(str(second.prompt[len(first.prompt) - 1]["content"]))
    assert second.offers == first.offers


@pytest.mark.django_db
def test_what_it_said_unasked_shows_its_emotion_too(mira: Companion) -> None:
    say(mira, "Good night.", "Sleep well.", at=timezone.now() - timedelta(minutes=5))
    turn = turn_of(mira, "I am up.")
    answer = Message.objects.get(text="Sleep well.")
    assert [said.pk for said in turn.history][-1] == answer.pk
    assert [list(said.emotions) for said in turn.history] == [[], []]


@pytest.mark.django_db
def test_the_next_turn_is_shown_what_was_done_and_goes_with_all_that_it_was_drawn_from(
    mira: Companion,
) -> None:
    first = turn_of(mira, "Remember that I like oolong.")
    given = use(first, "remember", text="Alice likes oolong.")
    record_call(first, 2, timezone.now())
    done = used("remember", given, text="Alice likes oolong.")
    said = Said("I will.", tool_calls=[done])
    assert finish(first.reply, Reply.State.DONE, said, timezone.now(), held_by=process_name())
    second = turn_of(mira, "Did you?", timezone.now())
    assert [line["role"] for line in second.prompt] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]
    assert "oolong" in str(second.prompt[2]["tool_calls"])
    assert mira.memories.get(kind="fact").pk in second.shown_ids
