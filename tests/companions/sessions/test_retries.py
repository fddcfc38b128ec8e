"""Whose work it is while a model thinks for long, and how often what fails is tried and paid for."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from asgiref.sync import async_to_sync
from pytest_django import Settings

from accounts.models import ModelCall
from companions.models import Closing, Companion, Message, Session
from companions.sessions import closing, digests
from companions.sessions.requests import close
from jobs.lease import LEASE_TIME, MAX_ATTEMPTS
from memory.models import DiaryEntry
from memory.store import keep_fact
from providers.availability import MAX_FAILURES, note_error
from providers.errors import ProviderUnavailable
from providers.selection import get_provider
from tests.companions.sessions.conftest import GARDEN, MORNING, TEA, Talk, ask_to_close
from tests.fixtures import faults
from tests.fixtures.clock import clock_at
from tests.fixtures.embedding import embed_all
from tests.fixtures.rehearsal import RehearsalServer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira", "rehearsal")]
NOON = MORNING + timedelta(hours=3)
LONG = timedelta(minutes=15)  # for one answer
TWELVE_TURNS = (*TEA, *GARDEN) * 3


class Clock:
    """Goes on as it is told to, and at each answer of the model."""

    def __init__(
        self, answer: timedelta, meanwhile: Callable[[datetime], object] = lambda _now: None
    ) -> None:
        self.now, self.answer, self.meanwhile = NOON, answer, meanwhile

    def __call__(self) -> datetime:
        return self.now

    def answer_model(self) -> None:
        self.now += self.answer
        self.meanwhile(self.now)


def test_a_closing_of_many_calls_is_one_workers_all_the_while(
    mira: Companion, talk: Talk, settings: Settings, rehearsal: RehearsalServer
) -> None:
    settings.CONTEXT_TOKENS = 2000
    talk(mira, *(f"On day {number} I walked {number + 3} miles along the river." for number in range(60)))
    closing_id, others = ask_to_close(mira, NOON), []
    clock = Clock(LONG, lambda now: others.extend(closing.find_due(now)))
    with faults.before_each(faults.ANSWERED, clock.answer_model):
        closing.run(closing_id, clock)
    assert clock.now - NOON > LEASE_TIME
    assert others == []
    assert Closing.objects.get().state == "done"


@pytest.mark.parametrize("answer", ["{}", None])
def test_whoever_was_too_slow_leaves_the_closing_to_who_took_it(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer, answer: str | None
) -> None:
    talk(mira, *TEA)
    if answer:
        rehearsal.script({"task": "diary", "answer": answer})
    closing_id = ask_to_close(mira, NOON)
    theirs = NOON + 2 * LEASE_TIME
    clock = Clock(LEASE_TIME, lambda now: Closing.objects.filter(next_at__lte=now).update(next_at=theirs))
    with faults.before(faults.begins('UPDATE "companions_closing"'), clock.answer_model, 3):
        closing.run(closing_id, clock)
    left = Closing.objects.get()
    assert (left.state, left.next_at, left.attempts, left.error) == ("waiting", theirs, 0, "")
    assert rehearsal.requests() == []


def test_a_failed_try_of_one_who_was_too_slow_is_not_counted(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    talk(mira, *TWELVE_TURNS)
    rehearsal.script({"task": "digest", "answer": "no"})
    session, theirs = Session.objects.get(), NOON + 2 * LEASE_TIME
    clock = Clock(LEASE_TIME, lambda now: Session.objects.filter(digest_at__lte=now).update(digest_at=theirs))
    with faults.before(faults.ANSWERED, clock.answer_model):
        digests.run(session.pk, clock)
    session.refresh_from_db()
    assert (session.digest_at, session.digest_attempts) == (theirs, 0)


def test_the_wait_after_a_failure_counts_from_the_end_of_the_call(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    talk(mira, *TWELVE_TURNS)
    rehearsal.script({"task": "any", "answer": "no", "repeat": 2})
    clock = Clock(LONG)
    with faults.before(faults.ANSWERED, clock.answer_model):
        digests.run(Session.objects.get().pk, clock)
    assert Session.objects.get().digest_at == clock.now + timedelta(minutes=2) == NOON + timedelta(minutes=17)
    closing_id = ask_to_close(mira, NOON)
    with faults.before(faults.ANSWERED, clock.answer_model):
        closing.run(closing_id, clock)
    assert Closing.objects.get().next_at == clock.now + timedelta(minutes=2)


# -- asked again ------------------------------------------------------------------------------------------------------


def test_asking_again_changes_nothing_of_a_claim_made_meanwhile(mira: Companion, talk: Talk) -> None:
    talk(mira, *TEA)
    closing_id = ask_to_close(mira, NOON)
    Closing.objects.update(error="malformed_answer", attempts=3, next_at=NOON + timedelta(hours=1))
    ask_to_close(mira, NOON)
    waiting = Closing.objects.get(pk=closing_id)
    assert (waiting.error, waiting.attempts, waiting.state) == ("malformed_answer", 3, "waiting")
    assert waiting.next_at == NOON + timedelta(minutes=1)


def test_asking_again_puts_no_try_off_and_brings_none_nearer_than_a_minute(
    mira: Companion, talk: Talk
) -> None:
    talk(mira, *TEA)
    closing_id = ask_to_close(mira, NOON)
    Closing.objects.update(error="malformed_answer", next_at=NOON + timedelta(seconds=30))
    ask_to_close(mira, NOON)
    assert Closing.objects.get().next_at == NOON + timedelta(seconds=30)
    Closing.objects.update(error="", next_at=NOON + LEASE_TIME)  # somebody is at it
    ask_to_close(mira, NOON)
    assert Closing.objects.get(pk=closing_id).next_at == NOON + LEASE_TIME


@pytest.mark.parametrize("is_the_persons", [True, False])
def test_what_failed_for_good_begins_anew_after_ten_minutes(
    mira: Companion, talk: Talk, is_the_persons: bool
) -> None:
    talk(mira, *TEA)
    job = close(mira, NOON)
    Closing.objects.update(state="failed", error="malformed_answer", attempts=8, ended_at=NOON)
    if not is_the_persons:
        Closing.objects.update(job=None)
        job.delete()
    again = close(mira, NOON + timedelta(minutes=9))
    assert again == close(mira, NOON + timedelta(minutes=9))
    assert (again == job) is is_the_persons
    assert Closing.objects.get().state == "failed"
    # Set with the state, as a closing fails.
    assert again.error == ("" if is_the_persons else "malformed_answer")
    anew = close(mira, NOON + timedelta(minutes=10))
    assert anew != again
    closing.run(Closing.objects.get(job=anew).pk, clock_at(NOON + timedelta(minutes=10)))
    assert DiaryEntry.objects.count() == 1


def test_what_failed_a_moment_ago_is_forgotten_at_once(mira: Companion, talk: Talk) -> None:
    talk(mira, *TEA)
    ask_to_close(mira, NOON)
    Closing.objects.update(state="failed", error="malformed_answer", ended_at=NOON)
    closing.run(ask_to_close(mira, NOON, is_forgetful=True), clock_at(NOON))
    assert not Message.objects.exists()


# -- a batch that fails again and again -------------------------------------------------------------------------------


def fail(session: Session, now: datetime) -> datetime:
    """Tries eight times; when it is over."""
    for _try in range(MAX_ATTEMPTS):
        digests.run(session.pk, clock_at(now))
        now = Session.objects.get().digest_at or now
    return now


def test_a_batch_that_failed_eight_times_is_passed_over_and_stays_recallable(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    first = talk(mira, *TWELVE_TURNS)
    rehearsal.script({"task": "digest", "answer": "no", "repeat": MAX_ATTEMPTS})
    session = Session.objects.get()
    now = fail(session, NOON)
    session.refresh_from_db()
    assert (session.digest_at, session.digest_attempts) == (None, 0)
    assert len(rehearsal.requests()) == MAX_ATTEMPTS
    assert digests.find_due(now) == []
    assert mira.memories.filter(message__in=first, closed_at=None).count() == len(first)
    talk(mira, *(f"We counted to {number}." for number in range(24)), at=now)
    digests.run(session.pk, clock_at(now))
    assert "Rufus" not in str(rehearsal.requests()[-1])
    assert "counted" in Session.objects.get().summary


@pytest.mark.parametrize("status", [503, 401, 402])
def test_where_no_model_is_to_be_had_nothing_is_passed_over_or_given_up(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer, status: int
) -> None:
    talk(mira, *TWELVE_TURNS)
    rehearsal.script({"task": "any", "error": {"status": status}, "repeat": 100})
    session = Session.objects.get()
    Session.objects.update(digest_attempts=MAX_ATTEMPTS - 1)
    digests.run(session.pk, clock_at(NOON))
    assert not Message.objects.filter(is_learnt=True).exists()
    closing_id = ask_to_close(mira, NOON)
    Closing.objects.update(attempts=MAX_ATTEMPTS - 1)
    closing.run(closing_id, clock_at(NOON))
    waiting = Closing.objects.get()
    assert (waiting.state, waiting.error) == ("waiting", "provider_unavailable")
    rehearsal.reset()
    closing.run(closing_id, clock_at(waiting.next_at))
    assert not Message.objects.filter(is_learnt=False).exists()


def test_what_the_first_closing_left_out_of_the_profile_the_next_one_asks_about(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    talk(mira, *TEA)
    rehearsal.script({"task": "understanding", "answer": "no"})
    closing_id = ask_to_close(mira, NOON)
    Closing.objects.update(attempts=closing.MAX_PART_ATTEMPTS)
    closing.run(closing_id, clock_at(NOON))
    assert Closing.objects.get().state == "done"
    talk(mira, *GARDEN, at=MORNING + timedelta(days=1))
    rehearsal.reset()
    closing.run(ask_to_close(mira, NOON + timedelta(days=1)), clock_at(NOON + timedelta(days=1)))
    asked = [str(request["messages"]) for request in rehearsal.requests()]
    (understanding,) = [text for text in asked if "Task: understanding" in text]
    assert "I moved to Lisbon" in understanding


@pytest.mark.parametrize("breaks", [{"cut_after": 0}, {"cut_after": 3}, {"end_after": 0}, {"end_after": 3}])
def test_a_prompt_on_which_the_server_crashes_is_not_sent_for_ever(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer, breaks: dict[str, int]
) -> None:
    talk(mira, *TEA)
    rehearsal.script({"task": "any", **breaks, "repeat": 100})
    closing_id = ask_to_close(mira, NOON)
    Closing.objects.update(attempts=MAX_ATTEMPTS - 1, drafts={})
    closing.run(closing_id, clock_at(NOON))
    assert (Closing.objects.get().state, Closing.objects.get().error) == ("failed", "answer_unfinished")


def test_a_closing_that_waits_for_the_breaker_still_tells_that_no_model_is_reached(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    talk(mira, *TEA)
    rehearsal.script({"task": "any", "error": {"status": 401}})
    closing_id = ask_to_close(mira, NOON)
    closing.run(closing_id, clock_at(NOON))
    for _failure in range(MAX_FAILURES):
        async_to_sync(note_error)(get_provider(), ProviderUnavailable("Down"))
    closing.run(closing_id, clock_at(NOON + timedelta(minutes=2)))
    waiting = Closing.objects.get()
    assert (waiting.error, waiting.attempts) == ("provider_unavailable", 1)
    assert waiting.next_at == NOON + timedelta(minutes=3)


def test_nothing_is_embedded_for_a_model_that_may_not_be_asked(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer, settings: Settings
) -> None:
    settings.EMBEDDING = {"base_url": rehearsal.url, "api_key": "", "model": "rehearsal-embedding"}
    keep_fact(mira.pk, "Alice likes green tea.", MORNING, MORNING)
    talk(mira, *TWELVE_TURNS)
    assert embed_all() > 0
    ModelCall.objects.all().delete()
    session = Session.objects.get()
    for _failure in range(MAX_FAILURES):
        async_to_sync(note_error)(get_provider(), ProviderUnavailable("Down"))
    digests.run(session.pk, clock_at(NOON))
    session.refresh_from_db()
    assert (session.digest_attempts, session.digest_at) == (0, NOON + timedelta(minutes=1))
    assert not ModelCall.objects.exists()
