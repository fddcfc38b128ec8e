"""What workers ask of a model beside the talk waits for tomorrow's tokens; no try is counted for that."""

from datetime import datetime, timedelta

import pytest

from accounts.models import ModelCall, User
from companions.deletion import delete_message
from companions.models import Closing, Companion, Session
from companions.sessions import closing, diary_rewrite, digests
from memory.models import DiaryEntry
from tests.companions.sessions.conftest import GARDEN, MORNING, TEA, Talk, ask_to_close, closed
from tests.fixtures.clock import clock_at
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.rest import Api

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("rehearsal")]
NOON = MORNING + timedelta(hours=3)
EVENING = MORNING + timedelta(hours=12)
LIMIT = 1_000_000


def spend(user: User, tokens: int) -> None:
    User.objects.filter(pk=user.pk).update(tokens_per_day=LIMIT, time_zone="UTC")
    ModelCall.objects.all().delete()
    ModelCall.objects.create(
        user=user, purpose="answer", provider="x", model="x", prompt_tokens=tokens, started_at=NOON
    )


@pytest.fixture
def midnight() -> datetime:
    return (MORNING + timedelta(days=1)).replace(hour=0)


def test_a_digest_waits_for_tomorrow_where_half_of_the_day_is_spent(
    mira: Companion, talk: Talk, alice: User, rehearsal: RehearsalServer, midnight: datetime
) -> None:
    talk(mira, *(*TEA, *GARDEN) * 3)
    spend(alice, LIMIT // 2 + 1)
    Session.objects.update(digest_attempts=2)
    digests.run(Session.objects.get().pk, clock_at(NOON))
    session = Session.objects.get()
    assert (session.digest_at, session.digest_attempts, session.summary) == (midnight, 2, "")
    assert rehearsal.requests() == []
    digests.run(session.pk, clock_at(session.digest_at))
    assert (Session.objects.get().digest_at, Session.objects.get().digest_attempts) == (None, 0)
    assert len(rehearsal.requests()) == 2  # what it learns is read again


def test_a_silent_session_is_closed_tomorrow_where_half_of_the_day_is_spent(
    mira: Companion, talk: Talk, alice: User, rehearsal: RehearsalServer, midnight: datetime
) -> None:
    talk(mira, *TEA)
    closing_id = ask_to_close(mira, EVENING)
    Closing.objects.update(job=None)  # as those of silent sessions are, which nobody asks for
    spend(alice, LIMIT // 2 + 1)
    waiting = Closing.objects.get(pk=closing_id)
    closing.run(waiting.pk, clock_at(EVENING))
    waiting.refresh_from_db()
    assert (waiting.state, waiting.next_at, waiting.attempts) == ("waiting", midnight, 0)
    assert rehearsal.requests() == []
    closing.run(waiting.pk, clock_at(waiting.next_at))
    assert Closing.objects.get().state == "done"


def test_a_closing_that_was_asked_for_takes_what_is_left(mira: Companion, talk: Talk, alice: User) -> None:
    talk(mira, *TEA)
    spend(alice, LIMIT - 1)
    assert closed(mira, NOON).state == "done"


def test_a_closing_without_remembering_needs_no_tokens(mira: Companion, talk: Talk, alice: User) -> None:
    talk(mira, *TEA)
    spend(alice, LIMIT)
    closing.run(ask_to_close(mira, NOON, is_forgetful=True), clock_at(NOON))
    assert Closing.objects.get().state == "done"


def test_the_job_of_a_closing_says_that_it_waits_for_tokens(
    as_alice: Api, mira: Companion, talk: Talk, alice: User, rehearsal: RehearsalServer, midnight: datetime
) -> None:
    talk(mira, *TEA)
    spend(alice, LIMIT)
    job = as_alice.post(f"/companions/{mira.pk}/close").json()["job"]
    assert (job["state"], job["error"]) == ("waiting", None)
    Closing.objects.update(next_at=NOON)
    waiting = Closing.objects.get()
    closing.run(waiting.pk, clock_at(NOON))
    waiting.refresh_from_db()
    assert (waiting.next_at, waiting.attempts) == (midnight, 0)
    address = f"/companions/{mira.pk}/jobs/{job['id']}"
    assert as_alice.get(address).json()["job"] == {**job, "error": "no_tokens_left"}
    assert rehearsal.requests() == []
    closing.run(waiting.pk, clock_at(waiting.next_at))
    assert as_alice.get(address).json()["job"] == {**job, "state": "done", "done": 1}


def test_a_diary_is_written_anew_tomorrow_where_half_of_the_day_is_spent(
    mira: Companion, talk: Talk, alice: User, rehearsal: RehearsalServer, midnight: datetime
) -> None:
    messages = talk(mira, *TEA)
    closed(mira, NOON)
    delete_message(messages[0], NOON)
    spend(alice, LIMIT // 2 + 1)
    asked = len(rehearsal.requests())
    diary_rewrite.run(DiaryEntry.objects.get().pk, clock_at(NOON))
    entry = DiaryEntry.objects.get()
    assert (entry.is_stale, entry.next_at, entry.attempts) == (True, midnight, 0)
    assert len(rehearsal.requests()) == asked
    diary_rewrite.run(entry.pk, clock_at(midnight))
    assert not DiaryEntry.objects.get().is_stale
