"""What a companion remembers, seen, searched, corrected, pinned, added and deleted by its person."""

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from companions.models import Companion, Message
from companions.pasts.log_import import Line, import_log
from memory.models import Memory, Recall
from memory.store import keep_fact
from tests.fixtures.spaces import read_providers
from tests.pages.conftest import Told

pytestmark = pytest.mark.usefixtures("module_mira")
HTMX = {"HX-Request": "true"}


def texts(response: object) -> list[str]:
    return [line.memory.text for line in response.context["lines"]]  # type: ignore[attr-defined]


def test_the_newest_come_first_and_pages_leave_nothing_out(at_home: Client, mira: Companion) -> None:
    for number in range(70):
        keep_fact(mira.pk, f"fact {number}", timezone.now(), timezone.now())
    path, found = f"/companions/{mira.pk}/memories/", []
    while path:
        response = at_home.get(path, headers=HTMX)
        found += texts(response)
        following = response.context["following"]
        path = f"/companions/{mira.pk}/memories/?cursor={following}" if following else ""
    assert found == [f"fact {number}" for number in range(69, -1, -1)]


def test_a_list_costs_the_same_for_few_and_for_many(
    at_home: Client, mira: Companion, django_assert_num_queries: object
) -> None:
    for number in range(25):
        keep_fact(mira.pk, f"fact {number}", timezone.now(), timezone.now())
    # session, user, companion, pinned ones, others, where they were said; the last night; slots, blocks
    with django_assert_num_queries(9):  # type: ignore[operator]
        assert at_home.get(f"/companions/{mira.pk}/memories/").status_code == 200


@pytest.mark.parametrize("count", [2, 25])
def test_a_search_costs_the_same_for_few_and_for_many(
    count: int, at_home: Client, mira: Companion, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    lines = [Line(role="user", text=f"Tea number {number}", at=timezone.now()) for number in range(count)]
    import_log(mira, lines, timezone.now())
    read_providers()
    # session, user, companion; five make the first cue's space; entries, likeness, a closer look, memories, messages,
    # where they were said; the last night; slots, blocks
    with django_assert_num_queries(16):
        assert len(texts(at_home.get(f"/companions/{mira.pk}/memories/?q=tea"))) == count


def test_kinds_are_told_apart(at_home: Client, told: Told) -> None:
    assert texts(at_home.get(f"{told.path}memories/?kind=fact")) == ["The exam is statistics"]
    assert len(texts(at_home.get(f"{told.path}memories/?kind=said"))) == 2
    assert texts(at_home.get(f"{told.path}memories/?kind=pinned")) == []
    at_home.post(f"{told.path}memories/{told.fact.pk}/pin/")
    assert texts(at_home.get(f"{told.path}memories/?kind=pinned")) == ["The exam is statistics"]


def test_a_kind_is_searched_not_cut_out_of_what_was_found(
    at_home: Client, told: Told, mira: Companion
) -> None:
    """Forty facts fit better than what was said, and more come to mind than a page shows."""
    for number in range(40):
        keep_fact(mira.pk, f"Statistics {number}", timezone.now(), timezone.now())
    said = texts(at_home.get(f"{told.path}memories/?q=statistics&kind=said"))
    assert told.message.text in said
    assert texts(at_home.get(f"{told.path}memories/?q=statistics&kind=pinned")) == []
    at_home.post(f"{told.path}memories/{told.fact.pk}/pin/")
    assert texts(at_home.get(f"{told.path}memories/?q=statistics&kind=pinned")) == ["The exam is statistics"]


def test_words_bring_to_mind_and_looking_changes_nothing(at_home: Client, told: Told) -> None:
    response = at_home.get(f"{told.path}memories/?q=statistics", headers=HTMX)
    assert texts(response)[0] == "The exam is statistics"
    assert "words in common: statistics" in response.content.decode()
    assert not Recall.objects.exists()


@pytest.mark.parametrize("cue", ["\x00", "?" * 5, "x" * 5_000, "%F0%9F%98%80", "'; DROP TABLE"])
def test_any_words_may_be_looked_for(at_home: Client, told: Told, cue: str) -> None:
    assert at_home.get(f"{told.path}memories/", {"q": cue}).status_code == 200


@pytest.mark.parametrize("cursor", ["x", "%00", "a" * 500])
def test_a_cursor_that_was_never_given_is_not_there(at_home: Client, told: Told, cursor: str) -> None:
    assert at_home.get(f"{told.path}memories/?cursor={cursor}").status_code == 404


def test_a_fact_is_added_by_hand(at_home: Client, told: Told) -> None:
    at_home.post(f"{told.path}memories/add/", {"text": "My sister is Lena"})
    assert Memory.objects.filter(text="My sister is Lena", kind="fact").exists()
    assert "My sister is Lena" in texts(at_home.get(f"{told.path}memories/?q=sister"))


@pytest.mark.parametrize("text", ["", "  ", "a\x00b", "x" * 8_001])
def test_what_is_no_fact_is_not_kept(at_home: Client, told: Told, text: str) -> None:
    response = at_home.post(f"{told.path}memories/add/", {"text": text})
    assert response.status_code == 422
    assert response.context["form"].errors
    assert Memory.objects.filter(kind="fact").count() == 1


def test_a_memory_is_corrected_in_place(at_home: Client, told: Told) -> None:
    path = f"{told.path}memories/{told.fact.pk}/edit/"
    assert "The exam is statistics" in at_home.get(path, headers=HTMX).content.decode()
    response = at_home.post(path, {"text": "The exam is geometry"}, headers=HTMX)
    assert "The exam is geometry" in response.content.decode()
    assert texts(at_home.get(f"{told.path}memories/?q=geometry"))[0] == "The exam is geometry"
    assert at_home.post(path, {"text": ""}, headers=HTMX).status_code == 422


def test_a_memory_goes_and_its_message_is_hidden_or_goes_as_well(at_home: Client, told: Told) -> None:
    said = told.message.memory
    path = f"{told.path}memories/{said.pk}/delete/"
    assert "Delete the message as well" in at_home.get(path, headers=HTMX).content.decode()
    assert str(said.pk) in at_home.post(path, headers=HTMX)["HX-Trigger"]
    told.message.refresh_from_db()
    assert told.message.is_hidden
    answer = told.answer.memory
    at_home.post(f"{told.path}memories/{answer.pk}/delete/", {"with_message": "on"})
    assert not Message.objects.filter(pk=told.answer.pk).exists()


def test_of_a_summary_no_message_is_said_to_go(at_home: Client, told: Told) -> None:
    told.fact.sources.add(told.message)
    ways = {
        f"{told.path}memories/{told.fact.pk}/delete/": {},
        f"{told.path}memories/delete/": {"id": str(told.fact.pk)},
    }
    for kind, is_said in (("fact", True), ("insight", False)):
        Memory.objects.filter(pk=told.fact.pk).update(kind=kind)
        one, many = ways
        assert ("Delete the message as well" in at_home.get(one, headers=HTMX).content.decode()) == is_said
        asked = at_home.post(many, ways[many], headers=HTMX).content.decode()
        assert "Delete 1 memory?" in asked
        assert ("Delete the messages as well" in asked) == is_said


def test_an_empty_page_says_how_memories_come(at_home: Client, mira: Companion) -> None:
    facts = at_home.get(f"/companions/{mira.pk}/memories/").content.decode()
    assert "is remembered the moment you say it" in facts
    everything = at_home.get(f"/companions/{mira.pk}/memories/?kind=all").content.decode()
    assert "becomes a memory on its own" in everything


def test_a_memory_says_how_often_it_came_to_mind_and_how_deep_it_sits(at_home: Client, told: Told) -> None:
    path = f"{told.path}memories/{told.fact.pk}/"
    page = at_home.get(path).content.decode()
    assert "has not come to mind yet" in page
    assert "<p>short-term · importance 5 of 10</p>" in page
    assert "joy" not in page
    assert "has not come to mind yet" not in at_home.get(f"{told.path}memories/").content.decode()
    listed = {**HTMX, "HX-Current-URL": f"http://testserver{told.path}memories/"}
    assert "has not come to mind yet" not in at_home.get(path, headers=listed).content.decode()
    alone = {**HTMX, "HX-Current-URL": f"http://testserver{path}"}
    assert "has not come to mind yet" in at_home.get(path, headers=alone).content.decode()
    seen = {"times_recalled": 6, "recalled_at": timezone.now(), "joy": 0.4, "aversion": 0.05}
    Memory.objects.filter(pk=told.fact.pk).update(**seen)
    page = at_home.get(path).content.decode()
    assert "came to mind 6 times, last: Today" in page
    assert "<p>long-term ·" in page
    assert "joy 40\u00a0% · aversion 5\u00a0%" in page


def test_a_persons_word_on_importance_counts_and_corrects_nothing(at_home: Client, told: Told) -> None:
    path = f"{told.path}memories/{told.fact.pk}/edit/"
    text = "The exam is statistics"
    assert (
        "importance 9 of 10"
        in at_home.post(path, {"text": text, "importance": "9"}, headers=HTMX).content.decode()
    )
    told.fact.refresh_from_db()
    assert (told.fact.importance, told.fact.edited_at) == (9, None)
    for wrong in ("0", "11", "x", "1.5"):
        response = at_home.post(path, {"text": text, "importance": wrong}, headers=HTMX)
        assert response.status_code == 422
    at_home.post(path, {"text": text + "\r\nand geometry"}, headers=HTMX)
    told.fact.refresh_from_db()
    assert (told.fact.importance, told.fact.text) == (9, text + "\nand geometry")
    assert told.fact.edited_at
