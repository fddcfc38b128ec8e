"""The timers' tools in a turn: what they set, and how a model is told what it can mend."""

import json
from datetime import timedelta
from typing import Any

import pytest

from companions import tools
from companions.life.timers.timers import cancel, set_timer
from companions.models import Companion, Timer
from companions.replies.context import TurnContext
from providers.rehearsal.talk import answer
from tests.companions.tools.conftest import NOW, end, turn_of, use
from text.dates import name_day

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]


@pytest.fixture
def turn(mira: Companion) -> TurnContext:
    return turn_of(mira, "Remind me of tea 2, 3, 4 and 5, please")


def test_a_timer_set_in_a_talk_is_asked_for(mira: Companion, turn: TurnContext) -> None:
    given = use(turn, "set_timer", schedule="30s", text="drink water")
    timer = mira.timers.get(note="drink water")
    assert (timer.by, timer.is_asked_for, timer.message) == ("companion", True, turn.message)
    assert timer.due_at == NOW + timedelta(seconds=30)
    there = timer.due_at.astimezone(mira.user.zone)
    assert given == {
        "when": "in 30 seconds",
        "next": f"{there:%a %Y-%m-%d %H:%M}",
    }


def test_a_timer_may_name_its_day_as_people_do_and_is_set_once(mira: Companion, turn: TurnContext) -> None:
    for _time in range(2):
        given = use(turn, "set_timer", schedule="tomorrow 9:00", text="drink water")
    timer = mira.timers.get(note="drink water")
    assert timer.schedule == f"once:{NOW.astimezone(mira.user.zone) + timedelta(days=1):%Y-%m-%d} 09:00"
    assert given["next"].endswith("09:00")


def test_a_reminder_that_there_is_already_is_not_set_again_by_another_message(mira: Companion) -> None:
    def ask(said: str, schedule: str, text: str) -> None:
        asked = turn_of(mira, said)
        assert use(asked, "set_timer", schedule=schedule, text=text)["next"]
        end(asked)

    ask("Remind me of my pills daily at 8", "cron:0 8 * * *", "Pills")
    ask("Have you set the reminder of my pills, daily at 8?", "every day at 8:00", "pills")
    mine = mira.timers.filter(note__iexact="pills")
    assert mine.count() == 1
    ask("And of my pills at 9", "cron:0 9 * * *", "pills")
    ask("And of the cat's pills at 8", "cron:0 8 * * *", "the cat's pills")
    assert mira.timers.filter(note__icontains="pills").count() == 3
    cancel(mine.get(schedule="cron:0 8 * * *"), NOW)
    ask("Remind me of my pills at 8 after all", "cron:0 8 * * *", "pills")
    assert mine.active().count() == 2


@pytest.mark.parametrize(
    ("arguments", "schedule"),
    [
        ({"delay": "30 minutes", "message": "drink water"}, "30min"),
        # years away, and not today at eight
        ({"date": "2099-12-05", "time": "08:00", "text": "drink water"}, ""),
        ({"schedule": "every day at 7:00", "reminder": "drink water"}, "cron:0 7 * * *"),
        ({"cron": "0 7 * * 1", "text": "drink water"}, "cron:0 7 * * 1"),
        ({"schedule": "每周一早上七点半", "text": "drink water"}, "cron:30 7 * * 1"),
        ({"schedule": "每星期天早上9点", "text": "drink water"}, "cron:0 9 * * 7"),
        ({"schedule": "半小时后", "text": "drink water"}, "30min"),
        ({"schedule": "两小时后", "text": "drink water"}, "2h"),
    ],
    ids=str,
)
def test_a_timer_is_set_as_small_models_ask_for_it(
    mira: Companion, arguments: dict[str, str], schedule: str
) -> None:
    given = use(turn_of(mira, "Remind me to drink water"), "set_timer", **arguments)
    set_now = mira.timers.filter(note="drink water").values_list("schedule", flat=True)
    assert list(set_now) == ([schedule] if schedule else []), given


def test_one_that_it_sets_for_itself_was_not_asked_for(mira: Companion, turn: TurnContext) -> None:
    use(turn, "set_timer", schedule="1d", text="look at the stars", they_asked=False)
    assert not mira.timers.get(note="look at the stars").is_asked_for


@pytest.mark.parametrize(
    ("said", "invented", "kept"),
    [
        ("Hungry. Remind me of the dentist, please.", "Dentist with Dr. Weber", "Remind me of the dentist, please."),
        ("明天下午三点提醒我去看牙医", "去看王医生的牙科门诊，带 200 块钱", "明天下午三点提醒我去看牙医"),
        ("Could you ping me then?", "Call Ana about the 3 tickets", "Could you ping me then?"),
    ],
)  # fmt: skip
def test_a_note_of_what_nobody_said_becomes_the_persons_own_words(
    mira: Companion, said: str, invented: str, kept: str
) -> None:
    given = use(turn_of(mira, said), "set_timer", schedule="2h", text=invented)
    assert mira.timers.get(name="").note == kept
    assert given["text"] == kept


def test_a_wish_of_its_own_may_be_of_anything_but_names_nobody(mira: Companion, turn: TurnContext) -> None:
    use(turn, "set_timer", schedule="1d", text="think of the sea", they_asked=False)
    use(turn, "set_timer", schedule="2d", text="ask after Ana", they_asked=False)
    assert set(mira.timers.filter(name="").values_list("note", flat=True)) == {
        "think of the sea",
        turn.message.text,
    }


def test_a_call_that_is_run_again_sets_nothing_more(mira: Companion, turn: TurnContext) -> None:
    first = use(turn, "set_timer", schedule="30s", text="drink water")
    assert use(turn, "set_timer", schedule="30s", text="drink water") == first
    use(turn, "set_timer", schedule="60s", text="drink water")
    end(turn)
    use(turn_of(mira, "And again"), "set_timer", schedule="30s", text="drink water")
    assert mira.timers.filter(note="drink water").count() == 3


def test_the_next_turn_is_told_which_timers_run(mira: Companion, turn: TurnContext) -> None:
    for number in (5, 4, 3, 2):
        use(turn, "set_timer", schedule=f"{number}min", text=f"tea {number}")
    set_timer(mira, "cron:0 8 * * 1-5", "stretch", by=Timer.By.USER, now=NOW, is_asked_for=True)
    set_timer(mira, "1min", "be kind", by=Timer.By.OPERATOR, now=NOW, is_asked_for=False)
    use(turn, "cancel_timer", timer=str(mira.timers.get(note="tea 3").pk))
    end(turn)
    following = turn_of(mira, "Did you set it?")
    end(following)
    told = str(following.prompt[-1]["content"])
    lines = (
        told.partition("These timers are set already:\n")[2].partition("\n</kith-context>")[0].splitlines()
    )
    due = [(NOW + timedelta(minutes=number)).astimezone(mira.user.zone) for number in (2, 4, 5)]
    times = [f"{name_day(at.date(), NOW.date())}, {at:%H:%M}" for at in due]
    assert lines[:3] == [f'- {at}: "tea {number}"' for at, number in zip(times, (2, 4, 5), strict=True)]
    assert lines[3] == "- and 1 more"
    for timer in mira.timers.filter(note__startswith="tea"):
        cancel(timer, NOW)
    last = turn_of(mira, "And now?")
    assert "- every weekday at 08:00, next on " in str(last.prompt[-1]["content"])
    assert mira.timers.get(note="stretch").pk in last.shown_ids
    end(last)
    mira.timers.filter(note="stretch").update(is_asked_for=False)
    assert ', a wish of your own: "stretch"' in str(turn_of(mira, "And?").prompt[-1]["content"])


def test_timers_are_listed_and_cancelled_by_their_short_ids(mira: Companion, turn: TurnContext) -> None:
    made = use(turn, "set_timer", schedule="2min", text="tea")
    given = use(turn, "list_timers")
    short = str(mira.timers.get(note="tea").pk)[:8]
    assert given["timers"][0] == {"timer": short, "they_asked": True, **made, "text": "tea"}
    assert (len(given["timers"]), given["more"]) == (3, 0)
    assert turn.shown_ids >= set(mira.timers.values_list("pk", flat=True))
    assert use(turn, "cancel_timer", timer=short.upper()) == {
        "cancelled": short,
        "text": "tea",
    }
    assert mira.timers.get(note="tea").state == Timer.State.CANCELLED
    assert "list_timers" in use(turn, "cancel_timer", timer=short)["error"]
    use(turn, "set_timer", schedule="5min", text="Tea 5.")
    assert use(turn, "cancel_timer", timer="tea 5")["text"] == "Tea 5."


def test_anothers_timer_is_not_there(mira: Companion, tian: Companion, turn: TurnContext) -> None:
    other = tian.timers.get(name="evening")
    assert "no such timer" in use(turn, "cancel_timer", timer=str(other.pk))["error"]
    assert "no such timer" in use(turn, "cancel_timer", timer=" " * 8)["error"]
    other.refresh_from_db()
    assert other.state == Timer.State.ACTIVE


@pytest.mark.parametrize(
    ("schedule", "told"),
    [
        ("cron:60 8 * * *", "0 to 59"),
        ("cron:0 0 8 * * *", "five fields"),
        ("@reboot", "cron:0 8 * * *"),
        ("once:2020-01-01 09:00", f"it is {NOW.year}-"),
        ("once:2026-02-30 09:00", "no such date"),
        ("0s", "at least one second"),
        ("365000000d", "five years"),
        ("cron:* * * * *", "10 minutes"),
        ("x" * 121, "120 characters"),
    ],
    ids=lambda value: value[:20],
)
def test_what_cannot_be_set_is_told_so_that_it_can_be_mended(
    mira: Companion, turn: TurnContext, schedule: str, told: str
) -> None:
    given = use(turn, "set_timer", schedule=schedule, text="tea")
    assert given.keys() == {"error"}
    assert told in given["error"]
    assert len(given["error"]) < 500
    assert not mira.timers.filter(name="").exists()


@pytest.mark.parametrize("note", ["", "x" * 1_000_000, "a\0b", "My password is hunter2"])
def test_a_note_that_cannot_be_kept_is_refused(mira: Companion, turn: TurnContext, note: str) -> None:
    given = tools.call(turn, "set_timer", json.dumps({"schedule": "5min", "text": note}), NOW)
    assert 0 < len(given["error"]) <= 1500
    assert not mira.timers.filter(name="").exists()


def test_an_unknown_zone_is_told(mira: Companion, turn: TurnContext) -> None:
    turn.companion.user.time_zone = "Mars/Olympus"
    assert "Mars/Olympus" in use(turn, "set_timer", schedule="5min", text="tea")["error"]


def test_of_a_hundred_timers_in_one_turn_ten_are_set(
    mira: Companion, turn: TurnContext, settings: Any
) -> None:
    settings.CONTEXT_TOKENS = 100_000
    given = [use(turn, "set_timer", schedule="5min", text="tea" + " and tea" * n) for n in range(100)]
    assert [("error" in one) for one in given] == [False] * 10 + [True] * 90
    assert given[-1]["error"] == "At most 10 timers can be set in one turn."
    assert mira.timers.filter(name="").count() == 10


def test_many_timers_are_listed_as_far_as_there_is_room(mira: Companion, settings: Any) -> None:
    turns = [turn_of_many(mira, n) for n in range(4)]
    settings.CONTEXT_TOKENS, settings.ANSWER_TOKENS = 8000, 500
    given = use(turns[-1], "list_timers")
    assert 0 < len(given["timers"]) < 42
    assert len(given["timers"]) + given["more"] == 42


def turn_of_many(companion: Companion, n: int) -> TurnContext:
    """A turn in which ten timers were set, ended but for the last."""
    turn = turn_of(companion, f"Hello {n}: 0 1 2 3 4 5 6 7 8 9")
    for one in range(10):
        given = tools.call(
            turn, "set_timer", f'{{"schedule": "5min", "text": "{n} {one} {"tea " * 60}"}}', NOW
        )
        assert "error" not in given
    if n < 3:
        end(turn)
    return turn


def test_the_rehearsal_model_sets_one_from_a_whole_turn(mira: Companion) -> None:
    """From the prompt as Kith renders it, through the tool, to what is said."""
    turn = turn_of(mira, "remind me in 30s to drink water")
    _said, [asked] = answer(turn.prompt, tools.get_offers())
    given = tools.call(turn, asked.name, asked.arguments, NOW)
    timer = mira.timers.get(note="to drink water")
    assert timer.schedule == "30s"
    use(turn, asked.name, schedule="30s", note="to drink water")
    said, calls = answer(turn.prompt, tools.get_offers())
    assert calls == []
    assert said.startswith("I will remind you ")
    assert given["next"][-5:] in said
