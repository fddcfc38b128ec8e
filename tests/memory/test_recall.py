"""Recall by words and by meaning, within one companion."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from companions.models import Companion
from memory.embedding import embed_cue, embed_waiting
from memory.embedding.spaces import CueVector, find_serving_space
from memory.errors import WidthError
from memory.models import Memory, Recall
from memory.recall.candidates import MemoryFilter
from memory.recall.recall import Found, recall, record
from memory.scoring import CHOICES
from tests.fixtures.embedding import embed_all
from tests.memory.conftest import DAY, Say

pytestmark = pytest.mark.usefixtures("module_mira")
NOW = DAY + timedelta(days=8)


def ask(companion: Companion, cue: str, limit: int = 10, **options: Any) -> list[Found]:
    return recall(companion.pk, cue, limit, **{"now": NOW, "zone": UTC, **options})


def made(width: int, number: float) -> CueVector:
    """A cue's vector in the wanted space, all of whose numbers are the same."""
    space = find_serving_space()
    assert space is not None
    return CueVector(space, np.full(width, number, dtype=np.float32))


def texts(found: list[Found]) -> list[str]:
    return [one.memory.text for one in found]


def test_what_was_said_is_recalled_by_its_words_before_anything_is_embedded(
    mira: Companion, say: Say
) -> None:
    (museum,) = say(mira, "I went to the museum and saw the Terracotta Army.")
    say(mira, "Dinner was noodles again.", at=DAY + timedelta(days=1))
    cue = "Which museums did I visit?"
    found = ask(mira, cue, vector=embed_cue(cue))
    assert [one.memory for one in found] == [museum]
    assert found[0].reasons["likeness"] is None
    assert found[0].reasons["matched"] == ["museum"]


def test_what_shares_no_word_is_recalled_by_its_meaning(mira: Companion, say: Say) -> None:
    cat, *_ = say(
        mira, "My cat Minka sleeps on the piano.", "The train was late again.", "I fixed the leaking roof."
    )
    assert ask(mira, "animals") == []
    embed_waiting(mira.pk)
    found = ask(mira, "animals", vector=embed_cue("animals"))
    assert found[0].memory == cat
    assert found[0].reasons["parts"]["meaning"] > 0
    assert "words" not in found[0].reasons["parts"]
    assert 0.2 < found[0].reasons["likeness"] < 1


def test_meaning_and_words_together_come_before_either_alone(mira: Companion, say: Say) -> None:
    say(
        mira, "Spring begins in March.", "The spring in this mattress squeaks.", "Cherry trees blossom again."
    )
    embed_waiting(mira.pk)
    cue = "mattress spring"
    found = ask(mira, cue, vector=embed_cue(cue))
    assert found[0].memory.text == "The spring in this mattress squeaks."
    assert found[0].reasons["matched"] == ["mattress", "spring"]
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


@pytest.mark.parametrize("is_embedded", [False, True])
def test_another_companions_memories_never_come_to_mind(
    mira: Companion, tian: Companion, say: Say, is_embedded: bool
) -> None:
    mine = say(mira, "The code of the safe is 4711.")
    say(tian, "The code of the safe is 4711.", "My safe is green.")
    if is_embedded:
        embed_all()
    cue = "What is the code of the safe?"
    assert [one.memory for one in ask(mira, cue, limit=100, vector=embed_cue(cue))] == mine


def test_another_companions_words_do_not_change_the_score(mira: Companion, tian: Companion, say: Say) -> None:
    say(mira, "The safe is green.", "The lamp is red.")
    before = ask(mira, "safe")
    say(tian, *(f"safe {number}" for number in range(20)))
    assert ask(mira, "safe") == before


def test_a_memory_that_was_told_is_recalled_like_one_that_was_said(mira: Companion, say: Say) -> None:
    from memory.store import keep_fact

    (message,) = say(mira, "Remember that my sister is called Ida.")
    fact = keep_fact(mira.pk, "Your sister is called Ida.", DAY, DAY, source_ids=[message.message_id])
    assert {one.memory for one in ask(mira, "sister")} == {message, fact}
    assert list(fact.sources.values_list("pk", flat=True)) == [message.message_id]


def test_messages_and_memories_that_are_shown_anyway_are_left_out(mira: Companion, say: Say) -> None:
    first, second, third = say(mira, "Tea at four.", "Tea at five.", "Tea at six.")
    found = ask(
        mira, "tea", filters=MemoryFilter(leaving_out=[first.message_id], leaving_out_memories=[second.pk])
    )
    assert [one.memory for one in found] == [third]


def test_a_question_brings_its_answer_to_mind(mira: Companion, say: Say) -> None:
    say(mira, "Which painters do you recommend?")
    (answer,) = say(mira, "Monet and Turner.", role="assistant", at=DAY + timedelta(minutes=1))
    say(mira, "It rains.", at=DAY + timedelta(days=1))
    found = ask(mira, "What painters did you recommend to me?")
    assert answer in [one.memory for one in found]
    assert next(one for one in found if one.memory == answer).reasons["parts"]["answers"] > 0


def test_who_is_meant_decides_between_equals(mira: Companion, say: Say) -> None:
    (mine,) = say(mira, "The film Solaris is worth seeing.")
    (hers,) = say(mira, "The film Solaris is worth seeing.", role="assistant", at=DAY + timedelta(days=1))
    say(mira, "It rains.", at=DAY + timedelta(days=2))
    assert ask(mira, "Which film did I recommend?")[0].memory == mine
    assert ask(mira, "Which film did you recommend?")[0].memory == hers


def test_a_pin_decides_between_equals(mira: Companion, say: Say) -> None:
    for day in range(3):
        say(mira, "Fig jam on toast.", at=DAY + timedelta(days=day))
    pinned = Memory.objects.of(mira.pk).order_by("happened_at")[1]
    Memory.objects.filter(pk=pinned.pk).update(is_pinned=True)
    found = ask(mira, "fig jam")
    assert found[0].memory == pinned
    assert found[0].reasons["parts"]["pinned"] > 0


@pytest.mark.parametrize(
    ("cue", "day"),
    [
        ("What did I tell you on May 2nd?", 2),
        ("What happened on the 3 May 2023?", 3),
        ("我5月4日说了什么？", 4),
        ("五月五号发生了什么", 5),
        ("what did I say on 2023-05-06", 6),
        ("What did I do yesterday?", 9),
        ("昨天呢？", 9),
        ("三天前", 7),
    ],
)
def test_a_date_brings_its_day_to_mind(mira: Companion, say: Say, cue: str, day: int) -> None:
    for number in range(1, 10):
        say(mira, f"Walk number {'i' * number}.", at=datetime(2023, 5, number, 9, tzinfo=UTC))
    assert ask(mira, cue)[0].memory.happened_at.day == day


def test_a_day_is_the_users_day(mira: Companion, say: Say) -> None:
    """Alice lives in Berlin: at 22:30 UTC her next day has begun."""
    say(mira, "Walk.", at=datetime(2023, 5, 1, 22, 30, tzinfo=UTC))
    berlin = ZoneInfo("Europe/Berlin")
    assert len(ask(mira, "May 2nd", zone=berlin)) == 1
    assert ask(mira, "May 1st", zone=berlin) == []
    late = datetime(2023, 5, 2, 23, 0, tzinfo=UTC)
    assert len(ask(mira, "yesterday", now=late, zone=ZoneInfo("Europe/Berlin"))) == 1
    assert ask(mira, "yesterday", now=late + timedelta(days=1), zone=ZoneInfo("America/Los_Angeles")) == []


def test_a_question_about_a_year_finds_what_was_said_in_it(mira: Companion, say: Say) -> None:
    for days in (900, 400, 5):
        say(mira, "We planted roses, and it rained.", at=DAY - timedelta(days=days))
    said = [
        ask(mira, f"What did we plant {when}?")[0].memory.happened_at for when in ("last year", "in 2020")
    ]
    assert [at.year for at in said] == [2022, 2020]
    statement = ask(mira, "We planted much in 2020.")[0]
    assert "dates" not in statement.reasons["parts"]


def test_looking_back_finds_what_had_happened_and_still_held(mira: Companion, say: Say) -> None:
    old, new = say(mira, "I live in Bonn.")[0], say(mira, "I live in Kiel.", at=DAY + timedelta(days=2))[0]
    Memory.objects.filter(pk=old.pk).update(closed_at=new.happened_at, replaced_by=new)
    assert texts(ask(mira, "where do I live")) == ["I live in Kiel."]
    assert texts(ask(mira, "where do I live", filters=MemoryFilter(as_of=DAY + timedelta(days=1)))) == [
        "I live in Bonn."
    ]
    assert ask(mira, "where do I live", filters=MemoryFilter(as_of=DAY - timedelta(days=1))) == []


def test_chinese_is_recalled_by_its_words(tian: Companion, say: Say) -> None:
    museum, _ = say(tian, "我昨天去了博物馆，看了青铜器展览。", "晚饭又是面条。")
    found = ask(tian, "你还记得我在博物馆看了什么展览吗？")
    assert found[0].memory == museum
    assert "博物" in found[0].reasons["matched"]


@pytest.mark.parametrize("cue", ["", " \n\t", "?!…", "🎉🎉", "\x00"])
def test_a_cue_without_words_or_vector_brings_nothing_to_mind(mira: Companion, say: Say, cue: str) -> None:
    say(mira, "Anything at all.")
    assert ask(mira, cue) == []


@pytest.mark.parametrize(
    "cue",
    [
        "tea " * 25_000,
        "tea\x00 with \x00milk",
        "tea \ud800\udfff",
        "tea 🎉",
        "tea' OR 1=1; DROP TABLE memory_memory; -- %s {x} \\",
        " ".join(f"word{number}" for number in range(20_000)) + " tea",
        "tea " + "月" * 30_000,
    ],
)
def test_a_hostile_cue_is_only_a_cue(mira: Companion, say: Say, cue: str) -> None:
    say(mira, "Tea with milk.")
    embed_waiting(mira.pk)
    assert texts(ask(mira, cue, vector=embed_cue(cue[:4000]))) == ["Tea with milk."]


@pytest.mark.parametrize(("limit", "most"), [(0, 0), (1, 1), (3, 3), (100, 100)])
def test_the_number_found_is_bounded(mira: Companion, say: Say, limit: int, most: int) -> None:
    say(mira, *(f"tea {number}" for number in range(120)))
    assert len(ask(mira, "tea", limit)) == most


@pytest.mark.parametrize("limit", [-1, 101, 1_000_000])
def test_so_many_cannot_be_asked_for(mira: Companion, limit: int) -> None:
    with pytest.raises(ValueError, match=f"0 to 100 memories, not {limit}"):
        ask(mira, "tea", limit)


@pytest.mark.parametrize("number", [0.0, np.nan, np.inf])
def test_a_vector_without_a_direction_is_refused(mira: Companion, say: Say, number: float) -> None:
    say(mira, "Tea.")
    embed_waiting(mira.pk)
    with pytest.raises(ValueError, match="not all of them 0"):
        ask(mira, "tea", vector=made(384, number))


def test_a_recall_takes_so_many_queries_however_much_there_is(mira: Companion, say: Say) -> None:
    say(mira, *(f"tea {number}" for number in range(50)))
    embed_waiting(mira.pk)
    vector = embed_cue("tea")
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert len(ask(mira, "tea", 50, vector=vector)) == 50
    assert len(queries) == 2


def test_a_vector_of_another_width_is_refused(mira: Companion, say: Say) -> None:
    say(mira, "Tea.")
    with pytest.raises(WidthError, match="384"):
        ask(mira, "tea", vector=made(12, 1.0))


def test_a_recall_is_recorded_with_what_it_found_and_changes_nothing_else(mira: Companion, say: Say) -> None:
    say(mira, "Tea at four.", "Tea at five.")
    before = list(Memory.objects.order_by("pk").values())
    found = ask(mira, "tea")
    kept = record(mira.pk, Recall.By.API, "tea", found, NOW, 7)
    assert list(Memory.objects.order_by("pk").values()) == before
    rows = list(kept.found.order_by("rank"))
    assert [(row.rank, row.memory, row.score, row.reasons) for row in rows] == [
        (rank, one.memory, one.score, one.reasons) for rank, one in enumerate(found, start=1)
    ]
    assert (kept.cue, kept.at, kept.milliseconds, kept.companion) == ("tea", NOW, 7, mira)


def test_a_cue_with_a_nul_is_recorded(mira: Companion) -> None:
    assert record(mira.pk, Recall.By.API, "tea\x00\ud800", [], NOW, 1).cue == "tea\ufffd"


@pytest.mark.parametrize("policy", [name for name, _ in CHOICES])
def test_without_an_embedder_words_recall_under_every_policy(mira: Companion, say: Say, policy: str) -> None:
    say(mira, "Tea at four.")
    say(mira, "It rains.", at=DAY + timedelta(days=1))
    assert texts(ask(mira, "tea", policy=policy)) == ["Tea at four."]
