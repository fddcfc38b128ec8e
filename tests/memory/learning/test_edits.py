"""Edits of self-concept and profile stand on what was said, the companion's own on what it says itself."""

from datetime import date

import pytest

from memory.learning.answers import Edit
from memory.learning.revisions import apply_edits, is_past_plan, weigh_edits
from tests.memory.learning.conftest import NAMES
from tests.memory.learning.test_sincerity import build

EARLIER = [{"text": "Alice teaches in Porto.", "sources": ["before"]}, {"text": "Alice rows.", "sources": []}]
SAID = build("I teach in Lisbon now, and I sing.", "> I like your songs. Are you happy?")


def edit(do: str, number: int | None, text: str, *sources: int) -> Edit:
    return Edit.model_validate({"do": do, "number": number, "text": text, "sources": list(sources)})


@pytest.mark.parametrize(
    ("made", "texts"),
    [
        (edit("change", 1, "Alice teaches in Lisbon.", 1), ["Alice teaches in Lisbon.", "Alice rows."]),
        (edit("change", 1, "Alice teaches in Madrid.", 1), ["Alice teaches in Porto.", "Alice rows."]),
        (edit("change", 9, "Alice sings.", 1), ["Alice teaches in Porto.", "Alice rows.", "Alice sings."]),
        (edit("add", None, "Alice sings.", 1), ["Alice teaches in Porto.", "Alice rows.", "Alice sings."]),
        (edit("add", None, "Alice sings."), ["Alice teaches in Porto.", "Alice rows."]),
        (edit("add", None, "Alice rows.", 1), ["Alice teaches in Porto.", "Alice rows."]),
        (edit("drop", 2, "", 1), ["Alice teaches in Porto."]),
        (edit("drop", 2, ""), ["Alice teaches in Porto.", "Alice rows."]),
        (edit("drop", 9, "", 1), ["Alice teaches in Porto.", "Alice rows."]),
        (edit("keep", 2, "Alice rowed.", 1), ["Alice teaches in Porto.", "Alice rows."]),
    ],
)
def test_what_is_not_named_or_stands_on_nothing_stays(made: Edit, texts: list[str]) -> None:
    left = apply_edits(EARLIER, weigh_edits("user_profile", EARLIER, [made], SAID, NAMES))
    assert [sentence["text"] for sentence in left] == texts


def test_what_is_outdated_may_go_without_a_line_and_stands_on_none() -> None:
    for sources in ([], [1]):
        made = [edit("drop", 2, "", *sources), edit("drop", 1, "")]
        weighed = weigh_edits("user_profile", EARLIER, made, SAID, NAMES, {"Alice rows."})
        assert weighed == [{"do": "drop", "number": 2, "text": "", "sources": []}]


@pytest.mark.parametrize(
    ("text", "is_past"),
    [
        ("Alice has an exam on 2026-02-10.", True),
        ("Alice's baby is due on 10 February.", True),
        ("Alice will marry on 10 February.", True),
        ("Alice要在2026年2月10日结婚。", True),
        ("Alice has an exam on 2026-02-21.", False),  # of today
        ("Alice's birthday is on 10 February.", False),  # of every year
        ("Alice的生日是2月10日。", False),
        ("Alice's birthday is on 10 February, and she wants to row.", False),
        ("Alice会弹钢琴，生日是2月10日。", False),
        ("Every year on 10 February Alice has to visit Ana.", False),
        ("Alice每年2月10日要去扫墓。", False),
        ("Alice has to work on Friday evenings.", False),
        ("Alice will live in Oslo from 10 February until May.", False),  # begins then
        ("Alice starts as a nurse on 2026-02-01.", False),
        ("Alice从2026年2月1日起在上海工作。", False),
        ("Alice will fly from Kiel to Rome on 10 February.", True),
        ("Alice was born on 1990-02-10.", False),
        ("Alice met Ana on 2026-01-03.", False),  # before it was told
        ("Alice rows.", False),
    ],
)
def test_a_plan_is_past_once_its_day_is(text: str, is_past: bool) -> None:
    assert is_past_plan(text, date(2026, 1, 5), date(2026, 2, 21)) == is_past


def test_what_is_asked_to_be_forgotten_is_not_thought_of_anybody() -> None:
    talk = build("I am learning to sail.", "> Oh!", "Please forget that I am learning to sail.")
    made = edit("add", None, "Alice is learning to sail.", 1)
    assert weigh_edits("user_profile", [], [made], talk, NAMES) == []


def test_a_changed_sentence_keeps_its_sources() -> None:
    made = edit("change", 1, "Alice teaches in Lisbon.", 1)
    [changed] = weigh_edits("user_profile", EARLIER, [made], SAID, NAMES)
    assert changed["sources"] == ["before", str(SAID[1].message_id)]


@pytest.mark.parametrize(
    ("said", "text", "is_kept"),
    [
        (["You like rain, do you?", "> I like rain. Do you?"], "I like rain.", True),
        (["You like rain, do you?"], "I like rain.", False),
        (["You like rain, do you?", "> If I were a duck, I would like rain."], "I like rain.", False),
        (["You like rain, do you?", "> I like rain. Just kidding!"], "I like rain.", False),
        (["How is your brother, the sailor?", "> He is at sea."], "I have a brother who is a sailor.", False),
        (["你喜欢雨吗？", "> 我喜欢雨。"], "我喜欢雨。", True),
        (["你喜欢雨吧？"], "我喜欢雨。", False),
    ],
)
def test_a_sentence_of_the_self_concept_wants_a_line_of_the_companions_that_means_it(
    said: list[str], text: str, is_kept: bool
) -> None:
    sources = range(1, len(said) + 1)
    weighed = weigh_edits("self_concept", [], [edit("add", None, text, *sources)], build(*said), NAMES)
    assert bool(weighed) is is_kept
