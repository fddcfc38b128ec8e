"""A question finds the pages that it needs, and talks by their diary entries."""

from datetime import timedelta

import pytest

from companions.models import Companion
from memory.documents.lookup import MAX_PAGES, Question, find_gists, find_pages, load_titles, look_up
from memory.embedding import embed_cue, embed_waiting
from memory.models import DiaryEntry, Document, Memory
from memory.store import entry_of
from tests.fixtures.embedding import embed_all
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
        assert len(found) == MAX_PAGES
        assert number in [one.page.number for one in found if one.page], question
        assert all(one.page and one.page.text and one.title == "The coast" for one in found)


def test_the_best_are_ranked_and_named_in_two_queries_and_nothing_said_is_read(
    given: Give, mira: Companion, django_assert_num_queries: object
) -> None:
    write_all(given())
    question = asks(mira, "Who lost the brass telescope in the wind?")
    found = find_gists(mira.pk, question)
    with django_assert_num_queries(2):  # type: ignore[operator]
        every = [one.page.number for one in load_titles(mira.pk, found) if one.page]
    assert every[0] == 1
    assert sorted(every) == list(range(1, 11))
    assert [one.memory for one in look_up(mira.pk, question, 3)] == [one.memory for one in found[:3]]


def test_what_is_kept_from_models_comes_to_its_owner_alone(given: Give, mira: Companion) -> None:
    document = given()
    write_all(document)
    hidden = document.pages.get(number=1)
    Memory.objects.filter(page=hidden).update(is_private=True)
    question = "Who lost the brass telescope?"
    assert hidden not in [one.page for one in look_up(mira.pk, asks(mira, question))]
    assert look_up(mira.pk, asks(mira, question, with_private=True))[0].page == hidden
    assert [page.number for page in find_pages(mira.pk, document.title, [1, 2])] == [2]


def test_anothers_pages_are_never_looked_up(given: Give, tian: Companion) -> None:
    write_all(given())
    assert look_up(tian.pk, asks(tian, "Who lost the brass telescope?")) == []
    assert find_pages(tian.pk, "The coast", [1]) == []


def test_pages_are_found_by_title_and_numbers_and_at_most_six(given: Give, mira: Companion) -> None:
    document = given()
    pages = find_pages(mira.pk, " the COAST ", [3, 1, 3, 11, 0, -1, 2**40])
    assert [(one.document_id, one.number) for one in pages] == [(document.pk, 3), (document.pk, 1)]
    assert [one.number for one in find_pages(mira.pk, "The coast", range(10, 0, -1))] == [10, 9, 8, 7, 6, 5]
    assert find_pages(mira.pk, "The coast", [11]) == []
    Document.objects.filter(pk=document.pk).update(
        title="The coast.old"
    )  # no file's name, as a newer text is
    newer = given()
    Document.objects.filter(pk=newer.pk).update(given_at=NOON + timedelta(days=1))
    for title, found in (("The coast.old", document), ("The coast", newer), ("The coast.txt", newer)):
        assert [one.document for one in find_pages(mira.pk, title, [1])] == [found]


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


def test_pages_are_weighed_by_words_meaning_and_dates_alone(mira: Companion, given: Give) -> None:
    write_all(given(count=3))
    embed_all()
    found = find_gists(mira.pk, asks(mira, "Did I see the coast yesterday?"))
    assert found
    for one in found:
        who_and_where = {"answers", "speaker", "questions", "first_person", "length", "talks"}
        assert one.reasons["parts"].keys().isdisjoint(who_and_where)
        assert one.reasons["factors"] == {}
