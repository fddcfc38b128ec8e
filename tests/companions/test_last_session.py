"""Where the two left off: told in the first turns of a session, and no more of it than may be told."""

from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from companions.answers.cleaner import Names, clean_text
from companions.deletion import delete_message
from companions.life import inner_state
from companions.life.inner_state import Feeling
from companions.life.wakings.recent_talk import RecentTalk
from companions.memories.editing import set_private
from companions.models import Companion, InnerState, Message, Prompt, Session, Timer
from companions.prompting.moment import load_last_time, render_last_talk, render_timers
from memory.emotion import Emotion
from memory.models import DiaryEntry, Memory
from memory.store import keep_fact
from memory.threads import open_thread
from tests.companions.everywhere import tables_with
from tests.companions.talking import say
from tests.companions.tools.conftest import end, turn_of
from tests.fixtures.turns import end_session

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]
NOW = timezone.now()
NOON = NOW.astimezone(ZoneInfo("Europe/Berlin")).replace(hour=12, minute=0)  # where Alice lives
THEN = NOON - timedelta(days=2)


@pytest.fixture
def before(mira: Companion) -> Session:
    """A talk of two days ago, over since, with its diary entry."""
    said = say(
        mira, "Grandma Lurdes died on Friday.", "I am so sorry.", "I go to bed.", "Sleep well.", at=THEN
    )
    session = said[0].session
    Session.objects.filter(pk=session.pk).update(started_at=THEN, ended_at=THEN + timedelta(hours=8))
    memory = Memory.objects.create(
        companion=mira, kind="diary", text="A loss", happened_at=THEN, learnt_at=THEN
    )
    DiaryEntry.objects.create(
        companion=mira,
        session=session,
        title="A loss",
        sentences=[{"text": "Alice lost her grandmother.", "sources": [str(said[0].pk)]}],
        started_at=THEN,
        ended_at=THEN + timedelta(minutes=3),
        memory=memory,
        made_at=THEN,
    )
    return session


def context(companion: Companion, text: str = "I am back.", *, is_in_call: bool = False) -> str:
    turn = turn_of(companion, text, is_in_call=is_in_call)
    end(turn)
    return str(turn.prompt[-1]["content"])


@pytest.mark.usefixtures("before")
def test_the_first_turns_of_a_session_are_told_where_the_two_left_off(mira: Companion) -> None:
    told = context(mira)
    assert "Last time you two talked: 2 days ago, until" in told
    assert "Your diary, of" in told
    assert '"A loss: Alice lost her grandmother."' in told
    assert 'It ended: Alice said: "I go to bed." You said: "Sleep well."' in told
    assert "Lurdes" not in told
    assert "Last time" in context(mira, "Well.")
    assert "Last time" in context(mira, "So.")
    later = context(mira, "And now?")
    assert "Last time you two talked: 2 days ago, until" in later
    assert "Your diary, of" not in later
    assert "It ended" not in later


@pytest.mark.usefixtures("before")
@pytest.mark.parametrize(
    ("told", "is_recalled"), [("Alice lost her grandmother.", False), ("She was kind. " * 30, True)]
)
def test_a_diary_entry_that_is_told_whole_is_not_recalled_beside_it(
    mira: Companion, told: str, is_recalled: bool
) -> None:
    memory = keep_fact(mira.pk, f"The loss of a grandmother\n{told}", THEN, THEN)
    Memory.objects.filter(pk=memory.pk).update(kind="diary")
    DiaryEntry.objects.update(memory=memory, sentences=[{"text": told, "sources": []}])
    assert ("From your diary" in context(mira, "I think of the loss of my grandmother.")) == is_recalled


def test_a_talk_of_another_year_is_told_with_its_year() -> None:
    ended = NOON.replace(year=2026, month=10, day=9)
    told = render_last_talk(ended, ended.replace(year=2027))
    assert told == "Last time you two talked: 365 days ago, until Friday 09 October 2026, 12:00"
    assert render_last_talk(ended, ended.replace(day=12)).endswith("until Friday 09 October, 12:00")


def test_at_the_first_meeting_there_is_no_last_time(mira: Companion) -> None:
    Session.objects.update(started_at=THEN)
    assert "Last time" not in context(mira, "Hello")
    end_session(mira)
    assert "Last time you two talked: just now" in context(mira, "Hello again")


def test_what_is_hidden_private_or_stale_is_not_told(mira: Companion, before: Session) -> None:
    Message.objects.filter(text="Sleep well.").update(is_hidden=True)
    told = context(mira)
    assert 'It ended: You said: "I am so sorry." Alice said: "I go to bed."' in told
    DiaryEntry.objects.update(is_stale=True)
    assert "Your diary" not in context(mira)
    DiaryEntry.objects.update(is_stale=False)
    set_private(Memory.objects.get(kind="diary"), True, NOW)
    assert "Your diary" not in context(mira)


@pytest.mark.usefixtures("before")
def test_a_prompt_that_told_of_it_goes_with_what_is_deleted(mira: Companion) -> None:
    context(mira)
    assert "companions_prompt" in tables_with("Sleep well")
    assert Prompt.objects.count() == 1
    delete_message(Message.objects.get(text="Sleep well."), NOW)
    assert tables_with("Sleep well") == {}
    context(mira)
    assert "companions_prompt" in tables_with("lost her grandmother")
    delete_message(Message.objects.get(text__contains="Lurdes"), NOW)
    assert tables_with("lost her grandmother") == {}


def test_nothing_of_another_companion_is_told(mira: Companion, tian: Companion, before: Session) -> None:
    assert load_last_time(tian) is None
    say(tian, "你好", "你好!", at=NOW - timedelta(days=1))
    last = load_last_time(tian)
    assert last
    assert last.entry is None
    assert [one.text for one in last.last_words] == ["你好", "你好!"]


@pytest.mark.usefixtures("before")
def test_it_is_three_queries(mira: Companion, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(3):
        load_last_time(mira)


@pytest.mark.usefixtures("before")
def test_a_long_ending_is_cut(mira: Companion, before: Session) -> None:
    Message.objects.filter(text="I go to bed.").update(text="bed " * 500)
    told: Any = load_last_time(mira)
    assert max(map(len, told.lines(mira, NOW))) < 800


@pytest.mark.usefixtures("before")
@pytest.mark.parametrize("lead", ["", "Well.\n"])
def test_no_line_of_the_context_is_said(mira: Companion, settings: Any, lead: str) -> None:
    sad = Feeling(-0.8, 0.2, Emotion.SAD, 0.9)
    inner_state.revise(mira.pk, "I miss the sea.", sad, by=InnerState.By.REFLECTION, now=NOW)
    promise = keep_fact(mira.pk, "Mira promised to ask about the exam.", NOW, NOW)
    open_thread(promise, NOW.astimezone(mira.user.zone).date(), NOW)
    keep_fact(mira.pk, "Alice is back at her desk.", NOW, NOW)
    keep_fact(mira.pk, "Alice owns a red bicycle.", THEN, THEN)
    context(mira)
    Session.objects.filter(ended_at=None).update(scratch="she sleeps badly", pressure=0.9)
    settings.FLASHBACK_PROBABILITY = 1  # not before, as what has come to mind does not again so soon
    sent = context(mira, "Where is my red bicycle?", is_in_call=True)
    lines = sent.partition("<kith-context>\n")[2].partition("\n</kith-context>")[0].splitlines()
    for title in (
        "Remembered:",
        "Just came to mind",
        "Open between",
        "Your notes",
        "It ended",
        "The context is",
        "You two are on a call",
    ):
        assert any(line.startswith(title) for line in lines), title
    names = Names("Mira", "Alice")
    assert clean_text(lead + "\n".join(lines), names)[0] == lead.strip()
    assert [line for line in lines if line[0] != "-" and clean_text(line, names)[0]] == ["Remembered:"]


def test_a_day_of_another_year_is_told_with_its_year_and_not_said(mira: Companion) -> None:
    today, far = NOON.date(), timedelta(days=400)
    timer = Timer(due_at=NOON + far, schedule="1d", note="swim", is_asked_for=True)
    due = NOON + far
    assert render_timers([timer], mira, today)[1] == f'- {due:%a} {due.day} {due:%b %Y, %H:%M}: "swim"'
    before = NOON - far
    message = Message(role="user", text="Hi.", said_at=before)
    pages = [DiaryEntry(sentences=[])]
    assert (
        RecentTalk([message], pages, today - timedelta(1))
        .lines(mira, today)[2]
        .startswith(f"Your diary of {today - timedelta(1):%a} ")
    )
    said = RecentTalk([message]).lines(mira, today)[1]
    assert said == f'- [{before:%a} {before.day} {before:%b %Y, %H:%M}] Alice: "Hi."'
    assert clean_text(f"{said[2:].partition('] ')[0]}] Well.", Names("Mira", "Alice"))[0] == "Well."


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("You two are on a call, and your answer is spoken aloud: speak.\nHello.", "Hello."),
        ("You both are on a call, and your answer is spoken aloud, so talk.\nHello.", "Hello."),
        ("You are on a call with your boss?", "You are on a call with your boss?"),
        ("You two are on a call, and I wait.", "You two are on a call, and I wait."),
    ],
)
def test_what_a_small_model_makes_of_the_line_about_a_call_is_not_said(line: str, said: str) -> None:
    assert clean_text(line, Names("Mira", "Alice"))[0] == said
