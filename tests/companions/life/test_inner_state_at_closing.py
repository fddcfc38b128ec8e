"""The end of a session writes the inner state anew as well, with the same call, if something was said since."""

import json
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from accounts.models import ModelCall
from companions.deletion import delete_message
from companions.life import inner_state, reflection
from companions.life.inner_state import CALM, Feeling
from companions.models import Closing, Companion, InnerState
from companions.sessions.closing import run
from memory.emotion import Emotion
from memory.models import DiaryEntry
from tests.companions.life.test_reflection import held, makers
from tests.companions.sessions.conftest import MORNING, TEA, ask_to_close, closed
from tests.companions.talking import say
from tests.fixtures import faults
from tests.fixtures.clock import clock_at
from tests.fixtures.malformed import GOOD
from tests.fixtures.rehearsal import RehearsalServer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira", "rehearsal")]
NOON = MORNING + timedelta(hours=3)
By = InnerState.By
FELT = {"text": "I am glad.", "valence": 0.4, "arousal": 0.3, "emotion": "happy", "intensity": 0.5}


def ending(**parts: Any) -> dict[str, Any]:
    return {"task": "diary", "answer": json.dumps(GOOD | parts)}


def test_the_call_for_the_diary_writes_how_it_feels(mira: Companion, rehearsal: RehearsalServer) -> None:
    said = say(mira, *TEA, at=MORNING)
    begun = held(mira)
    assert closed(mira, NOON).state == "done"
    state = held(mira)
    assert (state.by, state.number, state.made_at, state.until_at) == (By.CLOSING, 2, NOON, said[-1].said_at)
    assert state.seen == sorted(one.pk for one in said)
    assert state.call == DiaryEntry.objects.get().call
    assert ModelCall.objects.count() == 4
    assert "kith-inner" in str(rehearsal.requests()[0]["messages"][0]["content"])
    assert begun.text.splitlines()[-1] in str(rehearsal.requests()[0]["messages"][-1]["content"])


def test_an_answer_without_it_leaves_the_old_one(mira: Companion, rehearsal: RehearsalServer) -> None:
    for number, parts in enumerate([{}, {"inner_state": None}, {"inner_state": {"text": "I feel."}}]):
        at = MORNING + timedelta(days=number)
        say(mira, "I like rain.", "So do I.", at=at)
        rehearsal.script(ending(**parts))
        assert closed(mira, at + timedelta(hours=1)).state == "done"
    assert makers() == [By.SEED]
    assert DiaryEntry.objects.count() == 3


@pytest.mark.parametrize(
    ("changed", "text", "feeling"),
    [
        ({}, "I am glad.", Feeling(0.4, 0.3, Emotion.HAPPY, 0.5)),
        ({"emotion": "hungry", "valence": -9}, "I am glad.", Feeling(-1, 0.3, Emotion.NEUTRAL, 0.5)),
        ({"text": "I met Zebulon. I am calm."}, "I am calm.", Feeling(0.4, 0.3, Emotion.HAPPY, 0.5)),
    ],
)
def test_what_it_carries_is_kept_as_a_reflection_is(
    mira: Companion, rehearsal: RehearsalServer, changed: dict[str, Any], text: str, feeling: Feeling
) -> None:
    say(mira, "I like rain.", "So do I.", at=MORNING)
    rehearsal.script(ending(inner_state=FELT | changed))
    assert closed(mira, NOON).state == "done"
    assert (held(mira).text, inner_state.get_feeling(held(mira))) == (text, feeling)


def test_what_stands_on_nothing_leaves_the_old_one(mira: Companion, rehearsal: RehearsalServer) -> None:
    say(mira, "I like rain.", "So do I.", at=MORNING)
    rehearsal.script(ending(inner_state=FELT | {"text": "Zebulon and Quark came in 1999."}))
    assert closed(mira, NOON).state == "done"
    assert makers() == [By.SEED]


def test_where_nothing_was_said_since_none_is_asked_for(mira: Companion, rehearsal: RehearsalServer) -> None:
    say(mira, *(TEA * 6), at=MORNING)
    reflection.run(mira.pk, clock_at(NOON))
    rehearsal.script(ending(inner_state=FELT))
    assert closed(mira, NOON).state == "done"
    assert makers() == [By.SEED, By.REFLECTION]
    assert "kith-inner" not in str(rehearsal.requests()[-1])


def test_a_session_that_holds_enough_is_not_reflected_upon_after_its_end(mira: Companion) -> None:
    say(mira, *(TEA * 6), at=MORNING)
    closed(mira, NOON)
    assert reflection.find_due_companions(NOON) == []
    say(mira, *(TEA * 6)[:-1], at=NOON)
    assert reflection.find_due_companions(NOON + timedelta(hours=1)) == []


def test_a_waking_meanwhile_has_the_last_word_and_throws_no_draft_away(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    say(mira, *TEA, at=MORNING)
    closing_id = ask_to_close(mira, NOON)
    wake = partial(inner_state.revise, mira.pk, "I long for snow.", CALM, by=By.WAKING, now=NOON)
    with faults.before(faults.ANSWERED, wake):
        run(closing_id, clock_at(NOON))
    assert makers() == [By.SEED, By.WAKING]
    assert len(rehearsal.requests()) == 4
    assert Closing.objects.get().state == "done"


def test_a_message_deleted_meanwhile_is_not_in_it(mira: Companion) -> None:
    said = say(mira, *TEA, "My dog Rufus is 7 years old.", "I love Rufus.", at=MORNING)
    closing_id = ask_to_close(mira, NOON)
    with faults.before(faults.ANSWERED, partial(delete_message, said[4], NOON)):
        run(closing_id, clock_at(NOON))
    assert makers() == [By.SEED, By.CLOSING]
    assert said[4].pk not in held(mira).seen
    assert "7 years" not in held(mira).text
