"""A model asks about what was read: it sees gists with their numbers, and pages, several at once or one by one."""

from typing import Any

import pytest

from companions.memories.editing import give_document
from companions.models import Companion
from companions.tools.subjects.documents import survey
from memory.documents.lookup import find_gists, load_titles
from memory.models import Document, Memory, Recall
from providers.tokens import estimate
from tests.companions.tools.conftest import NOW, turn_of, use
from tests.memory.documents.conftest import book, write_all
from tests.memory.documents.test_page_lookup import asks

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira", "rehearsal")]
QUESTION = "Who lost the brass telescope in the wind?"


@pytest.fixture
def coast(mira: Companion) -> Document:
    """A book of ten pages with their gists, each of which tells of the wind."""
    document = give_document(mira, "The coast", book(), NOW)
    write_all(document, NOW)
    return document


def numbers(given: list[dict[str, Any]]) -> list[int]:
    return [one["page"] for one in given]


def test_a_question_shows_gists_in_the_order_of_reading_and_the_best_pages(
    mira: Companion, coast: Document, settings: Any
) -> None:
    settings.CONTEXT_TOKENS = 64_000
    given = use(turn_of(mira), "look_up", words=QUESTION)
    assert numbers(given["gists"]) == list(range(1, 11))
    assert given["gists"][0] == {
        "document": "The coast",
        "page": 1,
        "text": Memory.objects.get(page__number=1).text,
    }
    assert len(given["best_pages"]) == 6
    assert given["best_pages"][0] == {
        "document": "The coast",
        "page": 1,
        "text": coast.pages.get(number=1).text,
    }


def test_in_a_small_context_the_model_chooses_by_gists_and_reads_page_after_page(
    mira: Companion, coast: Document
) -> None:
    turn = turn_of(mira)
    given = use(turn, "look_up", words=QUESTION, document="the coast")
    assert 1 in numbers(given["gists"])
    assert numbers(given["gists"]) == sorted(numbers(given["gists"]))
    read = use(turn, "look_up", document="The coast", pages=[1])
    assert "Odran lost his brass telescope" in read["pages"][0]["text"]
    assert numbers(use(turn, "look_up", document="the coast.txt", pages=[2])["pages"]) == [2]


def test_a_misspelt_title_hides_nothing(mira: Companion, coast: Document) -> None:
    assert numbers(use(turn_of(mira), "look_up", words=QUESTION, document="The coasts")["gists"])


def test_pages_come_at_once_as_far_as_they_fit_and_the_rest_is_named(
    mira: Companion, coast: Document, settings: Any
) -> None:
    turn = turn_of(mira)
    several = use(turn, "look_up", document="The coast", pages=[4, 2, 40, 7])
    assert [*numbers(several["pages"]), *several["not_shown"]] == [4, 2, 40, 7]
    assert coast.pk in turn.shown_ids
    settings.CONTEXT_TOKENS = 64_000
    six = use(turn, "look_up", document="The coast", pages=[6, 5, 4, 3, 2, 1])
    assert numbers(six["pages"]) == [6, 5, 4, 3, 2, 1]
    assert "not_shown" not in six
    assert use(turn, "look_up", document="The coast", pages=[*range(1, 8)]).keys() == {"error"}


def test_what_a_question_showed_is_on_record_and_no_private_gist_is_shown(
    mira: Companion, coast: Document
) -> None:
    Memory.objects.filter(page__number=1).update(is_private=True)
    turn = turn_of(mira)
    given = use(turn, "look_up", words=QUESTION)
    assert 1 not in numbers(given["gists"]) + numbers(given["best_pages"])
    shown = Memory.objects.filter(page__number__in=numbers(given["gists"]))
    assert {one.pk for one in shown} <= turn.shown_ids
    assert coast.pk in turn.shown_ids
    assert Recall.objects.filter(cue=QUESTION, by=Recall.By.TOOL).count() == 1


def test_nothing_of_another_is_shown(tian: Companion, mira: Companion, coast: Document) -> None:
    assert use(turn_of(tian), "look_up", words=QUESTION) == {"gists": [], "best_pages": []}


@pytest.mark.parametrize("tokens", [0, 50, 500, 1000, 20_000])
def test_a_survey_never_gives_more_than_its_tokens(mira: Companion, coast: Document, tokens: int) -> None:
    every = load_titles(mira.pk, find_gists(mira.pk, asks(mira, QUESTION)))
    found = survey(every, mira.user.zone, tokens)
    assert estimate(str(found.gists)) + estimate(str(found.pages)) <= tokens + 20
    assert bool(found.gists) == (tokens > 100)
    assert len(found.pages) == (6 if tokens == 20_000 else len(found.pages))
    assert {id(one) for one in found.shown} <= {id(one) for one in every}
