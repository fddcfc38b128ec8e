"""What a companion does not know yet, of what is observed."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.limits.usage import Payer
from accounts.models import ModelCall
from companions.models import Companion
from memory.embedding import embed_waiting
from memory.models import Memory
from memory.recall.novelty import MAX_SAME, Novelty, find_novel
from memory.recall.traits import sign_facts
from memory.store import keep_fact
from tests.fixtures.embedding import embed_all
from tests.memory.conftest import DAY, EmbeddingServer, Say

pytestmark = pytest.mark.usefixtures("module_mira")
NOW = DAY + timedelta(days=8)


def news(companion: Companion, *observations: str, **options: Any) -> Novelty:
    return find_novel(companion.pk, observations, **{"now": NOW, "zone": UTC, **options})


def test_the_new_come_back_in_order_and_the_known_with_the_memory_that_knows_them(
    mira: Companion, say: Say
) -> None:
    walnuts, moved = say(mira, "I am allergic to walnuts.", "I moved to Berlin last year.")
    embed_waiting(mira.pk)
    told = news(
        mira,
        "Ida plays the cello.",
        "I'm allergic to walnuts!",
        "The boat leaks.",
        "Last year I moved to Berlin.",
    )
    assert told.new == ["Ida plays the cello.", "The boat leaks."]
    assert [(one.observation, one.memory) for one in told.known] == [
        ("I'm allergic to walnuts!", walnuts),
        ("Last year I moved to Berlin.", moved),
    ]
    assert all(0.95 <= one.likeness < 1 for one in told.known)
    assert told.by_meaning


def test_equal_words_are_known_without_an_embedder_and_before_they_are_embedded(
    mira: Companion, say: Say, embedding_server: EmbeddingServer
) -> None:
    (tea,) = say(mira, "Tea at four.")
    embedding_server.breaks_after = 0
    told = news(mira, "Tea at four.", "Tea at five.")
    assert told.new == ["Tea at five."]
    assert [(one.memory, one.likeness) for one in told.known] == [(tea, 1.0)]
    assert not told.by_meaning


@pytest.mark.parametrize(
    ("known", "observed"),
    [
        ("My rent is 900 euros.", "My rent is 950 euros."),
        ("I am allergic to walnuts.", "I am not allergic to walnuts."),
        ("The exam is on 3 May.", "The exam is on 4 May."),
        ("My sister is called Ida.", "My brother is called Ida."),
        ("My sister is called Ida.", "My sister is called Eva."),
        ("I had noodles yesterday.", "I had noodles yesterday."),  # said eight days apart
    ],
)
def test_what_differs_in_what_it_tells_is_new(mira: Companion, say: Say, known: str, observed: str) -> None:
    say(mira, known)
    embed_waiting(mira.pk)
    assert news(mira, observed).new == [observed]


def test_the_same_day_in_other_words_is_the_same(mira: Companion, say: Say) -> None:
    say(mira, "I had noodles yesterday.")
    (again,) = say(mira, "I had noodles yesterday.", at=NOW - timedelta(hours=3))
    embed_waiting(mira.pk)
    assert [one.memory for one in news(mira, "I had noodles yesterday.").known] == [again]


def test_of_what_was_said_ten_thousand_times_only_the_newest_are_looked_at(mira: Companion) -> None:
    ate = "I had noodles yesterday."
    days = [NOW - timedelta(days=days) for days in range(MAX_SAME + 1)]
    same = [Memory(companion=mira, kind="fact", text=ate, happened_at=day, learnt_at=day) for day in days]
    Memory.objects.bulk_create(same)
    tea = keep_fact(mira.pk, "Tea at four.", NOW - timedelta(days=99), NOW)
    told = news(mira, ate, "Tea at four.")
    assert [one.memory for one in told.known] == [same[0], tea]
    assert [one.memory for one in news(mira, ate, now=days[-2]).known] == [same[-2]]
    assert news(mira, ate, now=days[-1]).new == [ate]


def test_a_fact_that_no_longer_holds_is_news_again(mira: Companion) -> None:
    fact = keep_fact(mira.pk, "I live in Bonn.", DAY, DAY)
    embed_waiting(mira.pk)
    assert news(mira, "I live in Bonn.").new == []
    Memory.objects.filter(pk=fact.pk).update(closed_at=NOW)
    assert news(mira, "I live in Bonn.").new == ["I live in Bonn."]


def test_what_another_companion_knows_is_news(mira: Companion, tian: Companion, say: Say) -> None:
    say(tian, "The code of the safe is 4711.")
    embed_all()
    assert news(mira, "The code of the safe is 4711.").new == ["The code of the safe is 4711."]


def test_the_threshold_decides(mira: Companion, say: Say) -> None:
    say(mira, "Dinner was noodles again.")
    embed_waiting(mira.pk)
    observed = "We had noodles for dinner again."
    assert news(mira, observed).new == [observed]
    assert news(mira, observed, threshold=0.85).new == []


def test_each_text_comes_back_once_and_what_says_nothing_not_at_all(mira: Companion, say: Say) -> None:
    say(mira, "Tea.")
    told = news(mira, "Milk.", "", " \n", "Milk.", "Tea.", "Tea.", "\x00")
    assert told.new == ["Milk."]
    assert [one.observation for one in told.known] == ["Tea."]


def test_a_hundred_observations_take_four_queries(
    mira: Companion,
    say: Say,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    monkeypatch.setattr("providers.selection.FRESH_SECONDS", 3600.0)  # however slow the machine is
    say(mira, *(f"Letter {'i' * number}." for number in range(60)))
    embed_waiting(mira.pk)
    observed = [f"Letter {'i' * number}!" for number in range(100)]
    news(mira, "Tea.")  # which spaces and embedders there are is known from now on
    with django_assert_num_queries(4):  # equal texts, the nearest, these, their messages
        assert news(mira, *observed).known


def test_one_request_embeds_all_observations(
    mira: Companion, say: Say, embedding_server: EmbeddingServer
) -> None:
    say(mira, "Tea.")
    embed_waiting(mira.pk)
    before = ModelCall.objects.count(), embedding_server.requests
    news(mira, *(f"{'Milk ' * number}." for number in range(1, 60)), payer=Payer(mira.user_id, mira.pk))
    assert (ModelCall.objects.count(), embedding_server.requests) == (before[0] + 1, before[1] + 1)


def test_a_server_that_answers_in_another_width_leaves_equal_texts(
    mira: Companion, say: Say, embedding_server: EmbeddingServer
) -> None:
    say(mira, "Tea.")
    embed_waiting(mira.pk)
    embedding_server.width = 7
    told = news(mira, "Tea.", "Milk.")
    assert (told.new, [one.observation for one in told.known], told.by_meaning) == (
        ["Milk."],
        ["Tea."],
        False,
    )


@pytest.mark.parametrize("threshold", [-0.1, 1.1, np.nan, 95])
def test_a_likeness_that_is_none_is_refused(mira: Companion, threshold: float) -> None:
    with pytest.raises(ValueError, match="0 to 1"):
        news(mira, "Tea.", threshold=threshold)


def test_more_than_a_hundred_observations_are_refused(mira: Companion) -> None:
    with pytest.raises(ValueError, match="100 observations at most"):
        news(mira, *map(str, range(101)))


@pytest.mark.parametrize(
    "observed",
    [
        "x" * 100_000,
        "🎉🎉",
        "'; DROP TABLE memory_memory; --",
        "ฉันชอบชา",
        "我喜欢喝茶",
        "and the of",
        "\ud800 tea",
    ],
)
def test_a_hostile_observation_is_only_an_observation(mira: Companion, say: Say, observed: str) -> None:
    say(mira, "Tea.")
    embed_waiting(mira.pk)
    assert len(news(mira, observed).new) == 1


def test_days_numbers_and_denials_tell_texts_apart() -> None:
    may = datetime(2023, 5, 4, 12, tzinfo=UTC)
    assert sign_facts("Yesterday I paid 900.", may) == sign_facts("On 2023-05-03 I paid 900", may)
    assert sign_facts("I don't smoke.", may) == sign_facts("I do not smoke", may)
    assert sign_facts("我不喝酒", may) != sign_facts("我喝酒", may)
    assert sign_facts("我沒有貓", may) != sign_facts("我有貓", may)
    assert sign_facts("Walk ２ km", may) == sign_facts("Walk 2 km", may)
