"""The bench's way from talks to tables: stored as talk is, asked through recall, compared over the same vectors."""

from datetime import UTC, datetime, timedelta

import pytest

from bench.recall.asking import answers, ask, cues, plain_answers
from bench.recall.pool import alone
from bench.recall.report import Report
from bench.recall.storing import Stored, store_all
from bench.recall.talk import Question, Talk, Turn
from companions.models import Companion, Message, Session
from memory.models import Memory

pytestmark = pytest.mark.django_db

BEGAN = datetime(2024, 3, 4, 18, tzinfo=UTC)
SAID = [
    ["I adopted a kitten from the shelter.", "What is she called?", "Minka, like my aunt."],
    ["We flew to Lisbon last week.", "Did you see the sea?\n[photo: a yellow tram]"],
]


def talk(user: str, companion: str) -> Talk:
    sessions = [
        [
            Turn(f"D{s}:{n}", n % 2 == 1, text, BEGAN + timedelta(days=s, minutes=n))
            for n, text in enumerate(texts, start=1)
        ]
        for s, texts in enumerate(SAID, start=1)
    ]
    questions = [
        Question("Which pet lives with me?", 4, frozenset({"D1:1", "D1:3"})),
        Question("When did we fly to Lisbon?", 2, frozenset({"D2:1"})),
    ]
    return Talk(f"{user} and {companion}", user, companion, sessions, questions)


@pytest.fixture
def stored(db: None) -> list[Stored]:
    return store_all([talk("Ann", "Ben"), talk("Cy", "Di")])


def test_a_talk_is_stored_as_messages_in_ended_sessions_with_their_memories(stored: list[Stored]) -> None:
    companion = stored[0].companion
    messages = list(Message.objects.filter(companion=companion).order_by("said_at"))
    assert [one.text for one in messages] == SAID[0] + SAID[1]
    assert [one.author for one in messages[:2]] == ["Ann", "Ben"]
    assert [one.parent for one in messages] == [None, *messages[:-1]]
    assert companion.conversation.head == messages[-1]
    assert Session.objects.filter(companion=companion).exclude(ended_at=None).count() == 2
    assert Memory.objects.of(companion.pk).exclude(embeddings=None).count() == 5
    assert stored[0].names == {"user": "Ann", "companion": "Ben"}


def test_answers_are_what_recall_finds(stored: list[Stored]) -> None:
    asked = cues(stored)
    timed = answers(asked)
    assert timed[1].answer.found[0] == "D2:1"
    first = ask(stored[0], asked[0])
    assert list(timed[0].answer.found) == [stored[0].turns[one.memory.message_id].id for one in first]


def test_plain_cosine_ranks_as_recall_measures_likeness(stored: list[Stored]) -> None:
    asked = cues(stored)
    plain = plain_answers(asked)
    assert list(plain) == ["plain BM25", "plain dense", "plain rank fusion"]
    for cue, answer in zip(asked, plain["plain dense"], strict=True):
        found = {
            cue.stored.turns[one.memory.message_id].id: one.reasons["likeness"]
            for one in ask(cue.stored, cue)
        }
        assert answer.found == sorted(found, key=lambda id: -found[id])


def test_alone_a_companion_has_the_database_to_itself(stored: list[Stored]) -> None:
    with alone(stored[0]):
        assert Companion.objects.get() == stored[0].companion
    assert Companion.objects.count() == 2


@pytest.mark.usefixtures("db")
def test_the_report_prints_its_tables(capsys: pytest.CaptureFixture[str]) -> None:
    report = Report([talk("Ann", "Ben"), talk("Cy", "Di")], is_markdown=True)
    report.quality()
    report.speed()
    report.pool(is_alone=True)
    printed = capsys.readouterr().out
    assert "| way " in printed
    assert "| single-hop " in printed
    assert "| embedding of the cue |" in printed
    assert "4 recalls of wrong companions gave 0 results from elsewhere" in printed
    assert "0 of 4 questions found anything else" in printed
