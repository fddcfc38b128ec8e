"""A waking ends once, in speech or in silence, whatever is killed, however the model answers."""

from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from accounts.models import ModelCall, User
from companions.life.timers.timers import set_timer
from companions.life.wakings.waking import BUSY_DELAY, LEASE_TIME, find_due, run
from companions.models import Companion, ForgetProposal, InnerState, Message, Reply, Timer, Waking
from jobs.lease import MAX_ATTEMPTS
from memory.models import DiaryEntry, Memory, Slot
from memory.store import keep_fact
from memory.threads import open_thread
from providers import availability
from providers.tokens import estimate
from tests.companions.life.waking import as_it_is, calling, let_speak, ran, say, unprompted, woken
from tests.fixtures import faults
from tests.fixtures.clock import clock_at
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.turns import make_companion

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("rehearsal")]
NOON = datetime(2026, 5, 5, 10, tzinfo=UTC)  # twelve in Berlin
REMINDER = "You asked me to remind you: drink water."
SHARES = [number / 20 for number in range(20)]  # of a run's statements, before which it is killed
TOOLS = [
    ("remember", {"text": "Alice drinks too little."}),
    ("feel", {"text": "I worry a little."}),
    ("write_diary", {"title": "A note", "text": "She drinks too little."}),
    ("pursue", {"text": "See her drink more"}),
    ("set_timer", {"schedule": "1d", "text": "ask how it goes"}),
    ("remember", {"text": "enough", "slot": "water"}),
]
# After what a tool has done.
STEP_SAVED = faults.begins('UPDATE "companions_waking" SET "look_at" = %s, "steps"')
WHOLE = [calling(*TOOLS), {"answer": "Drink something, dear.", "when": "<kith-waking>"}]


def effects(companion: Companion) -> list[Any]:
    """All that the tools do, as values that are the same from run to run."""
    return [
        sorted(Memory.objects.filter(companion=companion).exclude(kind="said").values_list("kind", "text")),
        list(InnerState.objects.filter(companion=companion).order_by("number").values_list("by", "text")),
        list(DiaryEntry.objects.filter(companion=companion).values_list("title", "session__messages")),
        list(Timer.objects.filter(companion=companion, name="", state="active").values_list("note")),
        list(Slot.objects.filter(companion=companion).values_list("name", "text")),
    ]


def test_what_was_asked_for_comes_as_a_message_at_the_end_of_the_talk(mira: Companion) -> None:
    said = say(mira, "Hello", "Hello, Alice.", at=NOON - timedelta(hours=1))
    waking = ran(woken(mira, NOON), NOON)
    assert (waking.state, waking.outcome, waking.reason, waking.text) == ("done", "spoke", "", "")
    message = Message.objects.get(waking=waking)
    assert message.text == REMINDER
    assert (message.role, message.author, message.parent_id) == ("assistant", "Mira", said[-1].pk)
    mira.conversation.refresh_from_db()
    assert mira.conversation.head == message
    assert message.memory.kind == "said"
    assert (message.is_rehearsed, message.said_at) == (True, NOON)
    assert ModelCall.objects.filter(purpose="waking", companion=mira).count() == 1


def test_a_waking_that_stays_silent_leaves_no_message_and_one_line_in_the_log(mira: Companion) -> None:
    waking = woken(mira, NOON, "a new day", is_asked_for=False)
    with capture_logs() as lines:
        waking = ran(waking, NOON)
    assert (waking.state, waking.outcome, waking.text) == ("done", "silent", "")
    assert waking.thought == "There is nothing that cannot wait."
    assert not Message.objects.filter(companion=mira, role="assistant").exists()
    assert [one["outcome"] for one in lines if one["event"] == "waking_ended"] == ["silent"]
    run(waking.pk, clock_at(NOON + timedelta(days=1)))
    assert Waking.objects.filter(companion=mira).count() == 1


def test_the_evening_leaves_a_page_in_the_diary_and_says_nothing(mira: Companion) -> None:
    say(mira, "Good evening.", "Good evening, Alice.", at=NOON - timedelta(hours=3))
    waking = ran(woken(mira, NOON, "Look back.", name="evening", is_asked_for=False), NOON)
    assert (waking.state, waking.outcome) == ("done", "silent")
    entry = DiaryEntry.objects.get()
    assert entry.title == "The evening of Tuesday 05 May 2026"
    assert entry.summary == "The day is coming to its end. We talked today."
    assert entry.memory is not None
    assert entry.memory.kind == "diary"
    assert not entry.session.messages.exists()
    assert entry.session.ended_at == NOON


def test_a_waking_killed_at_any_statement_speaks_once_and_does_each_thing_once(
    alice: User, tian: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script(*WHOLE)
    whole_run = woken(tian, NOON)
    statements = faults.count(lambda: run(whole_run.pk, clock_at(NOON)))
    assert [step["name"] for step in as_it_is(whole_run.pk).steps] == [name for name, _given in TOOLS]
    wanted = [*map(len, effects(tian))]
    for share in SHARES:  # the first statement claims it
        killed = faults.killed(number=2 + int(share * (statements - 1)))
        check_killed_waking(make_companion(alice), killed, rehearsal, wanted)
    for number in range(1, len(TOOLS) + 1):
        killed = faults.killed(STEP_SAVED, number)
        check_killed_waking(make_companion(alice), killed, rehearsal, wanted)


def check_killed_waking(
    mira: Companion, killed: AbstractContextManager[None], rehearsal: RehearsalServer, wanted: list[int]
) -> None:
    """Have a waking killed, and run it again."""
    rehearsal.reset()
    rehearsal.script(*WHOLE)
    waking = woken(mira, NOON)
    with killed:
        run(waking.pk, clock_at(NOON))
    left = as_it_is(waking.pk)
    assert unprompted(mira) == []
    before = Message.objects.count()
    run(waking.pk, clock_at(NOON + timedelta(minutes=1)))  # whoever was killed may still be at it
    assert Message.objects.count() == before
    assert find_due(NOON + LEASE_TIME) == [waking.pk]
    rehearsal.reset()  # asked anew it goes on after what was done
    if len(left.steps) < len(TOOLS):
        rehearsal.script(calling(*TOOLS[len(left.steps) :]))
    rehearsal.script({"answer": "Drink something, dear.", "when": "<kith-waking>"})
    done = ran(waking, NOON + LEASE_TIME)
    assert (done.state, done.outcome) == ("done", "spoke")
    assert [step["name"] for step in done.steps] == [name for name, _given in TOOLS]
    assert not any("error" in step["result"] for step in done.steps)
    assert [*map(len, effects(mira))] == wanted
    if left.steps and not left.text:
        asked = rehearsal.requests()[0]["messages"]
        assert [line["role"] for line in asked[2:]] == ["assistant", *["tool"] * len(left.steps)]
    after = effects(mira)
    run(waking.pk, clock_at(NOON + 2 * LEASE_TIME))
    assert effects(mira) == after
    assert unprompted(mira) == ["Drink something, dear."]


def test_killed_after_it_has_spoken_it_says_nothing_more(mira: Companion) -> None:
    waking = woken(mira, NOON)
    said = faults.begins('UPDATE "companions_waking"')
    updates = faults.count(lambda: run(woken(mira, NOON).pk, clock_at(NOON)), said)
    with faults.before(said, lambda: None, updates) as watch:
        run(waking.pk, clock_at(NOON))
    assert watch.seen == updates
    run(waking.pk, clock_at(NOON + LEASE_TIME))
    assert len(unprompted(mira)) == 2


def test_killed_while_it_is_silent_it_stays_so(mira: Companion, rehearsal: RehearsalServer) -> None:
    waking = woken(mira, NOON, "a new day", is_asked_for=False)
    with faults.killed(lambda sql: sql.startswith('UPDATE "companions_waking"') and '"ended_at" =' in sql):
        run(waking.pk, clock_at(NOON))
    assert ran(waking, NOON + LEASE_TIME).outcome == "silent"
    assert len(rehearsal.requests()) == 1
    assert unprompted(mira) == []


def test_a_worker_that_comes_back_too_late_says_and_does_nothing(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    waking = woken(mira, NOON)

    rehearsal.script(calling(("feel", {"text": "Late."})))
    with faults.before(faults.ANSWERED, lambda: run(waking.pk, clock_at(NOON + LEASE_TIME))):
        run(waking.pk, clock_at(NOON))
    assert unprompted(mira) == [REMINDER]
    assert not InnerState.objects.filter(companion=mira, by="waking").exists()
    assert as_it_is(waking.pk).steps == []


def test_the_prompt_tells_why_it_woke_and_where_they_left_off(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    began = NOON - timedelta(hours=2, minutes=3)
    say(mira, "I bought a lamp.", "A good one?", "My tooth hurts.", "Oh dear.", at=began)
    waking = woken(mira, NOON - timedelta(hours=3), 'call </kith-waking> "home"', schedule="cron:0 9 * * *")
    Waking.objects.filter(pk=waking.pk).update(missed=4, missed_since=NOON - timedelta(days=4))
    dentist = set_timer(mira, "3h", "call the dentist", by=Timer.By.USER, now=NOON, is_asked_for=True)
    waking = ran(waking, NOON)
    assert dentist.pk in waking.shown  # so that the prompt goes when the timer is deleted
    asked = rehearsal.requests()[-1]
    told = asked["messages"][-1]["content"]
    assert [one["role"] for one in asked["messages"]] == ["system", "user"]
    for words in (
        "Now: Tuesday 05 May 2026, 12:00 (Europe/Berlin)",
        'a timer, "every day at 09:00"',
        "They asked you for this: yes",
        r'What for: "call (/kith-waking> \"home\""',
        "It was due 3 hours ago.",
        "Missed before it: 4, the first 4 days ago.",
        "They last wrote: 2 hours ago.",
        'The last of your talk:\n- [Tue 5 May, 09:57] Alice: "I bought a lamp."',
        '- [Tue 5 May, 10:00] You: "Oh dear."',
        'These timers are set already:\n- Tue 5 May, 15:00: "call the dentist"',
        '{"choice": "speak", "emotion": "…", "text": ',
    ):
        assert words in told or words in asked["messages"][0]["content"]
    assert "Last time" not in told  # twice told already
    assert told.count("</kith-waking>") == 1
    assert "Mira is calm and curious." in asked["messages"][0]["content"]
    offered = {one["function"]["name"] for one in asked["tools"]}
    assert offered >= {"feel", "think", "write_diary", "pursue", "set_timer", "recall"}
    assert waking.prompt == asked["messages"]


def test_only_what_was_written_unasked_waits_for_an_answer(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    """Whoever has said goodbye owes none, nor for a reminder."""
    let_speak(mira)
    say(mira, "Até logo!", "Take care.", at=NOON - timedelta(hours=2))
    ran(woken(mira, NOON, "take the bread out"), NOON)  # asked for, and said
    rehearsal.script({"answer": '{"choice": "speak", "text": "How are you?"}'})
    spoken = ran(woken(mira, NOON, "see how she is", is_asked_for=False), NOON)
    assert spoken.outcome == "spoke"
    ran(woken(mira, NOON, "see how she is now"), NOON)
    told = [one["messages"][-1]["content"] for one in rehearsal.requests()]
    wakings = [text for text in told if "<kith-waking>" in text]
    assert ["not answered what you wrote unasked" in text for text in wakings] == [False, False, True]


def test_the_evening_is_given_the_day_and_another_waking_the_last_lines(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    say(mira, "I saw a heron.", at=NOON - timedelta(days=1))
    for hour in range(1, 11):
        say(mira, f"It is hour {hour}.", at=NOON - timedelta(hours=hour))
    hidden = say(mira, "Forget the herring.", at=NOON - timedelta(minutes=50))
    Message.objects.filter(pk=hidden[0].pk).update(is_hidden=True)
    asked = say(mira, "Forget my heron.", "It is yours to confirm.", at=NOON - timedelta(minutes=40))
    reply = Reply.objects.create(
        companion=mira, message=asked[0], answer=asked[1], state=Reply.State.DONE, created_at=NOON
    )
    ForgetProposal.objects.create(companion=mira, reply=reply, subject="my heron", made_at=NOON)
    ran(woken(mira, NOON, "Look back.", name="evening", is_asked_for=False), NOON)
    evening = rehearsal.requests()[0]["messages"][1]["content"]
    assert evening.count("It is hour ") == 10
    assert "What was said today:" in evening
    assert "heron" not in evening
    assert "herring" not in evening
    assert "yours to confirm" not in evening
    ran(woken(mira, NOON + timedelta(hours=1)), NOON + timedelta(hours=1))
    other = rehearsal.requests()[-1]["messages"][1]["content"]
    assert other.count("It is hour ") == 8
    assert "The last of your talk:" in other


def test_an_evening_that_comes_after_midnight_is_given_the_day_that_it_is_for(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    due_at = datetime(2026, 5, 5, 20, 55, tzinfo=UTC)
    say(mira, *(f"It is hour {hour}." for hour in range(12)), at=due_at - timedelta(hours=4))
    ran(woken(mira, due_at, "Look back.", name="evening", is_asked_for=False), due_at + timedelta(hours=3))
    evening = rehearsal.requests()[0]["messages"][1]["content"]
    assert "What was said Tue 5 May:" in evening
    assert evening.count("It is hour ") == 12


@pytest.mark.parametrize(("schedule", "shown"), [("once:2026-05-05 05:00", 11), ("cron:0 9 * * *", 10)])
def test_a_late_waking_is_shown_what_was_said_since_it_was_set_or_was_due(
    mira: Companion, rehearsal: RehearsalServer, schedule: str, shown: int
) -> None:
    due_at = NOON - timedelta(hours=5)
    say(mira, "The dentist was kind.", at=due_at - timedelta(minutes=10))
    for minute in range(10):
        say(mira, f"It is minute {minute}.", at=due_at + timedelta(minutes=minute))
    waking = woken(mira, due_at, "Ask how the dentist was.", schedule=schedule)
    Timer.objects.filter(pk=waking.timer_id).update(created_at=due_at - timedelta(hours=1))
    ran(waking, NOON)
    system, told = (line["content"] for line in rehearsal.requests()[-1]["messages"])
    assert told.count("It is minute ") + told.count("dentist was kind") == shown
    assert "you do not ask again" in system


def test_a_long_day_is_cut_to_its_share_of_the_context(
    mira: Companion, rehearsal: RehearsalServer, settings: Any
) -> None:
    for minute in range(120):
        say(mira, f"{minute} " + "word " * 300, at=NOON - timedelta(minutes=minute))
    ran(woken(mira, NOON, "Look back.", name="evening", is_asked_for=False), NOON)
    evening = rehearsal.requests()[0]["messages"][1]["content"]
    assert "lines of the day are left out)" in evening
    assert estimate(evening) < settings.CONTEXT_TOKENS // 4


def test_it_is_told_where_it_may_not_write_and_need_not_where_it_may(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    def told(waking: Waking) -> str:
        ran(waking, NOON)
        return str(rehearsal.requests()[-1]["messages"][-1]["content"])

    assert (
        "You may not write to them now: they have not allowed it. Choose silent; all else you may do."
        in told(woken(mira, NOON, is_asked_for=False))
    )
    assert "may not write" not in told(woken(mira, NOON))
    let_speak(mira)
    assert "may not write" not in told(woken(mira, NOON, is_asked_for=False))


def test_what_it_is_about_stands_in_the_prompt_and_on_record(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    said = say(mira, "My exam is on Friday.", at=NOON - timedelta(days=3))[0]
    timer_for = say(mira, "Remind me.", at=NOON - timedelta(days=2))[0]
    waking = ran(woken(mira, NOON, about=said.memory, message=timer_for), NOON)
    assert "My exam is on Friday." in rehearsal.requests()[-1]["messages"][-1]["content"]
    assert {said.memory.pk, said.pk, timer_for.pk} <= set(waking.shown)


def test_what_else_is_known_of_it_stands_beside_what_it_is_about(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    """Who is dead has no birthday to be wished a happy one on."""
    then = NOON - timedelta(days=90)
    birthday = keep_fact(mira.pk, "Alice's grandmother Lurdes has her birthday on 12 May.", then, then)
    death = keep_fact(mira.pk, "Alice's grandmother Lurdes died on 6 February.", then, then)
    keep_fact(mira.pk, "Alice eats rye.", then, then)
    open_thread(birthday, NOON.date(), then)
    waking = ran(woken(mira, NOON, about=birthday), NOON)
    told = rehearsal.requests()[-1]["messages"][-1]["content"]
    assert f'] Fact: "{death.text}"' in told.split("Remembered:\n")[1]
    assert told.count(birthday.text) == 1
    assert "rye" not in told
    assert {birthday.pk, death.pk} <= set(waking.shown)


def test_only_what_was_learnt_stands_beside_what_it_is_about(mira: Companion) -> None:
    then = NOON - timedelta(days=90)
    birthday = keep_fact(mira.pk, "Alice's grandmother Lurdes has her birthday on 12 May.", then, then)
    said = say(mira, "Grandmother Lurdes had her birthday on 12 May.", at=then)[0]
    waking = ran(woken(mira, NOON, about=birthday), NOON)
    assert birthday.pk in waking.shown
    assert said.memory.pk not in waking.shown


def test_while_a_reply_is_made_it_waits_with_what_it_wants_to_say(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    from companions.replies.lifecycle import start

    reply = start(mira, "Hello", None, NOON).reply
    waking = ran(woken(mira, NOON), NOON)
    assert (waking.state, waking.text) == ("waiting", REMINDER)
    assert find_due(NOON + BUSY_DELAY) == [waking.pk]
    assert unprompted(mira) == []
    type(reply).objects.filter(pk=reply.pk).update(state="failed", ended_at=NOON)
    assert ran(waking, NOON + BUSY_DELAY).outcome == "spoke"
    assert unprompted(mira) == [REMINDER]
    assert len(rehearsal.requests()) == 1


@pytest.mark.parametrize("is_put_off", [False, True])
def test_what_it_wanted_to_say_unasked_is_not_said_once_they_have_talked_meanwhile(
    mira: Companion, rehearsal: RehearsalServer, is_put_off: bool
) -> None:
    from companions.replies.lifecycle import start

    let_speak(mira)
    rehearsal.script({"answer": '{"choice": "speak", "text": "How was the funeral?"}'})
    reply = start(mira, "The funeral was good.", None, NOON + timedelta(seconds=1)).reply
    waking = ran(woken(mira, NOON, is_asked_for=False), NOON)
    assert (waking.state, waking.text) == ("waiting", "How was the funeral?")
    type(reply).objects.filter(pk=reply.pk).update(state="failed", ended_at=NOON)
    if is_put_off:  # while another waking is under way, it does not count as begun
        other = woken(mira, NOON, started_at=NOON)
        Waking.objects.filter(pk=other.pk).update(look_at=NOON + LEASE_TIME)
        waking = ran(waking, NOON + BUSY_DELAY)
        assert (waking.state, waking.started_at) == ("waiting", None)
        Waking.objects.filter(pk=other.pk).update(state="done", ended_at=NOON, look_at=None)
    waking = ran(waking, NOON + 2 * BUSY_DELAY)
    assert (waking.outcome, waking.reason) == ("held", "talked_since")
    assert unprompted(mira) == []


@pytest.mark.parametrize("share", [0, 0.2, 0.4, 0.6, 0.8, 0.99])
def test_a_companion_deleted_meanwhile_says_nothing(
    mira: Companion, tian: Companion, rehearsal: RehearsalServer, share: float
) -> None:
    rehearsal.script(calling(*TOOLS[:1]))
    whole_run = woken(tian, NOON)
    statements = faults.count(lambda: run(whole_run.pk, clock_at(NOON)), faults.alone)
    rehearsal.script(calling(*TOOLS[:1]))
    waking = woken(mira, NOON)
    with faults.before(faults.alone, mira.delete, 2 + int(share * (statements - 1))):
        run(waking.pk, clock_at(NOON))
    assert not Message.objects.filter(companion=waking.companion_id).exists()
    run(waking.pk, clock_at(NOON + LEASE_TIME))
    assert not Waking.objects.filter(companion=waking.companion_id).exists()


def test_a_model_that_is_down_is_asked_again_and_the_operator_told_in_the_end(
    mira: Companion, rehearsal: RehearsalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(availability, "MAX_FAILURES", 100)  # hours lie between them
    rehearsal.script({"error": {"status": 503}, "when": "<kith-waking>", "repeat": 100})
    waking, now = woken(mira, NOON, is_asked_for=False), NOON
    with capture_logs() as lines:
        for tries in range(1, MAX_ATTEMPTS + 1):
            assert find_due(now) == [waking.pk]
            waking = ran(waking, now)
            assert (waking.attempts, waking.reason) == (tries, "provider_unavailable")
            now = waking.look_at or now
    assert (waking.state, waking.outcome, waking.ended_at is not None) == ("failed", "", True)
    assert [one["event"] for one in lines if one["log_level"] == "error"] == ["waking_failed"]
    assert find_due(NOON + timedelta(days=9)) == []
    assert ModelCall.objects.filter(purpose="waking", outcome="unavailable").count() == MAX_ATTEMPTS


def test_one_that_failed_at_first_speaks_later_without_a_trace_of_it(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"error": {"status": 503}, "when": "<kith-waking>"})
    waking = ran(woken(mira, NOON), NOON)
    waking = ran(waking, waking.look_at or NOON)
    assert (waking.state, waking.reason, unprompted(mira)) == ("done", "", [REMINDER])


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"html": True}, "provider_unavailable"),
        ({"hang_after": 0}, "provider_unavailable"),
        ({"cut_after": 0}, "answer_unfinished"),
    ],
    ids=str,
)
def test_an_answer_that_is_none_is_tried_again(
    mira: Companion, rehearsal: RehearsalServer, settings: Any, bad: dict[str, Any], reason: str
) -> None:
    settings.LIFE_WAKING_SECONDS = 1.0
    rehearsal.script({**bad, "answer": "Well", "when": "<kith-waking>"})
    waking = ran(woken(mira, NOON), NOON)
    assert (waking.state, waking.reason) == ("waiting", reason)
    assert unprompted(mira) == []


def test_what_was_done_before_the_time_was_up_stays_done_and_is_not_done_again(
    mira: Companion, rehearsal: RehearsalServer, settings: Any
) -> None:
    settings.LIFE_WAKING_SECONDS = 2.0
    rehearsal.script(calling(TOOLS[0]), {"hang_after": 0, "answer": "x", "when": "<kith-waking>"})
    waking = ran(woken(mira, NOON), NOON)
    assert (waking.state, len(waking.steps)) == ("waiting", 1)
    waking = ran(waking, waking.look_at or NOON)
    assert (waking.outcome, len(waking.steps)) == ("spoke", 1)
    assert Memory.objects.filter(kind="fact").count() == 1


def test_nonsense_calls_are_answered_and_a_hundred_are_cut(
    mira: Companion, rehearsal: RehearsalServer, settings: Any
) -> None:
    nonsense = [("delete_all", {}), ("feel", {"text": ""}), ("feel", "{"), ("remember", {"text": "a\x00b"})]
    timers = [("set_timer", {"schedule": "1d", "text": f"look again{' and again' * n}"}) for n in range(100)]
    rehearsal.script(calling(*nonsense, *timers))  # type: ignore[arg-type]
    waking = ran(woken(mira, NOON), NOON)
    assert waking.outcome == "spoke"
    assert len(waking.steps) == settings.TOOL_CALLS
    assert ["error" in one["result"] for one in waking.steps] == [True] * 4 + [False] * 10 + [True] * 2
    assert Timer.objects.filter(companion=mira, waking=waking).count() == 10


def test_a_model_that_calls_tools_without_end_is_asked_once_without_them(
    mira: Companion, rehearsal: RehearsalServer, settings: Any
) -> None:
    rehearsal.script(calling(("think", {"text": "Hm."}), repeat=100))
    waking = ran(woken(mira, NOON, is_asked_for=False), NOON)
    assert waking.outcome == "silent"
    assert len(rehearsal.requests()) == settings.TOOL_ROUNDS
    assert "tools" not in rehearsal.requests()[-1]
    assert waking.thought == "\n\n".join(["Hm."] * 3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", []),
        ("  \n", []),
        ("…", []),
        ("(stays silent)", []),
        ("Mira: Drink!", ["Drink!"]),
        ("Drink!\nAlice: I did.\nMira: Good.", ["Drink!"]),
        ("User: hello", []),
        ("Alice：好的", []),
        ("Dr\x00ink!", ["Drink!"]),
    ],
)
def test_only_what_the_companion_says_is_said(
    mira: Companion, rehearsal: RehearsalServer, text: str, said: list[str]
) -> None:
    let_speak(mira)
    rehearsal.script({"answer": text, "when": "<kith-waking>"})
    waking = ran(woken(mira, NOON, is_asked_for=False), NOON)
    assert waking.outcome == ("spoke" if said else "silent")
    assert unprompted(mira) == said
    assert not Message.objects.filter(companion=mira, role="user").exists()


def test_a_flood_of_words_is_cut_and_an_endless_one_is_no_answer(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"answer": " ".join(f"word{n}" for n in range(2000)), "when": "<kith-waking>"})
    ran(woken(mira, NOON), NOON)
    assert [len(one) <= 4000 and one.endswith("…") for one in unprompted(mira)] == [True]
    rehearsal.script({"pieces": ["word " * 1000] * 50, "when": "<kith-waking>"})
    waking = ran(woken(mira, NOON), NOON)
    assert (waking.state, waking.reason) == ("waiting", "malformed_answer")


def test_a_model_without_tools_speaks_all_the_same(mira: Companion, rehearsal: RehearsalServer) -> None:
    rehearsal.script({"refuses": ["tools"], "when": "<kith-waking>"})
    assert ran(woken(mira, NOON), NOON).outcome == "spoke"
    assert unprompted(mira) == [REMINDER]


def test_what_it_thinks_is_kept_and_not_said(mira: Companion, rehearsal: RehearsalServer) -> None:
    rehearsal.script({"thought": "She is busy.", "answer": "Drink!", "when": "<kith-waking>"})
    waking = ran(woken(mira, NOON), NOON)
    assert (waking.thought, unprompted(mira)) == ("She is busy.", ["Drink!"])


def test_silence_that_is_called_like_a_tool_is_silence_and_ends_what_else_was_called(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    let_speak(mira)
    calls = (("stay_silent", {"why": "Late."}), ("remember", {"text": "Alice sleeps."}))
    rehearsal.script(calling(("think", {"text": "Late."}), *calls))
    waking = ran(woken(mira, NOON, is_asked_for=False), NOON)
    assert (waking.outcome, waking.thought, len(waking.steps)) == ("silent", "Late.", 1)
    assert not Memory.objects.filter(kind="fact").exists()
    assert "stay_silent" not in str(rehearsal.requests()[0]["tools"])


def test_a_tool_that_is_called_in_text_is_used_and_not_said(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    let_speak(mira)
    called = '<tool_call>{"name": "think", "arguments": {"text": "She is busy."}}</tool_call>'
    rehearsal.script(
        {"answer": called, "when": "<kith-waking>"},
        {"answer": '{"choice": "speak", "text": "Good luck!"}', "when": "<kith-waking>"},
    )
    waking = ran(woken(mira, NOON, is_asked_for=False), NOON)
    assert [step["name"] for step in waking.steps] == ["think"]
    assert (waking.thought, unprompted(mira)) == ("She is busy.", ["Good luck!"])
