"""The history as it is sent: emotions where they were shown, times where the talk rested, a beginning that stays."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from companions.conversations.messages import Spoken
from companions.models import Companion, Message
from companions.prompting.history import (
    align_window,
    choose_newest,
    render_history,
    show_emotions,
)
from tests.companions.talking import say
from tests.companions.tools.conftest import end, turn_of

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
    assert [(line["role"], line["content"]) for line in sent] == [
        ("user", "Good night."),
        (
            "assistant",
            "Sleep well.\n\n[Wed 25 Nov, 12:00]\nGood morning.\n\n[Wed 25 Nov, 15:00]\nStill asleep?",
        ),
        ("user", "[Wed 25 Nov, 16:00]\nI am up."),
        ("user", "At last."),
    ]


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
