"""What is known is put beside what is said, to be compared with it."""

from datetime import UTC, timedelta
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.limits.usage import Payer
from accounts.models import ModelCall
from companions.models import Companion
from memory.embedding import embed_waiting
from memory.learning.neighbours import MAX_NEIGHBOURS, find_neighbours
from memory.models import Memory, Thread
from memory.store import keep_fact
from memory.threads import close_thread, open_thread
from tests.fixtures.embedding import embed_all
from tests.memory.conftest import DAY, EmbeddingServer

pytestmark = pytest.mark.usefixtures("module_mira")
NOW = DAY + timedelta(days=8)


def near(companion: Companion, *texts: str, **options: Any) -> list[str]:
    return [one.text for one in find_neighbours(companion.pk, texts, **{"now": NOW, "zone": UTC, **options})]


def know(companion: Companion, *texts: str, **fields: Any) -> None:
    for text in texts:
        fact = keep_fact(companion.pk, text, DAY, DAY)
        Memory.objects.of(companion.pk).filter(pk=fact.pk).update(**{"kind": "fact", **fields})


def test_what_means_the_same_comes_first_whatever_the_words(mira: Companion) -> None:
    know(mira, "Alice runs every morning.", "Alice's cat is grey.", "Alice works in a bank.")
    embed_waiting(mira.pk)
    assert near(mira, "I went jogging at sunrise")[0] == "Alice runs every morning."


def test_what_shares_words_comes_before_it_is_embedded(mira: Companion) -> None:
    know(mira, "Alice's cat is grey.", "Alice works in a bank.")
    assert near(mira, "The cat is asleep.") == ["Alice's cat is grey."]


def test_without_an_embedder_words_decide(mira: Companion, embedding_server: EmbeddingServer) -> None:
    know(mira, "Alice's cat is grey.", "Alice works in a bank.")
    embed_waiting(mira.pk)
    embedding_server.breaks_after = 0
    assert near(mira, "The cat is asleep.") == ["Alice's cat is grey."]


@pytest.mark.parametrize(
    "fields",
    [
        {"is_private": True},
        {"is_stale": True},
        {"closed_at": NOW},
        {"kind": "said"},
        {"kind": "diary"},
        {"kind": "gist"},
    ],
)
def test_what_is_not_for_a_model_or_was_not_learnt_is_never_offered(
    mira: Companion, fields: dict[str, Any]
) -> None:
    know(mira, "Alice's cat is grey.", **fields)
    embed_waiting(mira.pk)
    assert near(mira, "The cat is grey.") == []


@pytest.mark.parametrize("kind", sorted(set(Memory.Kind.values) - {"said", "diary", "gist"}))
def test_every_kind_that_is_learnt_is_offered(mira: Companion, kind: str) -> None:
    know(mira, "Alice's cat is grey.", kind=kind)
    assert near(mira, "The cat is grey.") == ["Alice's cat is grey."]


def test_what_another_companion_knows_is_never_offered(mira: Companion, tian: Companion) -> None:
    know(tian, "Alice's cat is grey.")
    embed_all()
    assert near(mira, "Alice's cat is grey.") == []


def test_every_line_has_its_turn_and_the_whole_is_bounded(mira: Companion) -> None:
    know(mira, *(f"Alice's cat number {n} is grey." for n in range(30)), "Alice works in a bank.")
    embed_waiting(mira.pk)
    texts = ["The grey cat sleeps.", "I was at the office, counting money."]
    assert "Alice works in a bank." in near(mira, *texts, limit=2)
    assert len(near(mira, *texts, limit=7)) == 7
    assert near(mira, *texts, limit=0) == near(mira) == near(mira, "", " \n") == []
    assert len(near(mira, *texts)) <= MAX_NEIGHBOURS


def test_the_companions_own_words_bring_two_each_beyond_the_limit(mira: Companion) -> None:
    know(mira, "Alice's cat is grey.", "I promised Alice a story about ships.", "Alice works in a bank.")
    embed_waiting(mira.pk)
    found = near(mira, "The cat is asleep.", limit=1, answers=["Shall I tell you that story about ships?"])
    assert found[:2] == ["Alice's cat is grey.", "I promised Alice a story about ships."]
    assert len(found) <= 3


def test_many_lines_take_three_queries(
    mira: Companion, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    know(mira, "Alice's cat is grey.", "Alice works in a bank.")
    embed_waiting(mira.pk)
    with django_assert_num_queries(3):
        assert near(mira, *(f"The cat is {'very ' * n}grey." for n in range(16)))


def test_one_request_embeds_all_lines_and_is_charged(
    mira: Companion, embedding_server: EmbeddingServer
) -> None:
    know(mira, "Alice's cat is grey.")
    embed_waiting(mira.pk)
    before = ModelCall.objects.count(), embedding_server.requests
    near(mira, "The cat.", "The bank.", payer=Payer(mira.user_id, mira.pk))
    assert (ModelCall.objects.count(), embedding_server.requests) == (before[0] + 1, before[1] + 1)


@pytest.mark.parametrize(
    "text", ["x" * 100_000, "🎉🎉", "'; DROP TABLE memory_memory; --", "\ud800\x00 cat", "and the of"]
)
def test_a_hostile_line_is_only_a_line(mira: Companion, text: str) -> None:
    know(mira, "Alice's cat is grey.")
    embed_waiting(mira.pk)
    assert len(near(mira, text)) <= 1


def test_what_is_open_between_the_two_comes_first_whatever_is_said(mira: Companion) -> None:
    keep_fact(mira.pk, "Alice likes tea.", DAY, DAY)
    photos = keep_fact(mira.pk, "I will send Alice the photos.", DAY, DAY)
    thread = open_thread(photos, None, DAY)
    assert near(mira, "Tea!", limit=1) == [photos.text, "Alice likes tea."]
    close_thread(thread, Thread.State.SETTLED, DAY)
    assert near(mira, "Tea!", limit=1) == ["Alice likes tea."]
