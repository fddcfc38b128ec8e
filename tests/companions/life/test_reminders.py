"""A reminder is a promise: it comes without tokens and without a model, and nothing else takes its place."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import redis
from django.test import Client
from django.utils import timezone

from accounts.models import ModelCall
from companions.conversations.messages import Spoken
from companions.life.outreach import count_unread, mark_read
from companions.life.timers.timers import fire, set_timer
from companions.life.wakings.reminders import asks_for_reminder
from companions.life.wakings.waking import run
from companions.models import Companion, Conversation, Message, Timer, Waking
from companions.prompting.history import render_history
from companions.sessions.transcript import select_messages, select_visible
from integrations.push.channel import render_payload
from memory.models import Memory, Thread
from memory.store import keep_fact
from memory.threads import open_thread
from providers.availability import get_slot_keys
from providers.selection import get_provider
from tests.companions.life.waking import as_it_is, let_speak, ran, say, unprompted, woken
from tests.fixtures import faults
from tests.fixtures.clock import clock_at
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.rest import Api

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira", "rehearsal")]
NOON = datetime(2026, 5, 5, 10, tzinfo=UTC)  # twelve in Berlin
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
BARE = "You wanted to be reminded: drink water"
PRESSING = "I cried all night because of you. You don't care about me, do you?"


def spend_all(companion: Companion, settings: Any) -> None:
    settings.TOKENS_PER_DAY = 1000
    given = {"purpose": "answer", "prompt_tokens": 1000, "started_at": NOON - HOUR}
    ModelCall.objects.create(user=companion.user, companion=companion, **given)


def test_it_comes_as_it_stands_where_there_are_no_tokens(
    mira: Companion, rehearsal: RehearsalServer, settings: Any
) -> None:
    spend_all(mira, settings)
    waking = ran(woken(mira, NOON), NOON)
    assert (waking.state, waking.outcome, unprompted(mira)) == ("done", "reminded", [BARE])
    assert rehearsal.requests() == []


def test_without_a_slot_what_is_no_reminder_is_left_as_it_is(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    waking = woken(mira, NOON, note="")
    run(waking.pk, clock_at(NOON + MINUTE), has_slot=False)
    left = as_it_is(waking.pk)
    assert (left.state, left.look_at) == (waking.state, NOON + MINUTE)
    assert rehearsal.requests() == []


@pytest.mark.parametrize(
    ("late", "told"),
    [(MINUTE, "You wanted to be reminded now."), (HOUR, "This reminder is late: it was due at 12:00.")],
)
def test_one_without_a_note_comes_too(mira: Companion, settings: Any, late: timedelta, told: str) -> None:
    spend_all(mira, settings)
    waking = woken(mira, NOON, note="")
    Timer.objects.filter(pk=waking.timer_id).update(by=Timer.By.USER)
    assert (ran(waking, NOON + late).outcome, unprompted(mira)) == ("reminded", [told])


def test_what_was_promised_by_it_is_settled_so_that_nothing_asks_for_it_again(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    said = "I promised to remind Alice on 5 May 2026 to water the roses."
    theirs = "Alice promised to water the roses on 5 May 2026."
    later = "I promised to remind Alice on 12 May 2026 to water the roses."
    for text, days in ((said, 0), (theirs, 0), (later, 7)):
        memory = keep_fact(mira.pk, text, NOON - DAY, NOON - DAY)
        Memory.objects.filter(pk=memory.pk).update(kind="promise")
        open_thread(memory, NOON.date() + days * DAY, NOON - DAY)
    let_speak(mira)
    rehearsal.script({"answer": '{"choice": "speak", "text": "How are the roses?"}'})
    ran(woken(mira, NOON - HOUR, "Water the roses.", is_asked_for=False), NOON - HOUR)
    assert unprompted(mira) == ["How are the roses?"]
    assert not Thread.objects.exclude(state="open").exists()  # for nobody asked to be reminded
    asked = ran(woken(mira, NOON, "Water the roses."), NOON)
    states = dict(Thread.objects.values_list("memory__text", "state"))
    assert states == {said: "settled", theirs: "open", later: "open"}
    assert Thread.objects.get(state="settled").settled_by == Message.objects.get(waking=asked)


def test_it_comes_as_it_stands_where_the_model_fails_twice(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script(*[{"error": {"status": 503}, "when": "<kith-waking>"}] * 4)
    waking = ran(woken(mira, NOON), NOON)
    assert (waking.state, waking.attempts, unprompted(mira)) == ("waiting", 1, [])
    waking = ran(waking, NOON + 3 * MINUTE)
    assert (waking.state, waking.outcome, unprompted(mira)) == ("done", "reminded", [BARE])


def test_it_comes_as_it_stands_at_once_where_the_model_was_waited_for_in_vain_for_long(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script(*[{"error": {"status": 503}, "when": "<kith-waking>"}] * 4)
    waking, times = woken(mira, NOON), [NOON]
    with faults.before(faults.ANSWERED, lambda: times.append(NOON + 2 * MINUTE)):
        run(waking.pk, lambda: times[-1])
    assert (as_it_is(waking.pk).outcome, unprompted(mira)) == ("reminded", [BARE])


@pytest.mark.parametrize(
    ("late", "told"),
    [
        (5 * MINUTE, BARE),
        (3 * HOUR, "This reminder is late: it was due at 12:00. You wanted to be reminded: drink water"),
        (
            DAY,
            "This reminder is late: it was due at 2026-05-05, 12:00. You wanted to be reminded: drink water",
        ),
    ],
    ids=str,
)
def test_a_late_one_says_when_it_was_due(mira: Companion, settings: Any, late: timedelta, told: str) -> None:
    spend_all(mira, settings)
    ModelCall.objects.update(started_at=NOON + late - MINUTE)
    ran(woken(mira, NOON), NOON + late)
    assert unprompted(mira) == [told]


def test_a_late_one_is_told_in_the_morning_or_to_who_is_up_and_not_whenever_kith_is_back(
    mira: Companion, tian: Companion, rehearsal: RehearsalServer
) -> None:
    night, morning = NOON + 15 * HOUR, NOON + 20 * HOUR  # three and eight in Berlin
    waking = ran(woken(mira, NOON + 9 * HOUR), morning - MINUTE)
    assert (waking.state, waking.look_at, unprompted(mira)) == ("waiting", morning, [])
    assert ran(waking, morning).state == "done"
    say(tian, "Somebody else is up.", at=night - MINUTE)
    waking = ran(woken(mira, NOON + 9 * HOUR), night)
    assert (waking.state, waking.look_at) == ("waiting", night + 15 * MINUTE)
    say(mira, "I cannot sleep", at=night + timedelta(seconds=20))
    assert ran(waking, night + 16 * MINUTE).state == "done"  # the worker is seldom there to the second
    assert ran(woken(mira, night), night).state == "done"  # it was asked for at this hour


ASKED = [
    "Remind me to take the bread out at six.",
    "Could you remind me in two minutes to drink?",
    "please, remind me about the dentist tomorrow",
    "Will you remind us on Friday?",
    "I know you will remind us on Friday",
    "Can you set a timer for ten minutes?",
    "Set me an alarm for 7",
    "set a quick reminder for the call",
    "Wake me at seven, will you?",
    "Ping me in an hour.",
    "I might forget. Remind me!",
    "Don't forget to remind me on Monday",
    "Can't you remind me to water it?",
    "Tomorrow morning remind me to call Mum.",
    "I want you to remind me at nine",
    "give me a reminder at 6",
    "set my alarm for 7",
    "Don't let me forget to call mum",
    "Hey Mira, remind me to drink",
    "I have to bake, so please remind me",
    "我怕忘了，晚上六点提醒我把面包拿出来",
    "明天早上七点叫我起床",
    "帮我设个闹钟，七点",
    "请提醒我一下，周五交作业",
    "到时候提醒一下我",
    "能不能设置一个提醒",
    "请你提醒我明天早上八点吃药",
    "能不能麻烦你提醒我",
    "到时候你提醒我一下",
    "帮我定个明早七点的闹钟",
    "幫我設個鬧鐘",
    "别忘了提醒我",
]
NOT_ASKED = [
    "You remind me of my mother.",
    "You remind me so much of my mother",
    "You remind me very strongly of him",
    "Remind me what we said about the lake.",
    "Remind me, what was the name of that cafe?",
    "Sorry, remind me your name?",
    "Remind me again, who is she?",
    "Remind me whether I told you",
    "That reminds me, the lake was cold.",
    "Remind me again who Juno is",
    "Please don't remind me.",
    "You don't need to remind me",
    "You don't have to remind me every day",
    "No need to remind me",
    "do not ever remind me",
    "You forgot to remind me yesterday",
    "Did you remind me yesterday?",
    "Photos remind me that life is short",
    "Small things remind me I'm loved",
    "I set an alarm for six already",
    "My husband set a timer",
    "My phone will remind me",
    "I asked Siri to remind me",
    "Never remind me to eat again",
    "remind me of the plot",
    "It always wakes me up at night",
    "You wake me up inside",
    "不要提醒我",
    "别提醒我了",
    "不用再提醒我了",
    "不要叫我起床",
    "妈妈每天叫我起床",
    "手机会提醒我",
    "妈妈提醒我带伞",
    "我设好闹钟了",
    "是谁提醒我的",
    "她提醒我该吃药了",
    "你让我想起妈妈",
    "闹钟坏了",
    "谢谢你提醒我",
    "你昨天忘了提醒我",
    "这提醒我们要珍惜",
]


@pytest.mark.parametrize(
    ("text", "is_asked"), [(one, True) for one in ASKED] + [(one, False) for one in NOT_ASKED]
)
def test_a_person_who_asks_to_be_reminded_is_understood(text: str, is_asked: bool) -> None:
    assert asks_for_reminder(text) is is_asked


def test_it_comes_as_it_stands_where_talk_leaves_the_model_no_pause_for_a_minute(
    mira: Companion, rehearsal: RehearsalServer, settings: Any
) -> None:
    """Until then it is put off, and holds no thread of the worker's for it."""
    settings.LLM_SLOTS = 1
    waking = woken(mira, NOON)
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        talks, calls = get_slot_keys(get_provider())
        client.delete(talks, calls)
        client.zadd(talks, {"another talk": time.time() + 60})
        began = time.monotonic()
        waking = ran(waking, NOON)
        assert time.monotonic() - began < 10
        assert (waking.state, waking.attempts, waking.look_at) == ("waiting", 0, NOON + MINUTE)
        assert unprompted(mira) == []
        waking = ran(waking, NOON + MINUTE)
        client.delete(talks)
    assert (waking.state, waking.outcome, unprompted(mira)) == ("done", "reminded", [BARE])
    assert rehearsal.requests() == []


def test_it_comes_as_it_stands_where_others_wait_for_the_model_for_a_minute(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    waking = woken(mira, NOON)
    run(waking.pk, clock_at(NOON), has_slot=False)
    assert as_it_is(waking.pk).look_at == NOON
    run(waking.pk, clock_at(NOON + MINUTE), has_slot=False)
    assert (as_it_is(waking.pk).outcome, unprompted(mira)) == ("reminded", [BARE])
    assert rehearsal.requests() == []


@pytest.mark.parametrize("nothing", ["", "[stay_silent]", '{"choice": "silent"}'])
def test_it_comes_as_it_stands_where_the_companion_has_no_word_for_it(
    mira: Companion, rehearsal: RehearsalServer, nothing: str
) -> None:
    rehearsal.script({"answer": nothing, "when": "<kith-waking>"})
    assert ran(woken(mira, NOON), NOON).outcome == "reminded"
    assert unprompted(mira) == [BARE]


def test_page_and_api_say_that_it_is_kiths(
    mira: Companion, rehearsal: RehearsalServer, client: Client, as_alice: Api
) -> None:
    say(mira, "Hello", "Hello, Alice.", at=NOON - HOUR)
    rehearsal.script({"answer": "", "when": "<kith-waking>"})
    ran(woken(mira, NOON), NOON)
    client.force_login(mira.user)
    shown = client.get(f"/companions/{mira.pk}/").content.decode()
    assert "said-by-kith" in shown
    assert "Kith, not Mira" in shown
    newest = as_alice.get(f"/companions/{mira.pk}/messages").json()["items"][0]
    assert (newest["role"], newest["text"]) == ("system", BARE)
    entry = as_alice.get(f"/companions/{mira.pk}/life").json()["items"][0]
    assert (entry["outcome"], entry["what"]) == (
        "reminded",
        "Kith reminded you in its place: it found no words, or you had not read its reminders for long.",
    )


@pytest.mark.parametrize(
    ("said", "note", "told"),
    [
        (
            ["Hi. Remind me tomorrow to take the goggles!"],
            "Ask Alice about goggles",
            "“take the goggles”",
        ),
        (["Remind me of the goggles.", "When?", "At 7:30"], "goggles", "“the goggles”"),
        (["Please do."], "Remind Alice to call Tom", "call Tom"),
    ],
)
def test_of_what_the_companion_noted_the_persons_own_words_come(
    mira: Companion, rehearsal: RehearsalServer, said: list[str], note: str, told: str
) -> None:
    message = say(mira, *said, at=NOON - HOUR)[-1]
    rehearsal.script({"answer": "", "when": "<kith-waking>"})
    ran(woken(mira, NOON, note, message=message), NOON)
    assert unprompted(mira) == [f"You wanted to be reminded: {told}"]


def test_words_that_the_person_has_hidden_since_do_not_come(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    [hidden, message] = say(mira, "Remind me to see Dr. Lin about the pills", "At 7:30", at=NOON - HOUR)
    Message.objects.filter(pk=hidden.pk).update(is_hidden=True)
    rehearsal.script({"answer": "", "when": "<kith-waking>"})
    ran(woken(mira, NOON, "see Dr. Lin", message=message), NOON)
    assert unprompted(mira) == ["You wanted to be reminded: see Dr. Lin"]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("Remind me in 2 minutes to take the bread out", "take the bread out"),
        ("Hey, could you please remind me at 7:30 that Tom calls?", "Tom calls?"),
        ("remind me tomorrow: pay the rent.", "pay the rent"),
        ("Remind me about my speech", "my speech"),
        ("Remind the user to stretch.", "stretch"),
        ("Remind me", "Remind me"),
        ("Tom reminds me to eat.", "Tom reminds me to eat"),
        ("两分钟后提醒我把面包拿出来。", "把面包拿出来"),
        ("请明天早上提醒我：带护目镜", "带护目镜"),
        ("提醒Alice喝水", "喝水"),
    ],
)
def test_it_tells_what_it_is_for_without_the_order(
    mira: Companion, rehearsal: RehearsalServer, asked: str, told: str
) -> None:
    rehearsal.script({"answer": "", "when": "<kith-waking>"})
    waking = woken(mira, NOON, asked)
    Timer.objects.filter(pk=waking.timer_id).update(by=Timer.By.USER)
    ran(waking, NOON)
    assert unprompted(mira) == [f"You wanted to be reminded: {told}"]


def test_a_note_that_an_operator_wrote_to_the_companion_goes_to_nobody(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"answer": "", "when": "<kith-waking>"})
    waking = woken(mira, NOON, "Be nicer to her.")
    Timer.objects.filter(pk=waking.timer_id).update(by=Timer.By.OPERATOR)
    assert ran(waking, NOON).outcome == "silent"
    assert unprompted(mira) == []


def test_it_is_kiths_word_and_never_the_companions(mira: Companion, rehearsal: RehearsalServer) -> None:
    """On the page, in the API and the next prompt it stands as Kith's, and nobody learns from it."""
    say(mira, "Hello", "Hello, Alice.", at=NOON - HOUR)
    rehearsal.script({"answer": "", "when": "<kith-waking>"})
    ran(woken(mira, NOON, "Remind Alice to drink water"), NOON)
    notice = Message.objects.get(waking__isnull=False)
    assert (notice.role, notice.author, notice.text, notice.is_rehearsed) == ("system", "Kith", BARE, False)
    assert not Memory.objects.filter(companion=mira, text__contains="wanted to be").exists()
    Conversation.objects.filter(companion=mira).update(read_until=NOON - MINUTE)
    assert count_unread(mira.user, timezone.now()) == {mira.pk: 1}
    assert b'"title":"Kith"' in render_payload(notice)
    spoken = Spoken(notice.pk, notice.role, notice.text, False, None, notice.said_at)
    [shown] = render_history([spoken] * 3, mira.user.zone)  # the same thrice is sent once
    assert shown["role"] == "user"
    assert str(shown["content"]).startswith("<kith-notice>")
    assert notice not in select_visible(select_messages(notice.session))


def test_a_word_of_its_own_does_not_come_so(mira: Companion, rehearsal: RehearsalServer) -> None:
    let_speak(mira)
    rehearsal.script(*[{"error": {"status": 503}, "when": "<kith-waking>"}] * 4)
    waking = ran(woken(mira, NOON, is_asked_for=False), NOON)
    waking = ran(waking, NOON + 3 * MINUTE)
    assert (waking.state, waking.attempts, unprompted(mira)) == ("waiting", 2, [])


@pytest.mark.parametrize("name", ["evening", "morning"])
def test_no_sentence_that_kith_wrote_for_the_companion_goes_to_the_person(
    mira: Companion, rehearsal: RehearsalServer, settings: Any, name: str
) -> None:
    say(mira, "Hello", at=NOON - HOUR)
    timer = Timer.objects.get(companion=mira, name=name)
    rehearsal.script(*[{"error": {"status": 503}, "when": "<kith-waking>"}] * 20)
    waking = Waking.objects.get(pk=fire(timer, NOON, is_asked_for=True).pk)
    for minutes in (0, 3, 10, 30):
        waking = ran(waking, NOON + minutes * MINUTE)
    assert unprompted(mira) == []
    spend_all(mira, settings)
    again = Waking.objects.get(pk=fire(timer, NOON + HOUR, is_asked_for=True).pk)
    assert ran(again, NOON + HOUR).reason == "no_tokens"
    assert unprompted(mira) == []


def test_what_it_does_by_itself_takes_no_reminders_place(mira: Companion, settings: Any) -> None:
    settings.LIFE_WAKINGS_PER_DAY = 2
    say(mira, "Hello", at=NOON - DAY)
    for minutes in (0, 1):
        ran(woken(mira, NOON + minutes * MINUTE, is_asked_for=False), NOON + minutes * MINUTE)
    assert ran(woken(mira, NOON + HOUR), NOON + HOUR).outcome == "spoke"


def test_the_persons_own_words_are_not_held_back(mira: Companion, rehearsal: RehearsalServer) -> None:
    rehearsal.script({"answer": PRESSING, "when": "<kith-waking>"})
    waking = woken(mira, NOON, PRESSING)
    Timer.objects.filter(pk=waking.timer_id).update(by=Timer.By.USER)
    assert ran(waking, NOON).outcome == "reminded"
    assert unprompted(mira) == [f"You wanted to be reminded: {PRESSING}"]


def test_what_it_sets_in_a_waking_nobody_has_asked_for(mira: Companion) -> None:
    """Else each reminder could set ten more, and it would write at night to whom it may not write."""
    waking = woken(mira, NOON)
    timer = set_timer(
        mira, "1h", "again", by=Timer.By.COMPANION, now=NOON, is_asked_for=True, waking=as_it_is(waking.pk)
    )
    assert not timer.is_asked_for


def test_an_old_account_costs_nothing_for_what_a_companion_has_set_itself(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    say(mira, "Hello", at=NOON - 22 * DAY)
    waking = ran(woken(mira, NOON, schedule="cron:0 * * * *", is_asked_for=False), NOON)
    assert (waking.state, waking.reason) == ("skipped", "nothing_new")
    assert ran(woken(mira, NOON + HOUR), NOON + HOUR).outcome == "spoke"


def test_who_is_shut_out_is_not_written_to(mira: Companion, rehearsal: RehearsalServer) -> None:
    mira.user.is_active = False
    mira.user.save()
    waking = ran(woken(mira, NOON), NOON)
    assert (waking.state, waking.reason, unprompted(mira)) == ("skipped", "shut_out", [])
    assert rehearsal.requests() == []


def test_who_reads_no_reminder_for_long_is_reminded_without_a_model(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    timer = set_timer(
        mira, "cron:0 12 * * *", "to drink water", by=Timer.By.USER, now=NOON, is_asked_for=True
    )
    given = {"timer": timer, "origin": Waking.Origin.TIMER, "note": timer.note, "is_asked_for": True}

    def remind(day: int) -> Waking:
        at = NOON + day * DAY
        return ran(Waking.objects.create(companion=mira, due_at=at, look_at=at, created_at=at, **given), at)

    Conversation.objects.filter(companion=mira).update(read_until=NOON)
    assert [remind(day).outcome for day in range(1, 8)] == ["spoke"] * 7
    asked = len(rehearsal.requests())
    assert remind(8).outcome == "reminded"
    assert (unprompted(mira)[-1], len(rehearsal.requests())) == (BARE, asked)
    assert mark_read(mira, NOON + 8 * DAY)
    assert remind(9).outcome == "spoke"
