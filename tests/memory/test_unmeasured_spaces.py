"""What comes to mind before anything is embedded, and how a space's everyday sentences are measured."""

from typing import Any

import pytest

from companions.models import Companion
from memory.embedding import embed_cue, embed_waiting
from memory.embedding.backlog import measure_everyday
from memory.embedding.spaces import CueVector, find_serving_space, measure_everyday_likeness
from memory.models import Space
from tests.memory.conftest import EmbeddingServer, Say, asking
from tests.memory.test_relevance import QUESTIONS, comes, tell

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]


@pytest.fixture
def told(mira: Companion, say: Say) -> Companion:
    return tell(mira, say)


@pytest.mark.parametrize(("cue", "answer"), list(QUESTIONS.items())[1:])
def test_before_anything_is_embedded_words_are_enough(told: Companion, cue: str, answer: str) -> None:
    assert answer in comes(told, cue, words_alone=True)
    assert comes(told, cue)[0] == answer


def test_a_space_that_is_not_measured_yet_counts_nothing_as_common(told: Companion) -> None:
    embed_waiting(told.pk)
    cue = embed_cue("What is my cat called?")
    assert cue
    assert measure_everyday_likeness(CueVector(cue.space, cue.vector)) == 0
    assert comes(told, "What is my cat called?")[0] == "We adopted a cat and called it Minka."


def test_a_space_is_measured_once(told: Companion, embedding_server: EmbeddingServer) -> None:
    find_serving_space()
    measure_everyday()
    asked = len(embedding_server.bodies)
    assert Space.objects.get().everyday
    measure_everyday()
    assert len(embedding_server.bodies) == asked


def test_an_embedder_that_refuses_everyday_sentences_leaves_its_space_without(
    mira: Companion, embedding_server: EmbeddingServer
) -> None:
    find_serving_space()
    embedding_server.refuses_all = True
    measure_everyday()
    asked = len(embedding_server.bodies)
    measure_everyday()  # not again for an hour
    assert len(embedding_server.bodies) == asked
    assert Space.objects.get().everyday == b""


def test_a_server_that_is_away_keeps_no_other_space_unmeasured(
    mira: Companion, embedding_server: EmbeddingServer, settings: Any
) -> None:
    settings.EMBEDDING_PREVIOUS = {
        **settings.EMBEDDING,
        "base_url": "http://127.0.0.1:9/v1",
        "model": "before",
    }
    Space.objects.create(model="before", width=4, max_tokens=100)
    find_serving_space()
    measure_everyday()
    assert {one.model: bool(one.everyday) for one in Space.objects.all()} == {
        "before": False,
        "some-model": True,
    }


def test_answers_of_another_width_are_not_kept(
    mira: Companion, embedding_server: EmbeddingServer, settings: Any
) -> None:
    settings.EMBEDDING = asking(embedding_server)
    find_serving_space()
    embedding_server.width = 6
    measure_everyday()
    assert Space.objects.get().everyday == b""
