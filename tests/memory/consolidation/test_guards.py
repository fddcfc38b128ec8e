"""Whatever a model says by night, only what the guards let through is done."""

from datetime import timedelta
from typing import Any

import pytest

from companions.memories import consolidation
from companions.models import Companion
from memory.consolidation.request import Answer
from memory.models import Change, Consolidation, Memory, Pursuit
from tests.fixtures.malformed import PARTLY, READABLE, SOME
from tests.fixtures.rehearsal import RehearsalServer
from tests.memory.consolidation.conftest import DAY, NIGHT, Know, Work, done

pytestmark = pytest.mark.usefixtures("module_mira")


@pytest.fixture
def known(mira: Companion, know: Know) -> list[Memory]:
    """Two that say the same, one of another person, another day, another number, another kind, and an insight."""
    return [
        know(mira, "Alice plays the cello in an orchestra"),
        know(mira, "Alice plays cello in the orchestra"),
        know(mira, "Alice's sister plays the cello in an orchestra"),
        know(mira, "Alice played the cello in an orchestra on 3 March 2023"),
        know(mira, "Alice plays the cello in 2 orchestras", "event"),
        know(mira, "Alice never plays the cello in the orchestra"),
        know(mira, "Alice lives for her cello", "insight"),
        know(mira, "Alice wants to play the cello on a stage", "goal"),
    ]


ABSURD: dict[str, dict[str, Any]] = {
    "numbers that are none": {
        "merges": [{"keep": 99, "others": [98]}],
        "contradictions": [{"a": 99, "b": 1}],
        "insights": [{"text": "Alice loves it", "from": [98, 99]}],
        "reviews": [{"of": 99, "status": "done"}],
    },
    "itself": {"merges": [{"keep": 1, "others": [1, 1]}], "contradictions": [{"a": 1, "b": 1}]},
    "wrong types": {
        "merges": [
            {"keep": "1", "others": [2]},
            {"keep": 1, "others": "2"},
            {"keep": True, "others": [2]},
            7,
        ],
        "contradictions": [{"a": 1}, {"a": 1.5, "b": 2}, None],
        "insights": [{"text": "", "from": [1, 2]}, {"text": "x" * 501, "from": [1, 2]}, []],
        "reviews": [{"of": 9, "status": "eaten"}, {"of": 9, "progress": 900}, {"of": 9, "excitement": 0}],
    },
    "from one alone": {"insights": [{"text": "Alice loves it", "from": [1]}]},
    "from one twice": {"insights": [{"text": "Alice loves it", "from": [1, 1]}]},
    "what nothing tells of": {"reviews": [{"of": 9}]},
    "a memory that is no goal": {"reviews": [{"of": 8, "status": "under_way"}]},
}


@pytest.mark.parametrize("answer", ABSURD.values(), ids=ABSURD)
def test_an_absurd_answer_does_nothing(
    mira: Companion, known: list[Memory], work: Work, answer: dict[str, Any]
) -> None:
    assert work(mira, answer) == []
    assert Consolidation.objects.get().state == Consolidation.State.DONE
    assert Memory.objects.of(mira.pk).filter(closed_at__isnull=False).count() == 0


@pytest.mark.parametrize("other", [2, 3, 4, 6])
def test_what_tells_something_else_is_not_merged(
    mira: Companion, known: list[Memory], work: Work, other: int
) -> None:
    """Another person, another day, another kind, an insight."""
    work(mira, lambda at: {"merges": [{"keep": at(known[0]), "others": [at(known[other])]}]})
    assert not Change.objects.filter(kind=Change.Kind.MERGED).exists()
    assert Memory.objects.of(mira.pk).filter(closed_at__isnull=False).count() == 0


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Alice's sister is called Lena", "Alice's sister is called Lara"),
        ("Tom plays the cello in an orchestra", "Rui plays the cello in an orchestra"),
        ("Alice's mother lives by the sea", "Alice's father lives by the sea"),
        ("小林喜欢在公园里散步", "小王喜欢在公园里散步"),
        ("Alice moved to Berlin in 2019", "Alice moved to Berlin in 2020"),
        ("Alice has a meeting with the headmistress on Thursday", "Alice is afraid of the headmistress"),
        ("Alice prefers tea to coffee", "Alice has stopped drinking coffee"),
    ],
)
def test_what_is_said_of_another_person_matter_or_year_is_not_merged(
    mira: Companion, know: Know, work: Work, text: str, other: str
) -> None:
    one, two = know(mira, text), know(mira, other)
    assert not [
        change
        for change in work(mira, lambda at: {"merges": [{"keep": at(one), "others": [at(two)]}]})
        if change.kind == Change.Kind.MERGED
    ]
    assert Memory.objects.of(mira.pk).filter(closed_at__isnull=False).count() == 0


def test_a_denial_is_no_duplicate(mira: Companion, known: list[Memory], work: Work) -> None:
    [change] = work(mira, lambda at: {"merges": [{"keep": at(known[0]), "others": [at(known[5])]}]})
    assert change.kind == Change.Kind.CONTRADICTION


def test_unrelated_statements_are_neither_merged_nor_held_against_each_other(
    mira: Companion, know: Know, work: Work
) -> None:
    told = [
        know(mira, text)
        for text in (
            "Alice swims in the lake",
            "Alice swims before work",
            "Alice swims when she is sad",
            "The rent is 900 euros",
        )
    ]
    pairs = [(one, other) for one in told for other in told[3:] if one != other]
    changes = work(
        mira,
        lambda at: {
            "merges": [{"keep": at(one), "others": [at(other)]} for one, other in pairs],
            "contradictions": [{"a": at(one), "b": at(other)} for one, other in pairs],
        },
    )
    assert changes == []


@pytest.mark.parametrize("field", ["is_pinned", "edited_at"])
def test_what_the_person_pinned_or_corrected_is_not_closed(
    mira: Companion, known: list[Memory], work: Work, field: str
) -> None:
    Memory.objects.filter(pk=known[1].pk).update(**{field: True if field == "is_pinned" else DAY})
    assert work(mira, lambda at: {"merges": [{"keep": at(known[0]), "others": [at(known[1])]}]}) == []


@pytest.mark.parametrize(
    "text",
    [
        "Alice and Tom play together",
        "Alice has played for 7 years",
        "Alice has played since 4 April 2011",
        "The password is hunter2hunter",
        "Alice plays the cello in an orchestra",
        "ALICE LIVES FOR HER CELLO",
    ],
)
def test_an_insight_names_nothing_else_holds_no_secret_and_is_new(
    mira: Companion, known: list[Memory], work: Work, text: str
) -> None:
    assert work(mira, lambda at: {"insights": [{"text": text, "from": [at(known[0]), at(known[1])]}]}) == []


def test_no_insight_is_drawn_from_insights_alone(mira: Companion, know: Know, work: Work) -> None:
    drawn = [know(mira, f"Alice lives for {what}", "insight") for what in ("music", "the cello", "concerts")]
    one = know(mira, "Alice plays the cello in an orchestra")
    know(mira, "Alice plays cello in the orchestra")
    said = {"text": "Music is what Alice lives for"}
    changes = work(
        mira,
        lambda at: {
            "insights": [{**said, "from": [*map(at, drawn[:2])]}, {**said, "from": [at(one), at(drawn[0])]}]
        },
    )
    assert changes == []


def test_a_goal_ends_only_where_something_tells_of_it(mira: Companion, know: Know, work: Work) -> None:
    know(mira, "Alice wants to run a marathon", "goal")
    know(mira, "Alice plays the cello in an orchestra")
    know(mira, "Alice plays cello in the orchestra")
    assert work(mira, {"reviews": [{"of": 4, "status": "done"}, {"of": 4, "status": "given_up"}]}) == []
    assert Pursuit.objects.get().status == Pursuit.Status.NEW


def test_private_stale_and_closed_memories_are_never_shown(
    mira: Companion, known: list[Memory], work: Work, rehearsal: RehearsalServer
) -> None:
    marks = {"is_private": True}, {"is_stale": True}, {"closed_at": DAY}
    for one, mark in zip(known[3:], marks, strict=False):
        Memory.objects.filter(pk=one.pk).update(text=f"rosebud {one.text}", **mark)
    work(mira, {})
    [request] = rehearsal.requests()
    assert "rosebud" not in str(request)
    assert "orchestra" in str(request)


@pytest.mark.parametrize(
    "name", ["English prose", "a cut stream", "a server's failure", "a refused request", "withheld"]
)
def test_a_malformed_answer_writes_nothing_and_is_asked_for_again(
    mira: Companion, known: list[Memory], rehearsal: RehearsalServer, name: str
) -> None:
    consolidation.request_due_nights(NIGHT)
    rehearsal.script({**SOME[name], "task": "night"})
    assert done(mira, NIGHT) == []
    night = Consolidation.objects.get()
    assert (night.state, night.attempts, night.next_at) == ("waiting", 1, NIGHT + timedelta(minutes=2))
    assert night.error


@pytest.mark.parametrize("name", ["reasoning before it", "in a fence", "lists as objects", "cut half way"])
def test_an_answer_with_something_around_it_is_read(
    mira: Companion, known: list[Memory], rehearsal: RehearsalServer, name: str
) -> None:
    consolidation.request_due_nights(NIGHT)
    rehearsal.script({**SOME[name], "task": "night"})
    assert done(mira, NIGHT) == []
    night = Consolidation.objects.get()
    if name in READABLE:
        assert (night.state, night.error) == ("done", "")
    else:
        assert name in PARTLY
        assert (night.state, bool(night.error)) in (("done", False), ("waiting", True))


def test_the_answer_is_told_as_from_and_kept_apart_from_other_fields() -> None:
    answer = Answer.model_validate(
        {"merges": [], "contradictions": [], "reviews": [], "insights": [{"text": "a", "from": [1, 2]}]}
    )
    assert answer.insights[0].drawn_from == [1, 2]


@pytest.mark.parametrize(
    ("answer", "state"), [('{"merges": [], "insights": []}', "done"), ('{"said": "Nothing."}', "waiting")]
)
def test_a_list_of_which_there_is_nothing_to_say_may_be_missing_but_not_all(
    mira: Companion, known: list[Memory], rehearsal: RehearsalServer, answer: str, state: str
) -> None:
    consolidation.request_due_nights(NIGHT)
    rehearsal.script({"task": "night", "answer": answer})
    done(mira, NIGHT)
    assert Consolidation.objects.get().state == state
