"""Long-term threads: opened by what is learnt with a day to come, shown when due, ended when settled."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from companions.deletion import delete_message
from companions.models import Companion, Message
from companions.tasks import drop_old_prompts
from memory.learning.answers import Learnt
from memory.learning.talk import Line, Talk
from memory.learning.verdicts import learn
from memory.models import Memory, Thread
from memory.store import keep_fact
from memory.threads import (
    close_thread,
    drop_old,
    load_open_threads,
    open_thread,
    render_threads,
    reopen_thread,
)
from tests.companions.talking import say

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]
MONDAY = datetime(2026, 5, 4, 10, tzinfo=UTC)
DAY = timedelta(days=1)
NAMES = {"user": "Alice", "companion": "Mira"}


def learnt_of(
    companion: Companion, text: str, at: datetime, *, kind: str, tells: str, **fields: Any
) -> Message:
    """Let Alice say it at that time, and the companion learn what it tells."""
    message = say(companion, text, at=at)[0]
    learnt_from(message, kind=kind, tells=tells, **fields)
    return message


def learnt_from(
    message: Message, *, kind: str, tells: str, now: datetime | None = None, **fields: Any
) -> None:
    """Let the companion learn what the message tells, as it is said or at another time."""
    companion, text, at = message.companion, message.text, message.said_at
    zone = companion.user.zone
    line = Line(message.pk, "user", "Alice", text, at.astimezone(zone))
    entry = Learnt.model_validate({"kind": kind, "text": tells, "sources": [1], "quotes": [text], **fields})
    known = list(Memory.objects.filter(companion=companion).exclude(kind="said").order_by("learnt_at"))
    learn(companion.pk, Talk([line]), [entry], known, now=now or at, zone=zone, names=NAMES)


def exam(companion: Companion) -> Message:
    return learnt_of(
        companion, "My chemistry exam is on Friday.", MONDAY, kind="event",
        tells="Alice's chemistry exam is on Friday, 8 May 2026.",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("at", "day"), [(MONDAY, "Monday 04 May"), (MONDAY + timedelta(hours=13), "Tuesday 05 May")]
)
def test_what_counts_from_its_day_tells_on_which_day_it_was_told(
    mira: Companion, at: datetime, day: str
) -> None:
    """In the person's zone: an hour after midnight in Berlin it is Monday still in UTC."""
    learnt_of(mira, "My exam is next Friday.", at, kind="event", tells="Alice's exam is next Friday.")
    assert shown(mira, MONDAY + 11 * DAY) == [
        f'- Coming up today: "Alice\'s exam is next Friday." (told on {day})'
    ]


def shown(companion: Companion, now: datetime) -> list[str]:
    zone = companion.user.zone
    return render_threads(load_open_threads(companion.pk, now, zone), now.astimezone(zone).date(), zone)[1:]


def test_an_event_with_a_day_to_come_is_open_and_comes_up_from_its_eve_on(mira: Companion) -> None:
    exam(mira)
    thread = Thread.objects.get()
    assert (thread.state, thread.due_on) == ("open", date(2026, 5, 8))
    text = '"Alice\'s chemistry exam is on Friday, 8 May 2026."'
    assert [shown(mira, MONDAY + days * DAY) for days in range(2, 9)] == [
        [],
        [f"- Coming up tomorrow: {text}"],
        [f"- Coming up today: {text}"],
        [f"- Was yesterday: {text}"],
        [f"- Was 2 days ago: {text}"],
        [f"- Was 3 days ago: {text}"],
        [],
    ]


def test_a_day_that_it_was_moved_from_is_not_its_day(mira: Companion) -> None:
    learnt_of(
        mira, "My exam is on Friday, not on Thursday.", MONDAY, kind="event", happened_on="2026-05-08",
        tells="Alice's exam is on Friday 8 May, not on Thursday.",
    )  # fmt: skip
    assert Thread.objects.get().due_on == date(2026, 5, 8)


@pytest.mark.parametrize(
    ("when", "due_on"), [("on 8 May", date(2026, 5, 8)), ("soon", None)], ids=["named", "made up"]
)
def test_what_is_known_already_is_open_once_the_model_calls_it_so(
    mira: Companion, when: str, due_on: date | None
) -> None:
    known = keep_fact(mira.pk, f"Alice failed the exam in April and retakes it {when}.", MONDAY, MONDAY)
    learnt_of(
        mira, f"The exam is {when}, ask me after.", MONDAY + timedelta(minutes=1), kind="event", of=1,
        tells=f"Alice retakes her exam {when}, and I am to ask how it went.",
        verdict="reinforce", thread="open", happened_on="2026-05-08",
    )  # fmt: skip
    assert list(Thread.objects.values_list("memory", "due_on")) == [(known.pk, due_on)]


def test_the_day_of_what_is_open_is_in_the_line_that_its_quote_is_from(mira: Companion) -> None:
    said = say(mira, "Hello!", "Hi!", "I am to meet Tom on Friday.", at=MONDAY)[::2]
    lines = [Line(one.pk, "user", "Alice", one.text, one.said_at) for one in said]
    entry = Learnt.model_validate(
        {
            "text": "Alice is to meet Tom.",
            "sources": [1],
            "quotes": [lines[1].text],
            "thread": "open",
            "happened_on": "2026-05-08",
        }
    )
    learn(mira.pk, Talk(lines), [entry], [], now=MONDAY, zone=UTC, names=NAMES, read={0: "yes"})
    assert Thread.objects.get().due_on == date(2026, 5, 8)


def test_it_is_settled_by_what_is_told_of_it_afterwards(mira: Companion) -> None:
    exam(mira)
    learnt_of(
        mira, "I am nervous about the chemistry exam.", MONDAY + 2 * DAY, kind="fact",
        tells="Alice is nervous about the chemistry exam.",
    )  # fmt: skip
    assert Thread.objects.get().state == "open"
    told = learnt_of(
        mira,
        "I passed the chemistry exam!",
        MONDAY + 5 * DAY,
        kind="event",
        tells="Alice passed her chemistry exam.",
    )
    thread = Thread.objects.get()
    assert (thread.state, thread.settled_by, thread.closed_at) == ("settled", told, MONDAY + 5 * DAY)
    assert shown(mira, MONDAY + 5 * DAY) == []


def test_the_very_line_that_opened_it_settles_nothing_whatever_the_model_says(mira: Companion) -> None:
    tells, again = "Alice promised to call Tiago.", {"of": 1, "thread": "settled"}
    promise = learnt_of(mira, "I will call Tiago.", MONDAY, kind="promise", tells=tells, thread="open")
    for hour, tells in enumerate(("Alice will call Tiago.", "Alice means to call Tiago soon."), start=1):
        now = MONDAY + timedelta(hours=hour)  # so that the promise stays the first of what is known
        learnt_from(promise, kind="promise", tells=tells, now=now, **again)
        assert Thread.objects.get().state == "open"
    called = learnt_of(
        mira, "I called Tiago.", MONDAY + DAY, kind="event", tells="Alice called Tiago.", **again
    )
    assert (Thread.objects.get().state, Thread.objects.get().settled_by) == ("settled", called)


@pytest.mark.parametrize("verdict", ["reinforce", "revise"])
def test_what_ends_a_promise_without_a_day_settles_it_whatever_the_verdict(
    mira: Companion, verdict: str
) -> None:
    tells, ends = "Alice promised to call Tiago.", {"of": 1, "thread": "settled", "verdict": verdict}
    learnt_of(mira, "I will call Tiago.", MONDAY, kind="promise", tells=tells, thread="open")
    learnt_of(mira, "I called Tiago.", MONDAY + DAY, kind="event", tells="Alice called Tiago.", **ends)
    assert Thread.objects.get().state == "settled"
    assert Memory.objects.filter(text="Alice called Tiago.").exists()


def test_another_matter_settles_nothing(mira: Companion) -> None:
    exam(mira)
    learnt_of(mira, "I baked bread.", MONDAY + 5 * DAY, kind="event", tells="Alice baked bread.")
    assert Thread.objects.get().state == "open"


@pytest.mark.parametrize("days", [0, 3])
def test_what_is_moved_to_another_day_is_open_for_that_one(mira: Companion, days: int) -> None:
    exam(mira)
    learnt_of(
        mira, "The chemistry exam is on 15 May now.", MONDAY + days * DAY + timedelta(hours=1), kind="event",
        tells="Alice's chemistry exam is on 15 May 2026.", verdict="revise", of=1,
    )  # fmt: skip
    states = dict(Thread.objects.values_list("due_on", "state"))
    assert states == {date(2026, 5, 8): "dropped", date(2026, 5, 15): "open"}


def test_what_has_no_day_opens_nothing_unless_the_model_calls_it_open(mira: Companion) -> None:
    learnt_of(mira, "I love tea.", MONDAY, kind="preference", tells="Alice loves tea.")
    learnt_of(mira, "I will call you.", MONDAY, kind="promise", tells="Alice promised to call.")
    learnt_of(mira, "Not a word yet.", MONDAY, kind="fact", tells="On 4 May 2026 Alice had written no word.")
    learnt_of(mira, "Tom and I argued.", MONDAY, kind="event", tells="Alice and Tom argued on 2026-05-04.")
    assert not Thread.objects.exists()
    worry = Memory.objects.get(text="Alice loves tea.")
    open_thread(worry, None, MONDAY)
    assert shown(mira, MONDAY + timedelta(hours=1)) == []  # it was said a moment ago
    assert shown(mira, MONDAY + DAY) == ['- Open: "Alice loves tea."']
    assert shown(mira, MONDAY + 15 * DAY) == []


@pytest.mark.parametrize(
    ("state", "due", "opened", "then"),
    [
        ("open", 20, 90, "dropped"),
        ("open", 10, 90, "open"),
        ("open", None, 90, "dropped"),
        ("open", None, 50, "open"),
        ("settled", 20, 90, "settled"),
    ],
)
def test_what_nobody_came_back_to_is_let_be(
    mira: Companion, state: str, due: int | None, opened: int, then: str
) -> None:
    exam(mira)
    now = timezone.now()
    due_on = now - due * DAY if due else None
    closed_at = now if state == "settled" else None
    Thread.objects.update(due_on=due_on, opened_at=now - opened * DAY, state=state, closed_at=closed_at)
    drop_old_prompts()  # each hour, whether anything is said or not
    assert Thread.objects.get().state == then


@pytest.mark.parametrize(("days", "due_on"), [(3, date(2026, 5, 8)), (40, None), (100, None)])
def test_what_is_opened_again_is_open_as_of_then(mira: Companion, days: int, due_on: date | None) -> None:
    exam(mira)
    thread, now = Thread.objects.get(), MONDAY + days * DAY
    close_thread(thread, Thread.State.SETTLED, MONDAY + DAY)
    reopen_thread(thread, now, UTC)
    drop_old(now)
    thread.refresh_from_db()
    assert (thread.state, thread.opened_at, thread.due_on) == ("open", now, due_on)


def test_at_most_five_come_up_by_one_query(
    mira: Companion, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(8):
        learnt_of(
            mira,
            f"Visit {number} is on 8 May.",
            MONDAY,
            kind="event",
            tells=f"Alice has visit {number} on 8 May 2026.",
        )
    with django_assert_num_queries(1):
        assert len(shown(mira, MONDAY + 4 * DAY)) == 5


@pytest.mark.parametrize("fields", [{"is_private": True}, {"is_stale": True}, {"closed_at": MONDAY}])
def test_what_models_may_not_be_told_does_not_come_up(mira: Companion, fields: dict[str, Any]) -> None:
    exam(mira)
    Memory.objects.filter(thread__isnull=False).update(**fields)
    assert shown(mira, MONDAY + 4 * DAY) == []


def test_what_comes_from_a_hidden_message_does_not_come_up(mira: Companion) -> None:
    Message.objects.filter(pk=exam(mira).pk).update(is_hidden=True)
    assert shown(mira, MONDAY + 4 * DAY) == []


def test_it_goes_with_what_it_came_from(mira: Companion) -> None:
    delete_message(exam(mira), MONDAY)
    assert not Thread.objects.exists()


def test_another_persons_threads_are_not_seen(mira: Companion, tian: Companion) -> None:
    exam(mira)
    assert load_open_threads(tian.pk, MONDAY + 4 * DAY, UTC) == []
    assert not Thread.objects.owned_by(tian.user).exists()


WORRIES = {
    "Alice is worried about her mother's operation.": True,
    "Alice is really nervous about the new flat.": True,
    "爱丽丝很担心妈妈的手术。": True,
    "Alice is always worried about money.": False,
    "Alice is not worried about the exam.": False,
    "Alice is afraid of spiders.": False,
    "爱丽丝不担心考试。": False,
    "Alice's mother had an operation.": False,
}


@pytest.mark.parametrize(("tells", "is_open"), WORRIES.items())
def test_a_worry_without_a_day_is_open(mira: Companion, tells: str, is_open: bool) -> None:
    learnt_of(mira, tells.replace("Alice is", "I am"), MONDAY, kind="fact", tells=tells)
    assert list(Thread.objects.values_list("due_on", "state")) == ([(None, "open")] if is_open else [])
    assert shown(mira, MONDAY + DAY) == ([f'- Open: "{tells}"'] if is_open else [])
