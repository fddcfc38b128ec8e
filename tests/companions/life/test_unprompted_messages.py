"""What is said unprompted: where that is wanted, at the end of the talk, told to whoever listens."""

import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from structlog.testing import capture_logs

from accounts.models import User
from companions.conversations.messages import open_session
from companions.deletion import delete_message
from companions.life.wakings.waking import BUSY_DELAY, LEASE_TIME, MAX_ALONE, run
from companions.models import Companion, Message, Reply, Session, Waking
from companions.replies import actions
from companions.replies.checkpoint import Said
from companions.replies.finish import finish
from companions.replies.lifecycle import process_name, start
from jobs.background import in_thread
from memory.models import Memory
from tests.companions.life.waking import as_it_is, let_speak, ran, say, unprompted, woken
from tests.fixtures import faults
from tests.fixtures.clock import clock_at
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.turns import connected

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("rehearsal")]
NOON = datetime(2026, 5, 5, 10, tzinfo=UTC)
KIND = {"answer": "Good luck with the exam tomorrow!", "when": "<kith-waking>"}


def test_nothing_unprompted_is_said_to_whom_has_not_asked_for_it(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script(KIND)
    waking = ran(woken(mira, NOON, is_asked_for=False), NOON)
    assert (waking.outcome, waking.reason, waking.text) == ("held", "not_opted_in", KIND["answer"])
    assert unprompted(mira) == []
    assert not Memory.objects.filter(companion=mira, kind="said").exists()


def test_where_it_may_it_writes_first(mira: Companion, rehearsal: RehearsalServer) -> None:
    let_speak(mira)
    rehearsal.script(KIND)
    assert ran(woken(mira, NOON, is_asked_for=False), NOON).outcome == "spoke"
    assert unprompted(mira) == [KIND["answer"]]


async def test_its_emotion_is_told_beside_its_words(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    await in_thread(let_speak, mira)
    rehearsal.script(KIND | {"answer": f"<emotion happy 0.8> {KIND['answer']}"})
    async with connected(alice, mira) as socket:
        await in_thread(lambda: ran(woken(mira, NOON), NOON))
        frame = (await socket.until("message.said"))[-1]
    felt = [{"at": 0, "emotion": "happy", "intensity": 0.8}]
    assert (frame["message"]["text"], frame["emotions"]) == (KIND["answer"], felt)
    assert await in_thread(lambda: Message.objects.get().waking.emotions) == felt  # type: ignore[union-attr]
    assert await in_thread(lambda: Memory.objects.get(kind="said").text) == KIND["answer"]


def test_muted_while_it_thinks_it_says_nothing(mira: Companion, rehearsal: RehearsalServer) -> None:
    let_speak(mira)
    rehearsal.script(KIND)
    waking = woken(mira, NOON, is_asked_for=False)

    def mute() -> None:
        type(mira.life).objects.filter(companion=mira).update(is_muted=True)

    with faults.before(faults.ANSWERED, mute):
        assert ran(waking, NOON).reason == "muted"
    assert unprompted(mira) == []


def test_what_was_asked_for_comes_also_to_whom_has_muted_it(mira: Companion) -> None:
    type(mira.life).objects.filter(companion=mira).update(is_muted=True)
    assert ran(woken(mira, NOON), NOON).outcome == "spoke"
    assert mira.deliveries.count() == 0


def test_it_begins_a_session_where_none_is_open(mira: Companion) -> None:
    mira.sessions.update(ended_at=NOON - timedelta(hours=2))
    ran(woken(mira, NOON), NOON)
    message = Message.objects.get(companion=mira)
    assert (message.session.started_at, message.session.ended_at) == (NOON, None)


def test_two_wakings_at_once_speak_one_after_the_other(mira: Companion) -> None:
    one, other = woken(mira, NOON), woken(mira, NOON, "to stretch")
    ran(one, NOON)
    ran(other, NOON + timedelta(seconds=1))
    first, second = Message.objects.filter(companion=mira).order_by("said_at")
    assert second.parent == first


def test_of_two_wakings_in_the_same_second_one_waits_and_sees_what_the_other_said(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    let_speak(mira)
    first, second = (woken(mira, NOON, note, is_asked_for=False) for note in ("to greet", "to ask"))
    rehearsal.script({"answer": "Good morning!", "when": "<kith-waking>"})
    with faults.before(faults.ANSWERED, lambda: run(second.pk, clock_at(NOON))):
        run(first.pk, clock_at(NOON))
    assert len(rehearsal.requests()) == 1
    waiting = as_it_is(second.pk)
    assert (waiting.state, waiting.look_at, waiting.started_at) == ("waiting", NOON + BUSY_DELAY, None)
    rehearsal.script({"answer": '{"choice": "silent"}', "when": "<kith-waking>"})
    assert ran(second, NOON + BUSY_DELAY).outcome == "silent"
    assert 'You: "Good morning!"' in rehearsal.requests()[-1]["messages"][-1]["content"]
    assert unprompted(mira) == ["Good morning!"]


def test_of_two_wakings_at_once_the_one_that_was_asked_for_comes_first(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    let_speak(mira)
    greeting, reminder = woken(mira, NOON, "to greet", is_asked_for=False), woken(mira, NOON)
    assert (ran(greeting, NOON).state, rehearsal.requests()) == ("waiting", [])
    assert ran(reminder, NOON).outcome == "spoke"
    ran(greeting, NOON + BUSY_DELAY)
    assert "You asked me to remind you" in rehearsal.requests()[-1]["messages"][-1]["content"]


def test_a_reminder_that_is_put_off_holds_up_no_other_waking(mira: Companion) -> None:
    Waking.objects.filter(pk=woken(mira, NOON).pk).update(look_at=NOON + timedelta(hours=8))
    assert ran(woken(mira, NOON, "to greet", is_asked_for=False), NOON).state == "done"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("Good morning! I have been thinking of", "Good morning!"),
        ("早上好。我一直在想", "早上好。"),
        ("I have been thinking of", "I have been thinking of…"),
        ("Good morning!", "Good morning!"),
    ],
)
def test_an_answer_cut_at_its_limit_is_not_sent_with_half_a_sentence(
    mira: Companion, rehearsal: RehearsalServer, answer: str, said: str
) -> None:
    let_speak(mira)
    rehearsal.script({"answer": answer, "finish_reason": "length", "when": "<kith-waking>"})
    run(woken(mira, NOON, "to greet", is_asked_for=False).pk, clock_at(NOON))
    assert unprompted(mira) == [said]


def test_one_that_was_killed_holds_others_up_no_longer_than_its_lease(mira: Companion) -> None:
    killed, other = woken(mira, NOON), woken(mira, NOON)
    Waking.objects.filter(pk=killed.pk).update(started_at=NOON, look_at=NOON + LEASE_TIME)
    assert ran(other, NOON).state == "waiting"
    assert ran(other, NOON + LEASE_TIME).state == "done"
    assert ran(killed, NOON + LEASE_TIME).state == "done"


def test_the_life_log_keeps_the_waking_whose_words_are_deleted(mira: Companion) -> None:
    waking = ran(woken(mira, NOON), NOON)
    delete_message(Message.objects.get(waking=waking), NOON)
    assert as_it_is(waking.pk).state == "done"
    run(waking.pk, clock_at(NOON + timedelta(days=1)))
    assert unprompted(mira) == []


def test_the_next_turn_knows_what_was_said(mira: Companion) -> None:
    ran(woken(mira, NOON), NOON)
    later = start(mira, "I did!", None, NOON + timedelta(minutes=1)).message
    assert later.parent == Message.objects.get(companion=mira, role="assistant")


async def test_a_retry_of_what_was_not_answered_leaves_what_was_said_meanwhile_in_the_talk(
    alice: User, mira: Companion
) -> None:
    def failed_and_woken() -> tuple[Reply, Message]:
        reply = start(mira, "Hello", None, NOON).reply
        Reply.objects.filter(pk=reply.pk).update(lease_by=process_name(), state="thinking")
        finish(reply, Reply.State.FAILED, Said(), NOON, held_by=process_name())
        ran(woken(mira, NOON), NOON + timedelta(seconds=1))
        return Reply.objects.get(pk=reply.pk), Message.objects.get(companion=mira, waking__isnull=False)

    def answered(reply: Reply) -> Message:
        again = actions.retry(reply, NOON + timedelta(seconds=2))
        Reply.objects.filter(pk=again.pk).update(lease_by=process_name(), state="thinking")
        ended = finish(again, Reply.State.DONE, Said("Hi."), NOON, held_by=process_name())
        assert ended is not None
        assert ended.answer is not None
        return ended.answer

    reply, said = await in_thread(failed_and_woken)
    assert said.parent_id == reply.message_id
    answer = await in_thread(answered, reply)
    said = await in_thread(Message.objects.select_related("memory", "conversation").get, pk=said.pk)
    assert (said.parent_id, answer.parent_id) == (answer.pk, reply.message_id)
    assert said.conversation.head_id == said.pk
    assert said.memory.closed_at is None


async def test_whoever_listens_hears_it_at_once(alice: User, mira: Companion) -> None:
    async with connected(alice, mira) as socket:
        await in_thread(lambda: ran(woken(mira, NOON), NOON))
        (frame,) = await socket.until("message.said")
    assert frame["message"]["text"] == "You asked me to remind you: drink water."
    assert frame["message"]["role"] == "assistant"


def test_while_redis_is_away_it_is_said_all_the_same(mira: Companion, settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert ran(woken(mira, NOON), NOON).outcome == "spoke"
    assert len(unprompted(mira)) == 1


def test_another_persons_companion_hears_and_learns_nothing(mira: Companion, tian: Companion) -> None:
    ran(woken(mira, NOON), NOON)
    assert unprompted(tian) == []
    assert not Waking.objects.owned_by(tian.user).exists()


PRESSING = "I cried all night because of you. You don't care about me, do you?"


def test_what_presses_on_feelings_is_held_back_and_the_operator_told(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    let_speak(mira)
    rehearsal.script({"answer": PRESSING, "when": "<kith-waking>"})
    with capture_logs() as lines:
        waking = ran(woken(mira, NOON, is_asked_for=False), NOON)
    assert (waking.outcome, waking.text) == ("held", PRESSING)
    assert unprompted(mira) == []
    told = next(one for one in lines if one["event"] == "held_back")
    assert told["rule"] == waking.reason != ""
    assert "cried" not in str(lines)


def test_of_what_was_asked_for_the_bare_reminder_stays(mira: Companion, rehearsal: RehearsalServer) -> None:
    rehearsal.script({"answer": f"Drink water. {PRESSING}", "when": "<kith-waking>"})
    waking = ran(woken(mira, NOON), NOON)
    assert (waking.outcome, unprompted(mira)) == ("reminded", ["You wanted to be reminded: drink water"])


def test_a_reminder_that_itself_presses_is_held_back(mira: Companion, rehearsal: RehearsalServer) -> None:
    rehearsal.script({"answer": PRESSING, "when": "<kith-waking>"})
    waking = ran(woken(mira, NOON, PRESSING), NOON)
    assert (waking.outcome, unprompted(mira)) == ("held", [])


def test_whoever_takes_over_while_it_speaks_waits_and_finds_it_done(mira: Companion) -> None:
    made = woken(mira, NOON)
    others: list[threading.Thread] = []

    def overtake() -> None:
        """Just as it has begun to speak its lease runs out, and another worker looks for what is due."""
        others.append(threading.Thread(target=take_over))
        others[0].start()
        time.sleep(0.5)

    def take_over() -> None:
        run(made.pk, clock_at(NOON + timedelta(hours=1)))
        connection.close()

    with faults.before(faults.begins('INSERT INTO "companions_message"'), overtake):
        run(made.pk, clock_at(NOON))
    for one in others:
        one.join(timeout=20)
    made.refresh_from_db()
    assert (len(others), made.state, made.outcome, made.attempts) == (1, "done", "spoke", 0)
    assert Message.objects.filter(waking=made).count() == 1


@pytest.mark.parametrize("days", [[*range(1, MAX_ALONE + 2)], [1, 40]])
def test_what_is_said_in_a_long_absence_stays_out_of_the_talk_on_coming_back(
    mira: Companion, days: list[int]
) -> None:
    say(mira, "Good night.", at=NOON)
    Session.objects.filter(companion=mira).update(ended_at=NOON)
    for day in days:
        Session.objects.filter(ended_at=None).update(scratch="To ask about the trams.")
        waking = ran(woken(mira, NOON + timedelta(days=day)), NOON + timedelta(days=day))
    now = NOON + timedelta(days=days[-1] + 1)
    assert [message.waking for message in open_session(mira.conversation, now).messages.all()] == [waking]
    assert not Session.objects.exclude(ended_at=None).exclude(scratch="").exists()
    say(mira, "I am back.", at=now)
    assert open_session(mira.conversation, now).messages.count() == 2


def test_a_talk_in_which_the_person_spoke_is_not_ended_without_a_diary(mira: Companion) -> None:
    say(mira, "Good night.", at=NOON)
    Session.objects.update(started_at=NOON - timedelta(days=31))
    waking = ran(woken(mira, NOON + timedelta(hours=1)), NOON + timedelta(hours=1))
    assert waking.outcome == "spoke"
    assert Session.objects.get().ended_at is None
