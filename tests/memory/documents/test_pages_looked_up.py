"""A question finds the pages that it needs, at once or one by one, and talks by their diary entries."""

from datetime import timedelta

import pytest

from companions.models import Companion
from memory.documents.looking_up import AS_PAGES, MOST_PAGES, Question, find_page, look_up, one_by_one
from memory.embedding import embed_cue, embed_waiting
from memory.keeping import entry_of
from memory.models import DiaryEntry, Memory
from tests.memory.conftest import Say
from tests.memory.documents.conftest import NOON, Give, write_all

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("rehearsal")]


def asks(mira: Companion, text: str, **more: object) -> Question:
    return Question(
        text=text,
        now=NOON,
        zone=mira.user.zone,
        vector=embed_cue(text),
        names=mira.names,
        **more,  # type: ignore[arg-type]
    )


WANTED = {
    "Who dropped a spyglass into the sea?": 1,
    "How much money did somebody get for a horse?": 2,
    "Where did the old letters lie?": 3,
    "By how many votes did the politician fail?": 5,
    "Which animal did the musician have at the marriage?": 8,
}


def test_a_question_in_other_words_finds_the_page(given: Give, mira: Companion) -> None:
    write_all(given())
    embed_waiting(mira.pk)
    for question, number in WANTED.items():
        found = look_up(mira.pk, asks(mira, question))
        assert len(found) == MOST_PAGES
        assert number in [one.page.number for one in found if one.page], question
        assert all(one.page and one.page.text and one.title == "The coast" for one in found)


def test_one_by_one_ends_with_the_budget_and_reads_no_page_before_it_is_asked_for(
    given: Give, mira: Companion, django_assert_num_queries: object
) -> None:
    write_all(given())
    embed_waiting(mira.pk)
    question = asks(mira, "Who lost the brass telescope?")
    every = list(one_by_one(mira.pk, question, 100_000))
    assert len(every) == 10
    first_two = sum(one.tokens for one in every[:2])
    assert [one.page for one in one_by_one(mira.pk, question, first_two)] == [one.page for one in every[:2]]
    assert list(one_by_one(mira.pk, question, 10)) == []
    going = one_by_one(mira.pk, question, 100_000)
    assert next(going).page == every[0].page
    with django_assert_num_queries(2):  # type: ignore[operator]  # its page, and no diary entry
        assert next(going).page == every[1].page
    going.close()


def test_what_is_kept_from_models_comes_to_its_owner_alone(given: Give, mira: Companion) -> None:
    document = given()
    write_all(document)
    hidden = document.pages.get(number=1)
    Memory.objects.filter(page=hidden).update(is_private=True)
    question = "Who lost the brass telescope?"
    assert hidden not in [one.page for one in look_up(mira.pk, asks(mira, question))]
    assert look_up(mira.pk, asks(mira, question, with_private=True))[0].page == hidden


def test_anothers_pages_are_never_looked_up(given: Give, tian: Companion) -> None:
    write_all(given())
    assert look_up(tian.pk, asks(tian, "Who lost the brass telescope?")) == []
    assert find_page(tian.pk, "The coast", 1) is None


def test_a_page_is_found_by_title_and_number(given: Give, mira: Companion) -> None:
    document = given()
    page = find_page(mira.pk, " the COAST ", 3)
    assert page is not None
    assert (page.document_id, page.number) == (document.pk, 3)
    assert find_page(mira.pk, "The coast", 11) is None


def test_a_diary_entry_leads_to_what_was_said_in_its_session(mira: Companion, say: Say) -> None:
    said = say(mira, "My sister Lena rode to Bremen", "It rained all day", "Nobody may know this")
    Memory.objects.filter(pk=said[2].pk).update(is_private=True)
    session = mira.sessions.get()
    text, at = "We spoke of a journey by bicycle.", NOON - timedelta(days=1)
    memory = Memory.objects.create(
        companion=mira,
        kind="diary",
        text=text,
        happened_at=at,
        learnt_at=at,
        entry=entry_of(text, "", at, mira.user.zone),
    )
    entry = DiaryEntry.objects.create(
        companion=mira, session=session, title="A ride", memory=memory, started_at=at, ended_at=at, made_at=at
    )
    [found] = look_up(mira.pk, asks(mira, "What was that journey?"))
    assert (found.entry, found.title, found.page) == (entry, "A ride", None)
    assert [one.text for one in found.said] == ["My sister Lena rode to Bremen", "It rained all day"]


def test_pages_are_weighed_by_words_meaning_and_dates_alone() -> None:
    assert AS_PAGES.words
    assert AS_PAGES.meaning
    assert AS_PAGES.dates
    assert not AS_PAGES.surroundings
