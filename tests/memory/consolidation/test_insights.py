"""What a night draws is read a second time, beside the memories that it is drawn from, before it is kept."""

import json
from datetime import timedelta
from typing import Any

import pytest

from companions.models import Companion
from memory.models import Change, Consolidation, Memory
from providers.rehearsal.prompt import find_task
from tests.fixtures.rehearsal import RehearsalServer
from tests.memory.consolidation.conftest import NIGHT, Know, Work, done

pytestmark = pytest.mark.usefixtures("module_mira")
JOINED = "Ana learnt Chinese to teach Tiago"


@pytest.fixture
def told(mira: Companion, know: Know) -> list[Memory]:
    """What an insight may be drawn from, and what asks for a look at it."""
    texts = (
        "Ana has learnt Chinese",
        "Ana learnt to teach Chinese",
        "Tiago is a pupil who has learnt from Ana",
    )
    return [know(mira, text) for text in texts]


def draw(*texts: str) -> Any:
    """What the model answers: these insights, each from the first and the last line that it is shown."""
    return lambda of, told: {
        "insights": [{"text": text, "from": [of(told[0]), of(told[2])]} for text in texts]
    }


def tasks(server: RehearsalServer) -> list[str]:
    return [find_task(request) for request in server.requests()]


def read_as(server: RehearsalServer, word: str, **step: Any) -> None:
    server.script({"task": "verification", "answer": json.dumps({"answers": {"1": word}}), **step})


@pytest.mark.parametrize(
    ("word", "confidence"),
    [("not said", None), ("taken back", None), ("joke", None), ("yes", 0.6), ("hm", 0.5)],
)
def test_an_insight_is_kept_as_a_second_reading_judges_it(
    mira: Companion,
    told: list[Memory],
    work: Work,
    rehearsal: RehearsalServer,
    word: str,
    confidence: float | None,
) -> None:
    """Two facts make no third one; what nobody could read is unsure."""
    read_as(rehearsal, word)
    work(mira, lambda of: draw(JOINED)(of, told))
    kept = Memory.objects.filter(companion=mira, kind="insight").values_list("text", "confidence")
    assert list(kept) == ([(JOINED, confidence)] if confidence else [])
    assert tasks(rehearsal) == ["night", "verification"]
    system, user = rehearsal.requests()[-1]["messages"]
    assert f'1. insight: "{JOINED}" <- "{told[0].text}" "{told[2].text}"' in user["content"]
    assert "kith-said" not in system["content"]
    assert 'marked "insight"' in system["content"]


def test_a_night_is_told_whose_memories_these_are_and_which_day_it_is(
    mira: Companion, told: list[Memory], work: Work, rehearsal: RehearsalServer
) -> None:
    """An "I" is the companion, or an insight would take its words for the person's; and a plan may be past by now."""
    work(mira, lambda of: draw()(of, told))
    system, _ = rehearsal.requests()[0]["messages"]
    assert "what Mira, a companion, has learnt in its talks with Alice" in system["content"]
    assert f"the night before {NIGHT:%a %Y-%m-%d}." in system["content"]
    assert '"I" in a line is Mira' in system["content"]


def test_all_insights_of_a_night_are_read_in_one_request_without_those_that_rules_stop(
    mira: Companion, told: list[Memory], work: Work, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"task": "verification", "answer": '{"answers": {"1": "yes", "2": "not said"}}'})

    def answer(of: Any) -> dict[str, Any]:
        one, two, three = map(of, told)
        texts = (
            ("Ana was taught by Rui", [one, two]),
            ("Ana has taught", [one, two]),
            ("Ana is kind", [one, three]),
        )
        return {"insights": [{"text": text, "from": numbers} for text, numbers in texts]}

    assert [change.memory.text for change in work(mira, answer)] == ["Ana has taught"]
    assert tasks(rehearsal) == ["night", "verification"]
    assert "Rui" not in rehearsal.requests()[-1]["messages"][-1]["content"]


@pytest.mark.parametrize("texts", [(), ("Ana learnt it from Rui",)])
def test_a_night_with_no_insight_that_may_be_kept_is_one_request(
    mira: Companion, told: list[Memory], work: Work, rehearsal: RehearsalServer, texts: tuple[str, ...]
) -> None:
    work(mira, lambda of: draw(*texts)(of, told))
    assert tasks(rehearsal) == ["night"]


def test_where_the_second_reading_fails_the_night_goes_on_from_there(
    mira: Companion, told: list[Memory], work: Work, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"task": "verification", "error": {"status": 503}, "repeat": 3})
    assert work(mira, lambda of: draw(JOINED)(of, told)) == []
    night = Consolidation.objects.get()
    assert (night.state, night.attempts, bool(night.draft)) == ("waiting", 1, True)
    rehearsal.reset()
    [change] = done(mira, NIGHT + timedelta(minutes=2))
    assert (change.kind, change.memory.text) == (Change.Kind.INSIGHT, JOINED)
    assert tasks(rehearsal) == ["verification"]
    assert Consolidation.objects.get().draft == {}


def test_what_has_changed_since_the_model_answered_is_asked_about_anew(
    mira: Companion, told: list[Memory], work: Work, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"task": "verification", "error": {"status": 503}, "repeat": 3})
    work(mira, lambda of: draw(JOINED)(of, told))
    Memory.objects.filter(pk=told[0].pk).update(evidence=2)
    rehearsal.reset()
    assert done(mira, NIGHT + timedelta(minutes=2)) == []
    assert tasks(rehearsal) == ["night"]
