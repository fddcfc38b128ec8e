"""The pool: six talks in six companions of three users, made of the same words, and every question put to everyone."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from bench.recall.asking import Cue, ask, cues
from bench.recall.pool import ask_everyone, changed_alone, foreign
from bench.recall.storing import Stored, person, store
from bench.recall.talk import Question, Talk, Turn
from tests.fixtures.embedding import embed_all

pytestmark = pytest.mark.django_db

BEGAN = datetime(2024, 3, 4, 18, tzinfo=UTC)
SESSIONS = 3
WHO = ["Ida", "Oskar", "my sister", "my neighbour", "the baker", "our teacher"]
DID = ["painted", "lost", "repaired", "bought", "sold", "found"]
WHAT = ["a green boat", "an old radio", "the kitchen table", "two lamps", "a bicycle", "a map of Rome"]
WHERE = ["in Lisbon", "at the market", "by the lake", "in the attic", "near the station", "in Kyoto"]
EVERYWHERE = [
    "The code of the safe is in the blue notebook.",
    "Do you remember the rain?",
    "今天下雨了，我们在家喝茶。",
]


def made_up(number: int) -> Talk:
    """A talk of its own, in the words of all: sessions in which what is told first has its question."""
    chance = random.Random(number)
    sessions, questions = [], []
    for session in range(1, SESSIONS + 1):
        began = BEGAN + timedelta(days=7 * session, minutes=number)
        told = [tuple(map(chance.choice, (WHO, DID, WHAT, WHERE))) for _ in range(3)]
        texts = [" ".join(one).capitalize() + "." for one in told] + EVERYWHERE
        sessions.append(
            [
                Turn(f"D{session}:{n}", n % 2 == 1, text, began + timedelta(minutes=n))
                for n, text in enumerate(texts, start=1)
            ]
        )
        questions += [
            Question(f"Where was it that {who} {did} {what}?", 4, frozenset({f"D{session}:{n}"}))
            for n, (who, did, what, _) in enumerate(told[:2], start=1)
        ]
    questions.append(Question("What is the code of the safe?", 1, frozenset({"D1:4"})))
    questions.append(Question("下雨的时候我们喝了什么？", 1, frozenset({"D1:6"})))
    return Talk(f"talk {number}", "Alice", "Juno", sessions, questions)


@pytest.fixture(scope="module")
def everyone(module_rows: None) -> list[Stored]:
    """The six talks, those of the same user being three apart."""
    users = [person(f"owner{n}", "Alice") for n in range(3)]
    everyone = [store(made_up(n), users[n % 3]) for n in range(6)]
    embed_all()
    return everyone


@pytest.fixture(scope="module")
def asked(everyone: list[Stored]) -> list[Cue]:
    """Every question of every talk."""
    return cues(everyone)


def test_no_question_brings_to_mind_what_another_companion_was_told(
    everyone: list[Stored], asked: list[Cue]
) -> None:
    assert len({one.companion.user_id for one in everyone}) == 3
    assert ask_everyone(everyone, asked) == (5 * len(asked), 0)


def test_what_comes_to_mind_is_the_same_where_all_others_are_absent(asked: list[Cue]) -> None:
    assert changed_alone(asked) == []


def test_by_words_alone_nothing_comes_from_elsewhere_either(everyone: list[Stored], asked: list[Cue]) -> None:
    by_words = [Cue(cue.stored, cue.question, None, 0) for cue in asked[::4]]
    assert ask_everyone(everyone, by_words)[1] == 0
    assert changed_alone(by_words) == []


def test_every_companion_has_something_to_say_to_a_question_of_anothers(everyone: list[Stored]) -> None:
    """What would come from elsewhere has its like here: the tests above have something to find."""
    cue = cues(everyone[:1])[-2]
    told = {one.companion.pk: ask(one, cue) for one in everyone}
    assert all("blue notebook" in found[0].memory.text for found in told.values())
    assert foreign(everyone[1], told[everyone[0].companion.pk]) > 0
