"""The diary as its person reads it: entries with what they come from, and the end of the open session."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from companions.models import Closing, Companion, Message, Session
from companions.sessions.closing import run
from memory.models import DiaryEntry, Memory
from tests.fixtures.clock import clock_at
from tests.fixtures.turns import end_session, make_companion
from tests.pages.conftest import Told, answered

pytestmark = pytest.mark.usefixtures("module_mira")
HTMX = {"HX-Request": "true"}


def entry_of(told: Told, text: str = "We spoke of the exam.") -> DiaryEntry:
    """The session of what was told, ended, as an entry that its user's message stands behind."""
    end_session(told.companion)
    now = timezone.now()
    return DiaryEntry.objects.create(
        companion=told.companion,
        session_id=told.message.session_id,
        title="The exam <b>",
        sentences=[{"text": text, "sources": [str(told.message.pk)]}, {"text": "It rained.", "sources": []}],
        started_at=now - timedelta(hours=1),
        ended_at=now,
        emotion="curious",
        intensity=0.4,
        made_at=now,
    )


def closing_of(companion: Companion, **fields: Any) -> Closing:
    now = timezone.now()
    given = {"until_at": now, "asked_at": now, "next_at": now, **fields}
    return Closing.objects.create(companion=companion, session=companion.sessions.get(ended_at=None), **given)


def test_with_nothing_yet_the_page_says_how_entries_come(at_home: Client, mira: Companion) -> None:
    page = at_home.get(f"/companions/{mira.pk}/diary/").content.decode()
    assert "silent for 8 hours" in page
    assert "End this talk now" not in page


def test_an_entry_is_listed_and_leads_to_what_was_said(at_home: Client, told: Told) -> None:
    entry = entry_of(told)
    page = at_home.get(f"{told.path}diary/").content.decode()
    for text in ("The exam &lt;b&gt;", "curious", "We spoke of the exam."):
        assert text in page
    whole = at_home.get(f"{told.path}diary/{entry.pk}/").content.decode()
    for text in ("because you said on", "I have an exam on Friday", "no message behind it", "2 messages"):
        assert text in whole
    said = f"{told.path}diary/{entry.pk}/said/"
    assert f"{said}?message={told.message.pk}" in whole
    words = at_home.get(said).content.decode()
    assert words.index("I have an exam on Friday") < words.index("<strong>Good luck</strong>")


def test_an_entry_that_was_given_up_is_not_promised(at_home: Client, told: Told) -> None:
    entry = entry_of(told)
    DiaryEntry.objects.update(sentences=[], is_stale=True, next_at=entry.made_at)
    assert "not written yet" in at_home.get(f"{told.path}diary/").content.decode()
    DiaryEntry.objects.update(next_at=None)
    assert "could not be written" in at_home.get(f"{told.path}diary/").content.decode()
    assert "did not manage to write" in at_home.get(f"{told.path}diary/{entry.pk}/").content.decode()


def test_what_was_said_comes_in_pages_and_opens_at_a_message(at_home: Client, told: Told) -> None:
    entry = entry_of(told)
    common = {"companion": told.companion, "conversation": told.companion.conversation, "role": "user"}
    later = [
        Message(
            **common,
            session_id=entry.session_id,
            text=f"line {n}",
            said_at=entry.ended_at + timedelta(seconds=n),
        )
        for n in range(1, 60)
    ]
    Message.objects.bulk_create(later)
    said = f"{told.path}diary/{entry.pk}/said/"
    assert "line 59" not in at_home.get(said).content.decode()
    page = at_home.get(said, {"message": str(later[-1].pk)})
    assert (page.context["lines"].number, page.context["looked_for"]) == (2, later[-1])
    assert "line 59" in page.content.decode()
    assert at_home.get(said, {"message": "x"}).status_code == 404


def test_an_entry_costs_the_same_for_few_and_for_many(
    at_home: Client, told: Told, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    entry = entry_of(told)
    for sentences in (entry.sentences, entry.sentences * 10):
        DiaryEntry.objects.update(sentences=sentences)
        with django_assert_num_queries(6):  # session, user, entry, companion, messages behind it, count
            at_home.get(f"{told.path}diary/{entry.pk}/")


def test_the_diary_comes_in_pages_that_leave_nothing_out(
    at_home: Client, mira: Companion, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    now = timezone.now()
    for n in range(45):
        session = Session.objects.create(
            companion=mira, conversation=mira.conversation, started_at=now, ended_at=now
        )
        DiaryEntry.objects.create(
            companion=mira, session=session, title=f"day {n}.", started_at=now, ended_at=now, made_at=now
        )
    path, found = f"/companions/{mira.pk}/diary/", []
    cursor = ""
    while cursor is not None:
        with django_assert_num_queries(4):  # session, user, companion, entries
            response = at_home.get(path, {"cursor": cursor}, headers=HTMX)
        found += [one.title for one in response.context["entries"]]
        cursor = response.context["following"]
    assert sorted(found) == sorted(f"day {n}." for n in range(45))
    with django_assert_num_queries(6):  # and the open session with its closing
        at_home.get(path)
    assert at_home.get(path, {"cursor": "never"}).status_code == 404


def test_a_session_is_ended_by_its_button_and_followed_until_its_entry_is_there(
    at_home: Client, told: Told, rehearsal: object
) -> None:
    path = f"{told.path}diary/"
    assert "End this talk now" in at_home.get(path).content.decode()
    assert at_home.post(f"{path}end/", {"from": "diary"})["Location"] == path
    page = at_home.get(path).content.decode()
    for text in ("Mira is writing its diary", "every 3s", "Step 1 of 3"):
        assert text in page
    assert "End this talk now" not in page
    poll = at_home.get(f"{path}closing/", headers=HTMX)
    assert "HX-Refresh" not in poll
    closing = Closing.objects.get()
    run(closing.pk, clock_at(closing.next_at))
    assert at_home.get(f"{path}closing/", headers=HTMX)["HX-Refresh"] == "true"
    page = at_home.get(path).content.decode()
    assert "is writing its diary" not in page
    assert DiaryEntry.objects.get().title in page


@pytest.mark.parametrize("place", range(3, 7))  # user, companion, and what the page shows
def test_a_session_that_ends_while_the_page_looks_is_in_the_diary_or_waited_for(
    at_home: Client, told: Told, rehearsal: object, place: int
) -> None:
    closing, number = closing_of(told.companion), 0

    def end_before(execute: Callable[..., Any], *query: Any) -> Any:
        nonlocal number
        number += 1
        if number == place:
            run(closing.pk, clock_at(closing.next_at))
        return execute(*query)

    with connection.execute_wrapper(end_before):
        page = at_home.get(f"{told.path}diary/").content.decode()
    assert "every 3s" in page or DiaryEntry.objects.get().title in page
    assert "End this talk now" not in page


@pytest.mark.parametrize(
    ("drafts", "error", "step"), [({}, "", 2), ({"title": "x"}, "", 3), ({}, "malformed_answer", 1)]
)
def test_how_far_the_end_is_shows(
    at_home: Client, told: Told, drafts: dict[str, str], error: str, step: int
) -> None:
    later = timezone.now() + timedelta(minutes=20)
    closing_of(told.companion, drafts=drafts, error=error, next_at=later)
    response = at_home.get(f"{told.path}diary/")
    assert response.context["ending"].step == step
    assert ("Kith will try again at" in response.content.decode()) == bool(error)


def test_an_end_that_failed_says_what_happened_and_is_tried_again(at_home: Client, told: Told) -> None:
    failed = closing_of(told.companion, state="failed", error="provider_unavailable", attempts=8)
    page = at_home.get(f"{told.path}diary/").content.decode()
    for text in (
        "not in the diary yet",
        "The model could not be reached.",
        "Everything that was said is kept.",
    ):
        assert text in page
    assert page.count("Try again</button>") == 1
    assert "every 3s" not in page
    at_home.post(f"{told.path}diary/end/")
    assert Closing.objects.open().exclude(pk=failed.pk).count() == 1


def test_clearing_that_failed_is_tried_again_as_clearing(at_home: Client, told: Told) -> None:
    closing_of(told.companion, state="failed", error="internal_error", is_forgetful=True)
    page = at_home.get(f"{told.path}diary/").content.decode()
    assert f'action="{told.path}diary/clear/"' in page
    assert f'action="{told.path}diary/end/"' not in page


def test_a_session_is_cleared_without_remembering_after_a_word_on_what_that_means(
    at_home: Client, told: Told
) -> None:
    path = f"{told.path}diary/clear/"
    asked = at_home.get(path, headers=HTMX).content.decode()
    assert "Everything that was said in it (2 messages) will be deleted for good" in asked
    assert not Closing.objects.exists()
    at_home.post(path)
    closing = Closing.objects.get()
    assert closing.is_forgetful
    assert "is being deleted" in at_home.get(f"{told.path}diary/").content.decode()
    run(closing.pk, clock_at(closing.next_at))
    assert not Message.objects.exists()
    assert not DiaryEntry.objects.exists()


def test_nothing_said_is_nothing_to_end(at_home: Client, mira: Companion) -> None:
    page = at_home.post(f"/companions/{mira.pk}/diary/end/", follow=True).content.decode()
    assert "writing its diary" not in page
    assert not Closing.objects.exists()


def test_a_deleted_entry_goes_with_everything_said_in_its_session(at_home: Client, told: Told) -> None:
    entry = entry_of(told)
    other = answered(told.companion, "Another day", "Yes")
    path = f"{told.path}diary/{entry.pk}/delete/"
    assert (
        "along with everything that was said in its talk (2 messages)" in at_home.get(path).content.decode()
    )
    assert at_home.post(path)["Location"] == f"{told.path}diary/"
    assert not DiaryEntry.objects.exists()
    assert set(Message.objects.all()) == {other.message, other.answer}
    assert not Memory.objects.filter(text__icontains="Good luck").exists()
    assert at_home.get(path).status_code == 404


def test_an_entry_without_messages_can_be_deleted_too(at_home: Client, told: Told) -> None:
    entry = entry_of(told)
    memory = Memory.objects.create(
        companion=told.companion,
        kind="diary",
        text="The exam",
        happened_at=entry.started_at,
        learnt_at=entry.made_at,
    )
    DiaryEntry.objects.update(memory=memory)
    Message.objects.all().delete()
    at_home.post(f"{told.path}diary/{entry.pk}/delete/")
    assert not DiaryEntry.objects.exists()
    assert not Memory.objects.filter(kind="diary").exists()


def test_one_companions_entry_is_not_another_ones(at_home: Client, told: Told) -> None:
    entry, other = entry_of(told), make_companion(told.companion.user, name="Other")
    for rest in ("", "said/", "delete/"):
        assert at_home.get(f"/companions/{other.pk}/diary/{entry.pk}/{rest}").status_code == 404
