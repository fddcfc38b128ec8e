"""What is learnt while a session lasts: twelve turns at once, with two calls."""

import json
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from pytest_django import Settings

from accounts.models import ModelCall
from companions.deletion import delete_message
from companions.models import Companion, Message, Session
from companions.sessions.digests import find_due, run
from jobs.lease import LEASE_TIME
from memory.models import Learning, Memory
from memory.store import keep_fact
from tests.companions.sessions.conftest import GARDEN, MORNING, TEA, Talk, closed
from tests.fixtures import faults
from tests.fixtures.clock import clock_at
from tests.fixtures.malformed import LEARNT
from tests.fixtures.rehearsal import RehearsalServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("rehearsal")]
TWELVE_TURNS = (*TEA, *GARDEN) * 3
NOON = MORNING + timedelta(hours=3)


def digests_asked(rehearsal: RehearsalServer) -> list[dict[str, Any]]:
    """The requests for a digest: what it teaches is read a second time as well."""
    return [
        one for one in rehearsal.requests() if str(one["messages"][0]["content"]).startswith("Task: digest")
    ]


def test_a_batch_ends_on_an_answer_for_the_next_line_may_take_back_what_was_said_last(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    talk(mira, *TWELVE_TURNS[:-1])
    talk(mira, "You have a brother who is a sailor.", at=NOON)
    session = Session.objects.get()
    run(session.pk, clock_at(NOON))
    assert "sailor" not in said_in(rehearsal.requests()[0])
    assert list(Message.objects.filter(is_learnt=False).values_list("role", flat=True)) == ["user", "user"]
    assert find_due(NOON) == []


def learnt() -> int:
    return Memory.objects.exclude(kind="said").count()


def test_a_batch_is_due_after_twelve_turns_and_costs_two_calls(mira: Companion, talk: Talk) -> None:
    talk(mira, *TWELVE_TURNS[:-2])
    assert find_due(NOON) == []
    talk(mira, "And I planted a fig tree.", "A fig tree!", at=NOON)
    session = Session.objects.get()
    assert find_due(NOON) == [session.pk]
    run(session.pk, clock_at(NOON))
    session.refresh_from_db()
    assert session.summary != ""
    assert session.summarised_until == Message.objects.latest("said_at").said_at
    assert (session.digest_at, session.digest_attempts) == (None, 0)
    assert Learning.objects.get().messages == 24
    assert ModelCall.objects.filter(purpose="learning").count() == 2
    assert not Message.objects.filter(is_learnt=False).exists()
    assert find_due(NOON) == []
    before = learnt()
    run(session.pk, clock_at(NOON))
    assert learnt() == before > 0


def test_the_next_summary_is_made_from_the_one_before_and_both_sides_words(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    talk(mira, *TWELVE_TURNS)
    session = Session.objects.get()
    run(session.pk, clock_at(NOON))
    session.refresh_from_db()
    talk(mira, *(f"We counted to {number}." for number in range(24)), at=NOON)
    run(session.pk, clock_at(NOON + timedelta(hours=1)))
    asked = str(digests_asked(rehearsal)[-1]["messages"][-1]["content"])
    assert "<kith-summary>" in asked
    assert session.summary.splitlines()[0][:40].strip("“”\"'") in asked.replace("\\n", "\n")
    assert "We counted to 0." in asked
    assert "We counted to 1." in asked
    assert "Lisbon with my sister" not in asked.split("<kith-said>")[1]


def test_a_refusal_replaces_no_summary_and_the_next_one_covers_what_it_left_out(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    talk(mira, *TWELVE_TURNS)
    refused = {"summary": "I'm sorry, but I can't help with that.", "memories": []}
    rehearsal.script({"task": "digest", "answer": json.dumps(refused)})
    session = Session.objects.get()
    run(session.pk, clock_at(NOON))
    session.refresh_from_db()
    assert (session.summary, session.summarised_until) == ("", None)
    assert not Message.objects.filter(is_learnt=False).exists()
    talk(mira, *(f"We counted to {number}." for number in range(24)), at=NOON)
    run(session.pk, clock_at(NOON + timedelta(hours=1)))
    session.refresh_from_db()
    assert session.summary
    assert TEA[0] in str(digests_asked(rehearsal)[-1]["messages"][-1]["content"])


@pytest.mark.parametrize("is_at_the_end", [False, True])
def test_what_the_companion_says_brings_two_memories_to_compare_and_what_the_user_says_four(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer, is_at_the_end: bool
) -> None:
    for number in range(6):
        keep_fact(mira.pk, f"A whale swam by, the one called w{number}.", MORNING, MORNING)
        keep_fact(mira.pk, f"An igloo was built, the one called i{number}.", MORNING, MORNING)
    talk(mira, "I saw a whale.", "I saw an igloo.", *("Hm.", "Well.") * 11)
    closed(mira, NOON) if is_at_the_end else run(Session.objects.get().pk, clock_at(NOON))
    asked = [one for one in rehearsal.requests() if "kith-known>" in str(one["messages"][-1]["content"])]
    known = str(asked[-1]["messages"][-1]["content"]).split("<kith-said>")[0]
    assert (known.count("whale"), known.count("igloo")) == (4, 2)


POINTS = {
    "claimed": (faults.begins('SELECT "companions_session"'), 1),
    "gathered": (lambda sql: "waking__shown" in sql, 1),  # what the writers of its messages were shown
    "asked": (faults.ANSWERED, 1),
    "writing": (faults.begins('INSERT INTO "memory_learning"'), 1),
    "learnt": (faults.begins('UPDATE "companions_message"'), 1),
    "written": (faults.begins('UPDATE "companions_session"'), 3),
}


@pytest.mark.parametrize("point", POINTS)
def test_a_batch_killed_at_any_point_is_learnt_from_once(mira: Companion, talk: Talk, point: str) -> None:
    talk(mira, *TWELVE_TURNS)
    session = Session.objects.get()
    with faults.killed(*POINTS[point]):
        run(session.pk, clock_at(NOON))
    assert Learning.objects.count() == learnt() == 0
    assert find_due(NOON) == []  # whoever was killed may still be at it
    run(session.pk, clock_at(NOON + LEASE_TIME))
    assert Learning.objects.count() == 1


def test_a_slow_models_two_calls_are_not_made_by_another_worker_as_well(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    talk(mira, *TWELVE_TURNS)
    session, call = Session.objects.get(), LEASE_TIME * 0.75
    with faults.killed(*POINTS["writing"]):
        run(session.pk, lambda: NOON + call * len(rehearsal.requests()))
    assert find_due(NOON + call * 2) == []


@pytest.mark.parametrize("point", ["gathered", "asked"])
def test_a_message_deleted_while_a_batch_is_learnt_from_stays_deleted(
    mira: Companion, talk: Talk, point: str
) -> None:
    messages = talk(mira, *TWELVE_TURNS, *TEA)
    session = Session.objects.get()
    delete: Callable[[], object] = partial(delete_message, messages[4], NOON)
    with faults.before(POINTS[point][0], delete):
        run(session.pk, clock_at(NOON))
    assert (learnt(), Session.objects.get().summary) == (0, "")
    for place in (12, 20):  # the same words
        delete_message(messages[place], NOON)
    run(session.pk, clock_at(NOON + LEASE_TIME))
    assert "7 years" not in str([*Memory.objects.values_list("text"), Session.objects.get().summary])


def test_nonsense_leaves_a_batch_to_be_learnt_from_later(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    talk(mira, *TWELVE_TURNS)
    session = Session.objects.get()
    rehearsal.script({"task": "digest", "answer": '{"summary": 7}'}, {"task": "digest", "answer": "no"})
    run(session.pk, clock_at(NOON))
    run(session.pk, clock_at(NOON))
    session.refresh_from_db()
    assert (session.digest_attempts, session.digest_at) == (1, NOON + timedelta(minutes=2))
    assert (learnt(), session.summary) == (0, "")
    run(session.pk, clock_at(NOON + timedelta(minutes=2)))
    assert Session.objects.get().digest_at == NOON + timedelta(minutes=6)
    run(session.pk, clock_at(NOON + timedelta(minutes=6)))
    session.refresh_from_db()
    assert (session.digest_attempts, session.digest_at) == (0, None)
    assert learnt() > 0


def test_the_end_of_a_digested_session_tells_all_of_it_and_learns_only_what_is_left(
    mira: Companion, talk: Talk
) -> None:
    messages = talk(mira, *TWELVE_TURNS)
    run(Session.objects.get().pk, clock_at(NOON))
    before = {one.pk: one.evidence for one in Memory.objects.exclude(kind="said")}
    closing = closed(mira, NOON)
    assert closing.state == "done"
    after = {one.pk: one.evidence for one in Memory.objects.exclude(kind__in=["said", "diary"])}
    assert after == before
    known = {str(one.pk) for one in messages}
    entry = closing.session.diary_entry
    assert all(one["sources"] and set(one["sources"]) <= known for one in entry.sentences)


def test_a_session_too_long_for_one_request_is_learnt_from_in_batches_before_it_ends(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer, settings: object
) -> None:
    settings.CONTEXT_TOKENS = 2000  # type: ignore[attr-defined]
    words = [f"On day {number} I walked {number + 3} miles along the river with Tom." for number in range(60)]
    messages = talk(mira, *words)
    closing = closed(mira, NOON)
    assert closing.state == "done"
    assert not Message.objects.filter(is_learnt=False).exists()
    batches = Learning.objects.filter(call__purpose="learning")
    assert sum(batches.values_list("messages", flat=True)) < len(messages)
    calls = ModelCall.objects.filter(purpose__in=["learning", "closing"]).count()
    assert calls == len(rehearsal.requests()) > 2
    for request in rehearsal.requests():
        assert len(str(request["messages"][-1]["content"])) < 2000 * 5


# -- a summary that was deleted -----------------------------------------------------------------------------------------


def counted(talk: Talk, companion: Companion, hours: int) -> None:
    """Sixteen more messages."""
    talk(companion, *(f"We counted to {number}." for number in range(24)), at=NOON + timedelta(hours=hours))


def said_in(request: dict[str, Any]) -> str:
    return str(request["messages"][-1]["content"]).split("<kith-said>")[1]


def test_a_deleted_message_has_nothing_learnt_again_and_the_next_batch_sums_up_what_is_left(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    messages = talk(mira, *TWELVE_TURNS)
    session = Session.objects.get()
    run(session.pk, clock_at(NOON))
    delete_message(messages[0], NOON)
    assert find_due(NOON) == []
    evidence = dict(Memory.objects.exclude(kind="said").values_list("pk", "evidence"))
    counted(talk, mira, 1)
    run(session.pk, clock_at(NOON + timedelta(hours=2)))
    assert len(digests_asked(rehearsal)) == 2
    shown = said_in(digests_asked(rehearsal)[-1])
    assert "Rufus" in shown
    assert "counted to 15" in shown
    session.refresh_from_db()
    assert session.summary
    assert session.summarised_until == Message.objects.latest("said_at").said_at
    assert evidence.items() <= dict(Memory.objects.values_list("pk", "evidence")).items()
    counted(talk, mira, 3)
    run(session.pk, clock_at(NOON + timedelta(hours=4)))
    assert "Rufus" not in said_in(digests_asked(rehearsal)[-1])


def test_what_does_not_fit_beside_one_batch_is_summed_up_beside_the_next(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer, settings: Settings
) -> None:
    long = [f"Day {number}: " + "we walked along the river and spoke. " * 4 for number in range(32)]
    talk(mira, *long)
    session = Session.objects.get()
    Message.objects.update(is_learnt=True)
    settings.CONTEXT_TOKENS = 5000
    days = []
    for hours in (1, 3, 5):
        counted(talk, mira, hours)
        run(session.pk, clock_at(NOON + timedelta(hours=hours + 1)))
        shown = said_in(digests_asked(rehearsal)[-1])
        assert "counted to 15" in shown
        days.append({number for number in range(32) if f"Day {number}:" in shown})
    assert len(digests_asked(rehearsal)) == 3
    assert 0 in days[0]
    assert set.union(*days) == set(range(32))
    assert not days[0] & days[1]


def test_a_session_whose_summary_was_deleted_ends_with_a_diary_that_is_shown_what_is_left(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    messages = talk(mira, *TWELVE_TURNS)
    run(Session.objects.get().pk, clock_at(NOON))
    delete_message(messages[0], NOON)
    assert closed(mira, NOON).state == "done"
    requests = [request for request in rehearsal.requests() if "Task: diary" in str(request)]
    assert "Rufus" in said_in(requests[-1])


def test_what_was_learnt_before_and_is_only_shown_again_is_not_reinforced(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    talk(mira, *TWELVE_TURNS)
    Message.objects.update(is_learnt=True)
    counted(talk, mira, 1)
    entry = LEARNT | {"text": "Alice likes green tea.", "sources": [3], "quotes": ["I like green tea"]}
    rehearsal.script({"task": "digest", "answer": json.dumps({"summary": "Tea.", "memories": [entry]})})
    run(Session.objects.get().pk, clock_at(NOON + timedelta(hours=2)))
    assert Session.objects.get().summary == "Tea."
    assert learnt() == 0
