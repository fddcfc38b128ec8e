"""What a reply was shown is used when it ends: once, in the mood of the session; looking uses nothing."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from companions.errors import ReplyStateError
from companions.life import inner_state
from companions.life.inner_state import Feeling, get_newest, load_session_mood
from companions.models import Companion, InnerState, Message, Reply, Session
from companions.pasts.log_import import Line, import_log
from companions.replies import actions
from companions.replies.checkpoint import Said
from companions.replies.context import TurnContext, load_context
from companions.replies.finish import finish, strengthen_shown
from companions.replies.lifecycle import claim, process_name, start, take_over
from companions.replies.model_calls import record_call
from companions.replies.preparation import prepare, recall_memories
from companions.replies.turn import end_lost
from companions.tools import call
from database.journal import everywhere
from memory.models import Memory, Recall, Recalled
from memory.store import keep_fact
from providers.selection import get_provider
from tests.fixtures.rest import Api
from tests.memory.feelings import Felt, mood

pytestmark = pytest.mark.django_db
NOW = timezone.now()
State = Reply.State


@pytest.fixture
def mira(mira: Companion) -> Companion:
    """Without a feeling of her own."""
    InnerState.objects.update(valence=0)
    return mira


@pytest.fixture
def fact(mira: Companion) -> Memory:
    return keep_fact(mira.pk, "Alice is allergic to walnuts.", NOW - timedelta(days=9), NOW)


def begun(queued: Reply, now: datetime = NOW) -> TurnContext:
    """The turn with its recall, as it stands when the model is asked."""
    reply = claim(queued.pk, now)
    assert reply
    turn = TurnContext(reply)
    prepare(turn, turn.message.text, None, now)
    return turn


def asked(companion: Companion, text: str = "What about walnuts?", now: datetime = NOW) -> TurnContext:
    return begun(start(companion, text, None, now).reply, now)


def end(
    turn: TurnContext, state: State = State.DONE, text: str = "No walnuts.", now: datetime = NOW
) -> Reply | None:
    return finish(turn.reply, state, Said(text), now, held_by=process_name())


def times(memory: Memory) -> int:
    memory.refresh_from_db()
    return memory.times_recalled


@pytest.mark.parametrize(
    ("state", "text", "counted"),
    [
        (State.DONE, "No walnuts.", 1),
        (State.STOPPED, "No wal", 1),
        (State.INTERRUPTED, "No", 1),
        (State.STOPPED, "", 0),
        (State.INTERRUPTED, " \n", 0),
        (State.DONE, "", 0),
        (State.FAILED, "No wal", 0),
    ],
)
def test_a_reply_that_said_something_uses_what_it_was_shown(
    mira: Companion, fact: Memory, state: State, text: str, counted: int
) -> None:
    turn = asked(mira)
    assert [one.memory for one in turn.recalled] == [fact]
    assert times(fact) == 0  # not before the end
    end(turn, state, text, NOW + timedelta(minutes=1))
    assert times(fact) == counted
    assert fact.recalled_at == (NOW + timedelta(minutes=1) if counted else None)
    assert Recalled.objects.filter(is_used=True).count() == counted


def test_it_counts_once_however_often_the_end_is_told(mira: Companion, fact: Memory) -> None:
    turn = asked(mira)
    ended = end(turn)
    assert ended
    assert end(turn) is None
    strengthen_shown(ended, NOW)
    assert times(fact) == 1


@pytest.mark.django_db(transaction=True)
async def test_a_reply_whose_process_died_counts_once_when_it_is_taken_over(
    mira: Companion, fact: Memory, rehearsal: object
) -> None:
    from jobs.background import in_thread

    turn = await in_thread(asked, mira)
    await in_thread(Reply.objects.filter(pk=turn.reply.pk).update, text="No wal", lease_by="a dead one")
    for minutes in (5, 10):
        later = NOW + timedelta(minutes=minutes)
        for lost in await in_thread(take_over, later):
            await end_lost(lost, lambda later=later: later)
    assert await in_thread(times, fact) == 1
    assert (await in_thread(Reply.objects.get)).state == State.INTERRUPTED


def test_a_reply_that_goes_on_counts_only_what_is_new(mira: Companion, fact: Memory) -> None:
    first = end(asked(mira), State.STOPPED, "No")
    assert first
    other = keep_fact(mira.pk, "Walnuts grow behind the house.", NOW, NOW)
    again = end(begun(actions.go_on(first, NOW)), State.INTERRUPTED, "No walnuts")
    assert again
    assert (times(fact), times(other)) == (1, 1)
    end(begun(actions.go_on(again, NOW)), State.DONE, "No walnuts for you.")
    assert (times(fact), times(other)) == (1, 1)


def test_a_reply_that_goes_on_and_says_nothing_more_uses_nothing(mira: Companion, fact: Memory) -> None:
    first = end(asked(mira), State.STOPPED, "No")
    assert first
    other = keep_fact(mira.pk, "Walnuts grow behind the house.", NOW, NOW)
    end(begun(actions.go_on(first, NOW)), State.STOPPED, "No")
    assert (times(fact), times(other)) == (1, 0)


def test_a_reply_that_goes_on_counts_apart_from_another_branch(mira: Companion, fact: Memory) -> None:
    first = end(asked(mira), State.STOPPED, "No")
    assert first
    again = end(begun(actions.retry(first, NOW)), State.STOPPED, "Better")
    assert again
    with everywhere():
        other = keep_fact(mira.pk, "Walnuts grow behind the house.", NOW, NOW)
    assert (times(fact), times(other)) == (1, 0)
    end(begun(actions.go_on(first, NOW)), State.STOPPED, "No walnuts")
    assert (times(fact), times(other)) == (1, 1)
    end(begun(actions.go_on(again, NOW)), State.DONE, "Better not eat walnuts.")
    assert (times(fact), times(other)) == (1, 1)
    end(begun(actions.retry(again, NOW)))
    assert (times(fact), times(other)) == (1, 1)


def test_a_reply_is_taken_up_once_and_its_answer_grows_once(mira: Companion) -> None:
    first = end(asked(mira), State.STOPPED, "No")
    assert first
    going = actions.go_on(first, NOW)
    with pytest.raises(ReplyStateError) as refused:
        actions.go_on(first, NOW)
    assert refused.value.code == "reply_open"
    second = end(begun(going), State.STOPPED, "No walnuts")
    assert second
    third = end(begun(actions.go_on(second, NOW)), State.INTERRUPTED, "No walnuts for")
    assert third
    for taken_up in (first, second):
        with pytest.raises(ReplyStateError) as refused:
            actions.go_on(taken_up, NOW)
        assert refused.value.code == "reply_taken_up"
    end(begun(actions.go_on(third, NOW)), State.DONE, "No walnuts for you.")
    answers = Message.objects.filter(role="assistant").exclude(parent=None)
    assert list(answers.values_list("text", flat=True)) == ["No walnuts for you."]


def test_an_answer_made_again_stands_in_place_of_the_first(mira: Companion, fact: Memory) -> None:
    first = end(asked(mira))
    assert first
    end(begun(actions.retry(first, NOW)))
    assert times(fact) == 1


def test_what_the_tool_found_is_used_as_well(mira: Companion, fact: Memory) -> None:
    turn = asked(mira, "Hello there!")
    assert turn.recalled == []
    assert "walnuts" in str(call(turn, "recall", '{"words": "walnuts"}', NOW))
    assert times(fact) == 0
    end(turn)
    assert times(fact) == 1


def test_looking_changes_nothing(
    as_alice: Api, alice: User, client: Client, mira: Companion, fact: Memory
) -> None:
    before = Memory.objects.values().get(pk=fact.pk)
    assert as_alice.post(f"/companions/{mira.pk}/recall", {"cue": "walnuts"}).json()["results"]
    client.force_login(alice)
    assert "walnuts" in client.get(f"/companions/{mira.pk}/memories/?q=walnuts").content.decode()
    as_alice.get(f"/companions/{mira.pk}/memories/{fact.pk}")
    assert Memory.objects.values().get(pk=fact.pk) == before
    assert not Recalled.objects.filter(is_used=True).exists()


def test_a_mood_goes_from_memories_to_the_mood_and_back(mira: Companion, fact: Memory) -> None:
    Memory.objects.filter(pk=fact.pk).update(joy=0.9)
    lake = keep_fact(mira.pk, "We swam in the lake at night.", NOW, NOW)
    first = asked(mira)
    assert first.mood == 0
    end(first)
    state = get_newest(mira.pk)
    assert load_session_mood(first.message.session_id, state, NOW) == pytest.approx(0.45)
    mine = Message.everywhere.filter(pk=first.message.pk)
    mine.update(is_asleep=True)
    assert load_session_mood(first.message.session_id, state, NOW) == 0
    mine.update(is_asleep=False)
    second = asked(mira, "And the lake?", NOW + timedelta(minutes=1))
    assert second.mood == pytest.approx(0.45, abs=0.01)
    end(second, now=NOW + timedelta(minutes=1))
    lake.refresh_from_db()
    assert (lake.joy, lake.aversion) == (0.1, 0)
    assert load_session_mood(first.message.session_id, state, NOW + timedelta(days=2)) == 0


@pytest.mark.parametrize(
    ("valence", "hours", "mood"), [(-0.4, 0, 0.05), (-0.4, 12, 0.25), (0.9, 0, 1), (0.9, 24 * 365 * 30, 0.45)]
)
def test_the_inner_state_sways_the_mood_and_fades(
    mira: Companion, fact: Memory, valence: float, hours: int, mood: float
) -> None:
    Memory.objects.filter(pk=fact.pk).update(joy=0.9)
    end(asked(mira))
    felt_at = NOW - timedelta(hours=hours)
    inner_state.revise(mira.pk, "I feel.", Feeling(valence), by=InnerState.By.WAKING, now=felt_at)
    turn = asked(mira, "And now?")
    assert turn.mood == pytest.approx(mood)
    end(turn)
    lake = keep_fact(mira.pk, "We swam in the lake at night.", NOW, NOW)
    end(asked(mira, "And the lake?"))
    lake.refresh_from_db()
    assert (lake.joy, lake.aversion) == ((0.2 if mood == 1 else 0.1 if mood > 0.2 else 0), 0)


def test_the_mood_of_another_companion_is_not_ones_own(
    mira: Companion, tian: Companion, fact: Memory
) -> None:
    inner_state.revise(tian.pk, "I feel.", Feeling(-1), by=InnerState.By.WAKING, now=NOW)
    assert asked(mira).mood == 0


def test_a_turn_asks_a_bounded_number_of_queries_however_much_there_is(
    mira: Companion, fact: Memory, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    end(asked(mira))
    for n in range(12):
        keep_fact(mira.pk, f"The walnut tree number {n} is old.", NOW, NOW)
    reply = claim(start(mira, "And walnut trees?", None, NOW).reply.pk, NOW)
    assert reply
    turn = TurnContext(reply)
    turn.provider = get_provider()
    with django_assert_max_num_queries(14):
        load_context(turn, NOW)
    with django_assert_max_num_queries(6):  # two to recall, two for its origins, two to record it
        recall_memories(turn, turn.message.text, None, NOW)
    with django_assert_max_num_queries(6):  # a savepoint's two among them
        record_call(turn, 1, NOW)
    ended = end(turn)
    assert ended
    Recalled.objects.update(is_used=False)
    with django_assert_max_num_queries(4):
        strengthen_shown(ended, NOW)
    assert Recalled.objects.filter(is_used=True).count() == settings.RECALL_LIMIT


def reply_id(companion: Companion, text: str, id: int) -> Reply:
    """A waiting reply with an id of the test's choice: the id is the seed."""
    made = start(companion, text, None, NOW).reply
    Reply.objects.filter(pk=made.pk).update(id=UUID(int=id))
    return Reply.objects.get(pk=UUID(int=id))


def test_now_and_then_something_comes_to_mind_unasked(mira: Companion, settings: Any) -> None:
    settings.FLASHBACK_PROBABILITY = 1.0
    at = NOW - timedelta(days=300)
    import_log(
        mira, [Line(role="user", text=f"We walked to the lake, day {n}.", at=at) for n in range(8)], at
    )
    Memory.objects.update(learnt_at=at)
    turn = begun(reply_id(mira, "Quantum?", 7))
    (found,) = turn.recalled
    assert found.reasons == {"flashback": True}
    again = TurnContext(turn.reply)
    again.provider = turn.provider
    load_context(again, NOW)
    recall_memories(again, again.message.text, None, NOW)
    record_call(again, 2, NOW)
    assert [one.memory for one in again.recalled] == [found.memory]
    assert Recalled.objects.filter(reasons={"flashback": True}, memory=found.memory).count() == 2
    prompt = str(turn.prompt[-1]["content"])
    assert "Just came to mind, unasked" in prompt
    assert found.memory.text in prompt
    assert "Remembered:" not in prompt
    assert found.memory.pk in turn.shown_ids
    Memory.objects.filter(pk=found.memory.pk).update(joy=0.5)
    end(turn)
    found.memory.refresh_from_db()
    assert (found.memory.times_recalled, found.memory.joy) == (1, 0.55)


def test_without_the_chance_nothing_comes_unasked(mira: Companion, fact: Memory, settings: Any) -> None:
    Memory.objects.update(joy=0.9)
    settings.FLASHBACK_PROBABILITY = 0.0
    assert asked(mira, "Quantum?").recalled == []


def test_what_the_recall_found_does_not_come_a_second_time(
    mira: Companion, fact: Memory, settings: Any
) -> None:
    Memory.objects.update(joy=0.9)
    settings.FLASHBACK_PROBABILITY = 1.0
    (found,) = asked(mira).recalled
    assert "flashback" not in found.reasons
    assert Recall.objects.get().found.count() == 1


def test_the_database_reckons_moods_as_the_rule_says(mira: Companion) -> None:
    told = [
        ("lakes", 0.9, 0.1, 0),
        ("boats", 0.0, 0.7, 90),
        ("caves", 0.3, 0.3, 400),
        ("trees", 1.0, 0.0, 1500),
    ]
    for word, joy, aversion, minutes in told:
        memory = keep_fact(mira.pk, f"We like {word}.", NOW, NOW)
        Memory.objects.filter(pk=memory.pk).update(joy=joy, aversion=aversion)
        end(asked(mira, f"And {word}?", NOW - timedelta(minutes=minutes)))
    asked(mira, "What else do we like?")  # not answered yet: it moves nothing
    session_id = Reply.objects.latest("created_at").message.session_id
    felt_now = load_session_mood(session_id, None, NOW)
    lately = Recalled.objects.filter(is_used=True, recall__at__gt=NOW - timedelta(days=1))
    felt = [Felt(one.recall.at, one.memory.joy, one.memory.aversion) for one in lately]
    assert len(felt) < Recalled.objects.count()
    assert felt_now == pytest.approx(mood(felt, NOW), abs=1e-6)
    assert felt_now != 0
    assert load_session_mood(UUID(int=0), None, NOW) == 0


def test_a_session_may_last_for_years(mira: Companion, fact: Memory) -> None:
    end(asked(mira, "What about walnuts?", NOW - timedelta(days=2000)))
    turn = asked(mira, "And hazelnuts?")
    assert load_session_mood(turn.message.session_id, None, NOW) == 0


def test_a_message_that_went_on_to_the_next_session_is_answered_in_that(mira: Companion) -> None:
    """Its session was closed, up to the message before it, between its saving and its turn."""
    earlier = start(mira, "I like tea.", None, NOW, at_once=True)
    assert earlier.has_turn
    finish(earlier.reply, State.DONE, Said(text="So do I."), NOW, held_by=process_name())
    started = start(mira, "What do I like?", None, NOW, at_once=True)
    assert started.has_turn
    turn = TurnContext(started.reply)
    Session.objects.update(ended_at=NOW)
    following = Session.objects.create(companion=mira, conversation=mira.conversation, started_at=NOW)
    Message.objects.filter(pk=turn.message.pk).update(session=following)
    load_context(turn, NOW)
    assert turn.history == []
    assert turn.message.session == following
    assert turn.excluded_ids == {turn.message.memory.pk}
