"""A diary entry of which something was deleted is written anew without it; what is deleted meanwhile stays deleted."""

import json
from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest

from accounts.models import ModelCall
from companions.deletion import delete_message
from companions.models import Companion, Message, Session
from companions.sessions import diary_rewrite
from companions.sessions.closing import run
from jobs.lease import MAX_ATTEMPTS
from memory.forgotten import keep_forgotten, read_words
from memory.models import DiaryEntry, Memory
from tests.companions.deletion.conftest import MARKER, NOW, SAID, diary, say, told
from tests.companions.everywhere import tables_with
from tests.companions.sessions.conftest import ask_to_close, closed
from tests.companions.sessions.test_closing import DELETED_AT, POINTS
from tests.fixtures import faults
from tests.fixtures.clock import clock_at
from tests.fixtures.rehearsal import RehearsalServer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira", "rehearsal")]
LATER = NOW + timedelta(days=1)


def test_the_entry_is_written_anew_from_what_is_left(mira: Companion, said: list[Message]) -> None:
    closed(mira, LATER)
    before = DiaryEntry.objects.get(companion=mira)
    assert MARKER in before.summary
    delete_message(said[0], LATER)
    assert tables_with(MARKER) == {}
    assert diary_rewrite.find_due(LATER) == [before.pk]
    diary_rewrite.run(before.pk, clock_at(LATER))
    entry = DiaryEntry.objects.select_related("memory").get(companion=mira)
    assert (entry.pk, entry.memory_id, entry.is_stale) == (before.pk, before.memory_id, False)
    assert "tea" in entry.summary
    assert entry.memory
    assert entry.memory.text == f"{entry.title}\n{entry.summary}"
    assert Session.objects.get(pk=entry.session_id).title == entry.title
    assert entry.call_id != before.call_id
    assert ModelCall.objects.get(pk=entry.call_id).purpose == ModelCall.Purpose.CLOSING
    assert tables_with(MARKER) == {}
    assert diary_rewrite.find_due(LATER) == []


def test_what_was_forgotten_is_not_written_again(
    mira: Companion, said: list[Message], rehearsal: RehearsalServer
) -> None:
    closed(mira, LATER)
    delete_message(said[0], LATER)
    keep_forgotten(mira.pk, [read_words("Tom drinks whisky.")], LATER)
    (entry_id,) = diary_rewrite.find_due(LATER)
    written = [{"text": text, "sources": []} for text in ("I worry: Tom drinks whisky.", "I like our talks.")]
    answer = {"title": "Tom drinks whisky", "diary": written, "emotion": "sad", "intensity": 0.4}
    rehearsal.script({"task": "diary", "answer": json.dumps(answer)})
    diary_rewrite.run(entry_id, clock_at(LATER))
    entry = DiaryEntry.objects.get(pk=entry_id)
    assert (entry.is_stale, entry.summary) == (False, "I like our talks.")
    assert "whisky" not in entry.title


def test_what_is_deleted_while_the_model_thinks_is_not_written(
    mira: Companion, said: list[Message], rehearsal: RehearsalServer
) -> None:
    diary(mira, said[0].session, told("We spoke of rain.", said[4]), told("And of tea.", said[2]))
    delete_message(said[4], LATER)
    (entry_id,) = diary_rewrite.find_due(LATER)
    with faults.before(faults.ANSWERED, partial(delete_message, said[0], LATER)):
        diary_rewrite.run(entry_id, clock_at(LATER))
    assert tables_with(MARKER) == {}
    assert DiaryEntry.objects.get(pk=entry_id).summary
    assert MARKER in str(rehearsal.requests()[0])
    assert MARKER not in str(rehearsal.requests()[-1])


@pytest.mark.parametrize("point", DELETED_AT)
def test_a_message_deleted_while_its_session_closes_stays_deleted(
    mira: Companion, said: list[Message], point: str
) -> None:
    closing_id = ask_to_close(mira, LATER)
    matches, number = POINTS[point]
    with faults.before(matches, partial(delete_message, said[0], LATER), number):
        run(closing_id, clock_at(LATER))
    for hours in (1, 2):
        run(closing_id, clock_at(LATER + timedelta(hours=hours)))
    assert DiaryEntry.objects.filter(companion=mira).count() == 1
    assert tables_with(MARKER) == {}


def test_a_profile_that_loses_a_sentence_while_a_session_closes_does_not_get_it_back(
    mira: Companion, said: list[Message]
) -> None:
    closed(mira, LATER)
    assert "memory_revision" in tables_with(MARKER)
    say(mira, "I like milk as well.", "So do I.", at=LATER)
    closing_id = ask_to_close(mira, LATER + timedelta(days=1))
    with faults.before(faults.ANSWERED, partial(delete_message, said[0], LATER)):
        run(closing_id, clock_at(LATER + timedelta(days=1)))
    for hours in (1, 2):
        run(closing_id, clock_at(LATER + timedelta(days=1, hours=hours)))
    assert tables_with(MARKER) == {}


def test_a_model_that_fails_is_asked_later_and_what_is_left_stands(
    mira: Companion, said: list[Message], rehearsal: RehearsalServer
) -> None:
    diary(mira, said[0].session, told(f"Of {MARKER}.", said[0]), told("And of tea.", said[2]))
    delete_message(said[0], LATER)
    (entry_id,) = diary_rewrite.find_due(LATER)
    rehearsal.script({"task": "any", "answer": "Nonsense.", "repeat": 100})
    now = LATER
    for attempt in range(1, MAX_ATTEMPTS + 1):
        diary_rewrite.run(entry_id, clock_at(now))
        entry = DiaryEntry.objects.get(pk=entry_id)
        assert (entry.attempts, entry.summary, entry.is_stale) == (attempt, "And of tea.", True)
        now = entry.next_at or now
    assert entry.next_at is None


def test_an_entry_without_anything_left_to_tell_goes(
    mira: Companion, said: list[Message], spread: Callable[[], Message]
) -> None:
    entry = diary(mira, said[0].session, *(told(text, one) for text, one in zip(SAID, said, strict=True)))
    delete_message(said[0], LATER)
    Message.objects.filter(companion=mira).update(is_hidden=True)
    diary_rewrite.run(entry.pk, clock_at(LATER))
    assert not DiaryEntry.objects.exists()
    assert not Memory.objects.filter(kind="diary").exists()
