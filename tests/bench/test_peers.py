"""`make bench-peers`: what mem0 is told and asked, what its answer is read as, and the tables beside each other."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bench.peers import kith, tables
from bench.peers.embedding_server import embedded
from bench.peers.kith import one_by_one
from bench.peers.mem0 import WAYS, Way, asked, extraction, outcome, told
from bench.peers.venv import VenvError, last_words, python_with
from bench.recall.measures import Answer
from bench.recall.talk import Question, Talk, Turn

AT = datetime(2024, 3, 4, 18, tzinfo=UTC)
TURNS = [
    Turn("D1:1", True, "I adopted a kitten.", AT),
    Turn("D1:2", False, "What is she called?", AT),
    Turn("D1:3", True, "Minka.", AT),
]
TALK = Talk("t", "Ann", "Ben", [TURNS], [Question("What did Ann adopt?", 4, frozenset({"D1:1"}))])
ANSWER: dict[str, Any] = {
    "version": "1",
    "adding": [1.0, 2.0, 3.0],
    "searching": [5.0],
    "embedding": [4.0],
    "found": [["D1:2", "D1:1", "D1:2"]],
    "models_added": 3,
    "embeddings_added": 6,
    "stored": 3,
    "signals": ["semantic_score"],
}


def test_a_turn_is_told_with_its_speakers_name_or_without() -> None:
    assert told(TALK, TURNS[1], is_named=True) == "Ben: What is she called?"
    assert told(TALK, TURNS[0], is_named=False) == "I adopted a kitten."


def test_a_question_keeps_its_names_unless_they_are_to_go() -> None:
    assert asked(TALK, TALK.questions[0], Way("x")) == "What did Ann adopt?"
    assert asked(TALK, TALK.questions[0], Way("x", is_asked_plainly=True)) == "What did adopt?"


def test_the_facts_of_a_turn_are_that_turn_and_who_said_it() -> None:
    (fact,) = json.loads(extraction(TALK, TURNS[2])["answer"])["memory"]
    assert (fact["text"], fact["attributed_to"]) == ("Ann: Minka.", "user")


def test_what_mem0_finds_are_distinct_turns_and_its_costs_are_per_message() -> None:
    one = outcome([TALK], ANSWER, model_tokens=900)
    assert one.answers[0].found == ["D1:2", "D1:1"]
    assert one.answers[0].reciprocal_rank == 0.5
    assert (one.model_calls, one.embedding_calls, one.model_tokens) == (1, 2, 300)


def test_the_tables_have_a_row_for_each_way() -> None:
    question = TALK.questions[0]
    own = kith.Outcome([Answer(question, ["D1:1"], 3)], [2.0], [1.0], [0.5], [1.5])
    other = outcome([TALK], ANSWER, model_tokens=0)
    ways = {"Kith": own.answers, "mem0": other.answers}
    assert tables.quality(ways, is_markdown=False).splitlines()[1].split()[:2] == ["Kith", "100.0"]
    assert "| single-hop " in tables.categories(ways, is_markdown=True)
    cost = tables.cost(own, {"mem0": other}, is_markdown=False).splitlines()
    assert cost[2].split() == ["mem0", "5.0", "5.0", "4.0", "2.0", "2.9", "1.00", "0", "2.00"]


def test_the_ways_have_names_of_their_own() -> None:
    assert len({way.label for way in WAYS}) == len(WAYS)


@pytest.mark.django_db
def test_a_texts_vector_has_length_1_however_long_it_is() -> None:
    short, long = embedded(["a kitten", "a kitten " * 600])
    assert sum(value * value for value in short) == pytest.approx(1, abs=1e-4)
    assert sum(value * value for value in long) == pytest.approx(1, abs=1e-4)


@pytest.mark.django_db
def test_messages_said_one_by_one_are_kept_and_embedded_one_by_one() -> None:
    keeping, embeds = one_by_one(TALK)
    assert len(keeping) == len(embeds) == 3


def test_an_install_that_fails_says_why(tmp_path: Path) -> None:
    wanted = tmp_path / "wanted.txt"
    wanted.write_text(f"{tmp_path}/no-such-package\n")
    with pytest.raises(VenvError, match=r"pip could not install wanted\.txt: ERROR"):
        python_with(tmp_path / "venv", wanted=wanted)


def test_the_last_words_are_those_of_the_last_error() -> None:
    assert last_words("Looking\nERROR: nothing found\nbye\n\n") == "ERROR: nothing found"
    assert last_words("bye\n") == "bye"
    assert last_words("") == "it did not say why"
