"""What moves a companion by itself is found in rows, without a model: one waking of each occasion, within a budget."""

import threading
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from accounts.models import ModelCall
from companions.conversations.messages import open_session
from companions.conversations.messages import say as keep_message
from companions.deletion import forget_many
from companions.life.eligibility import find_refusal
from companions.life.tasks import seek_of
from companions.life.triggers import claim_companions, make_waking
from companions.memories.editing import set_private
from companions.models import Companion, Life, Message, Waking
from memory.models import Memory, Pursuit
from memory.store import keep_fact
from memory.threads import open_thread
from tests.companions.life.waking import ran
from tests.fixtures.rehearsal import RehearsalServer

MONDAY = datetime(2026, 5, 4, 10, tzinfo=UTC)  # noon in Berlin, six in the evening in Shanghai
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
pytestmark = pytest.mark.django_db


def open_up(companion: Companion, **fields: Any) -> Companion:
    """The person lets it write first, and wrote this morning."""
    Life.objects.filter(companion=companion).update(reaches_out=True, **fields)
    companion.refresh_from_db()
    wrote(companion, "Hello", MONDAY - HOUR)
    return companion


def wrote(companion: Companion, text: str, at: datetime, **fields: Any) -> Message:
    session = open_session(companion.conversation, at)
    given = {"role": "user", "said_at": at, **fields}
    return keep_message(
        Message(
            companion=companion,
            conversation=companion.conversation,
            session=session,
            text=text,
            **given,
        ),
        at,
    )


@pytest.fixture
def juno(mira: Companion) -> Companion:
    return open_up(mira)


@pytest.fixture
def lan(tian: Companion) -> Companion:
    return open_up(tian)


def know(
    companion: Companion, text: str, kind: str = "event", at: datetime = MONDAY, **fields: Any
) -> Memory:
    memory = keep_fact(companion.pk, text, at, at, zone=companion.user.zone)
    Memory.objects.filter(pk=memory.pk).update(kind=kind, **fields)
    memory.refresh_from_db()
    return memory


def sought(companion: Companion, now: datetime) -> Waking | None:
    found = make_waking(companion.pk, now)
    return Waking.objects.get(pk=found) if found else None


def drive(companion: Companion, now: datetime) -> str:
    waking = sought(companion, now)
    return waking.drive if waking else ""


# -- each drive ---------------------------------------------------------------------------------------------------------


def test_an_event_of_tomorrow_is_an_occasion_with_its_reason(juno: Companion) -> None:
    exam = know(juno, "Alice has a statistics exam on Friday.")
    assert sought(juno, MONDAY) is None
    thursday = MONDAY + 3 * DAY
    waking = sought(juno, thursday)
    assert waking
    assert (waking.origin, waking.state, waking.is_asked_for) == ("drive", "waiting", False)
    assert (waking.drive, waking.drive_key) == ("event", f"event:{exam.pk}:2026-05-08")
    assert (waking.about, waking.due_at, waking.look_at) == (exam, thursday, thursday)
    assert waking.note == "This is tomorrow, and it matters: “Alice has a statistics exam on Friday.”"


def test_what_it_woke_for_on_the_eve_it_does_not_wake_for_again_on_the_day(juno: Companion) -> None:
    know(juno, "Alice has a statistics exam on Friday.")
    assert drive(juno, MONDAY + 3 * DAY) == "event"
    assert drive(juno, MONDAY + 4 * DAY) == "long_silence"


def test_the_note_is_in_the_persons_language(lan: Companion) -> None:
    know(lan, "小王周五要考试。")
    waking = sought(lan, MONDAY + 3 * DAY)
    assert waking
    assert "小王周五要考试。" in waking.note


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("Alice has an interview tomorrow.", 0),
        ("Alice flies to Lisbon on 6 May.", 1),
        ("Alice will move house on 2026-05-12.", 8),
        ("Alice has an operation in ten days, on 14 May.", 10),
        ("Alice's trip begins next Monday.", 7),
        ("小王明天面试。", 0),
        ("小王5月6日飞往里斯本。", 1),
        ("小王下周一搬家。", 6),
        ("小王三天后要做手术。", 2),
    ],
)
def test_what_is_near_is_found_when_it_is_near(juno: Companion, text: str, days: int) -> None:
    know(juno, text)
    assert drive(juno, MONDAY + days * DAY) == "event"


@pytest.mark.parametrize(
    "text",
    [
        "Alice likes exams.",
        "Alice had an exam on Friday.",
        "Alice had her interview on 3 May.",
        "Alice will travel in May.",
        "Alice has an exam on 5/6.",
        "小王周五考试了。",
        "小王每周五跑步。",
        "小王喜欢旅行。",
    ],
)
def test_what_is_past_or_has_no_day_is_not(juno: Companion, text: str) -> None:
    know(juno, text)
    for days in range(12):
        assert drive(juno, MONDAY + days * DAY) == "" or days >= 3  # then there is a silence
    assert not Waking.objects.filter(drive="event").exists()


def test_what_was_told_more_than_a_year_ahead_is_found_on_its_eve(juno: Companion) -> None:
    wedding = know(juno, "Lena marries on 5 May 2026.", at=MONDAY - 400 * DAY)
    open_thread(wedding, date(2026, 5, 5), MONDAY - 400 * DAY)
    assert drive(juno, MONDAY) == "event"


def test_a_fact_is_an_occasion_where_one_trembles_for_it(juno: Companion) -> None:
    know(juno, "The baker is closed tomorrow.", "fact")
    assert drive(juno, MONDAY) == ""
    know(juno, "The exam is tomorrow.", "fact")
    assert drive(juno, MONDAY) == "event"


def test_what_happens_at_a_time_to_come_is_due_then(juno: Companion) -> None:
    know(juno, "Alice's concert", at=MONDAY)
    Memory.objects.filter(text="Alice's concert").update(happened_at=MONDAY + 2 * DAY)
    assert drive(juno, MONDAY) == ""
    assert drive(juno, MONDAY + DAY) == "event"


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("I will ask Alice on Thursday how her week was.", 3),
        ("Alice promised to send her poem on 6 May.", 2),
        ("我答应周四问小王过得怎么样。", 3),
        ("小王答应5月6日发她的诗。", 2),
    ],
)
def test_a_promise_is_due_on_its_day_and_the_day_after(juno: Companion, text: str, days: int) -> None:
    know(juno, text, "promise")
    assert drive(juno, MONDAY + (days - 1) * DAY) == ""
    waking = sought(juno, MONDAY + days * DAY)
    assert waking
    assert (waking.drive, waking.note[:35]) == ("promise", "This was promised for today, and it")
    assert drive(juno, MONDAY + (days + 1) * DAY) in {"", "long_silence"}


def test_a_promise_is_not_forgotten_the_day_after_but_then_let_be(juno: Companion) -> None:
    know(juno, "I will ask Alice tomorrow about her knee.", "promise")
    wrote(juno, "Hm.", MONDAY + 2 * DAY - 2 * HOUR)
    waking = sought(juno, MONDAY + 2 * DAY)
    assert waking
    assert "for yesterday" in waking.note
    Waking.objects.all().delete()
    assert drive(juno, MONDAY + 3 * DAY) == ""


@pytest.mark.parametrize("text", ["I will always be kind.", "Alice promised a poem.", "我答应小王一件事。"])
def test_a_promise_without_a_day_is_never_due(juno: Companion, text: str) -> None:
    know(juno, text, "promise")
    assert [drive(juno, MONDAY + n * DAY) for n in range(3)] == ["", "", ""]


@pytest.mark.parametrize(
    "text",
    [
        "Alice's birthday is on 7 May.",
        "Alice was born on May 7, 1990.",
        "My sister's birthday is 2019-05-07. She likes trains.",
        "小王的生日是5月7日。",
        "小王1990年5月7日出生。",
        "小王的生日是五月七号。",
    ],
)
def test_a_birthday_comes_each_year_once(juno: Companion, text: str) -> None:
    told = know(juno, text, "fact")
    thursday = MONDAY + 3 * DAY
    wrote(juno, "Hi", thursday - HOUR)
    assert drive(juno, thursday - DAY) == ""
    waking = sought(juno, thursday)
    assert waking
    assert (waking.drive, waking.drive_key) == ("birthday", f"birthday:{told.pk}:2026")
    assert drive(juno, thursday + HOUR) == ""
    later = datetime(2027, 5, 7, 10, tzinfo=UTC)
    wrote(juno, "Hi", later - HOUR)
    again = sought(juno, later)
    assert again
    assert again.drive_key == f"birthday:{told.pk}:2027"


@pytest.mark.parametrize(
    "text",
    [
        "Alice likes birthdays.",
        "Alice's birthday is in May.",
        "Her birthday is near. The plumber came on 7 May.",
        "小王的生日是农历五月七日。",
        "小王喜欢过生日。水管工5月7日来过。",
    ],
)
def test_what_names_no_day_of_a_birthday_is_none(juno: Companion, text: str) -> None:
    know(juno, text, "fact")
    thursday = MONDAY + 3 * DAY
    wrote(juno, "Hi", thursday - HOUR)
    assert drive(juno, thursday) == ""


def test_a_birthday_that_the_person_told_of_is_known_before_it_is_learnt(juno: Companion) -> None:
    wrote(juno, "By the way, my birthday is on 7 May!", MONDAY)
    wrote(juno, "Yours is on 7 May, too?", MONDAY)
    thursday = MONDAY + 3 * DAY
    wrote(juno, "Hi", thursday - HOUR)
    waking = sought(juno, thursday)
    assert waking
    assert waking.about == Memory.objects.get(text__startswith="By the way")


def test_who_was_born_in_a_leap_day_has_a_birthday_each_year(juno: Companion) -> None:
    know(juno, "Alice was born on 29 February 1996.", "fact")
    for day in (date(2027, 2, 28), date(2028, 2, 29)):
        noon = datetime.combine(day, time(11), UTC)
        wrote(juno, "Hi", noon - HOUR)
        assert drive(juno, noon) == "birthday"


def test_a_day_is_one_of_the_persons_zone(lan: Companion) -> None:
    know(lan, "小王的生日是5月7日。", "fact")
    Life.objects.filter(companion=lan).update(
        quiet_until=time(0), quiet_from=time(0), sleeps_from=time(1), sleeps_until=time(1)
    )
    wrote(lan, "你好", MONDAY + 2 * DAY)
    assert drive(lan, datetime(2026, 5, 6, 15, 59, tzinfo=UTC)) == ""  # a minute before midnight there
    assert drive(lan, datetime(2026, 5, 6, 16, tzinfo=UTC)) == "birthday"


@pytest.mark.parametrize(
    ("days", "reached"), [(2.9, ""), (3, "3"), (6.9, "3"), (7, "7"), (21, "21"), (300, "21")]
)
def test_a_long_silence_is_one_of_three_lengths(juno: Companion, days: float, reached: str) -> None:
    waking = sought(juno, MONDAY - HOUR + days * DAY if days < 3 else MONDAY + days * DAY)
    assert (waking.drive_key.rpartition(":")[2] if waking else "") == reached
    if waking:
        assert f"for {days:.0f} days" in waking.note or days == 6.9
        assert waking.about is None


def test_days_on_which_kith_was_off_are_no_silence(juno: Companion) -> None:
    back = MONDAY + 14 * DAY
    Waking.objects.create(
        companion=juno, origin="timer", due_at=back - HOUR, missed_since=MONDAY, missed=13, created_at=back
    )
    assert drive(juno, back + HOUR) == ""
    waking = sought(juno, back + 3 * DAY + HOUR)
    assert waking
    assert "for 17 days" in waking.note


def test_hours_off_or_timers_that_another_companion_missed_are_silence(
    juno: Companion, tian: Companion
) -> None:
    at = MONDAY + 3 * DAY
    for companion, missed_since in [(juno, at - 23 * HOUR), (tian, MONDAY)]:
        Waking.objects.create(
            companion=companion, origin="timer", due_at=at, missed_since=missed_since, missed=1, created_at=at
        )
    assert drive(juno, at + HOUR) == "long_silence"


def test_each_length_of_a_silence_moves_it_once(juno: Companion) -> None:
    wrote(juno, "You wrote so kindly", MONDAY)
    found = [drive(juno, MONDAY + n * DAY + HOUR) for n in range(30)]
    assert [n for n, one in enumerate(found) if one] == [3, 7, 21]


def test_who_was_never_written_to_is_in_no_silence(mira: Companion) -> None:
    Life.objects.filter(companion=mira).update(reaches_out=True)
    assert drive(mira, MONDAY + 30 * DAY) == ""


def spoke(companion: Companion, at: datetime) -> None:
    waking = Waking.objects.create(companion=companion, origin="timer", due_at=at, created_at=at)
    wrote(companion, "How are you?", at, role="assistant", waking=waking)


def test_who_has_never_answered_is_left_in_peace(juno: Companion) -> None:
    spoke(juno, MONDAY + 3 * DAY)
    assert drive(juno, MONDAY + 8 * DAY) == ""


def test_who_has_answered_before_may_be_asked_again(juno: Companion) -> None:
    spoke(juno, MONDAY - DAY)
    spoke(juno, MONDAY + 3 * DAY)
    assert drive(juno, MONDAY + 8 * DAY) == "long_silence"


def pursue(companion: Companion, text: str, kind: str, **fields: Any) -> Pursuit:
    memory = know(companion, text, kind)
    return Pursuit.objects.create(companion=companion, memory=memory, **fields)


def later(companion: Companion, days: int) -> datetime:
    """A time so many days later, at which the person is there."""
    now = MONDAY + days * DAY
    wrote(companion, "Here I am.", now - HOUR)
    return now


@pytest.mark.parametrize("text", ["A garden on the roof", "在屋顶种花"])
@pytest.mark.parametrize(
    ("fields", "days", "found"),
    [
        ({"excitement": 8}, 7, True),
        ({"excitement": 7}, 30, False),
        ({"excitement": 10}, 6, False),
        ({"excitement": 9, "reviewed_at": MONDAY + 3 * DAY}, 9, False),
        ({"excitement": 9, "reviewed_at": MONDAY + 3 * DAY}, 10, True),
        ({"excitement": 9, "status": "done"}, 30, False),
        ({"excitement": 9, "status": "given_up"}, 30, False),
    ],
)
def test_an_idea_that_it_likes_comes_back(
    juno: Companion, text: str, fields: dict[str, Any], days: int, found: bool
) -> None:
    idea = pursue(juno, text, "idea", **fields)
    waking = sought(juno, later(juno, days))
    assert (waking.drive if waking else "") == ("idea" if found else "")
    if waking:
        assert (waking.about, text in waking.note) == (idea.memory, True)
        assert drive(juno, later(juno, days + 20)) == ""  # once, until somebody has looked at it


@pytest.mark.parametrize("text", ["Run a marathon", "跑一次马拉松"])
@pytest.mark.parametrize(
    ("fields", "days", "found"),
    [
        ({"status": "under_way"}, 14, True),
        ({"status": "under_way"}, 13, False),
        ({"status": "new"}, 30, False),
        ({"status": "done", "progress": 100}, 30, False),
        ({"status": "under_way", "moved_at": MONDAY + 2 * DAY}, 15, False),
        ({"status": "under_way", "moved_at": MONDAY + 2 * DAY}, 16, True),
        ({"status": "under_way", "reviewed_at": MONDAY + 13 * DAY}, 14, True),  # looking moves nothing
    ],
)
def test_a_goal_that_stands_still_comes_back(
    juno: Companion, text: str, fields: dict[str, Any], days: int, found: bool
) -> None:
    pursue(juno, text, "goal", **fields)
    assert drive(juno, later(juno, days)) == ("goal" if found else "")


# -- which one, how often, and whether at all ------------------------------------------------------------------------


def test_the_nearest_and_weightiest_comes_first(juno: Companion) -> None:
    pursue(juno, "A garden on the roof", "idea", excitement=10)
    now = later(juno, 30)
    for text, importance in (("The sofa comes today.", 4), ("The exam is today.", 2), ("Tea today.", 9)):
        know(juno, text, at=now - HOUR, importance=importance)
    know(juno, "The wedding is tomorrow.", at=now - HOUR, importance=10)
    notes = []
    for n in range(5):
        waking = sought(juno, now)
        assert waking
        notes.append(waking.note.partition("“")[2].rstrip("”"))
        Waking.objects.filter(pk=waking.pk).update(created_at=now - (8 + n) * DAY)
    assert notes == [
        "The exam is today.",
        "Tea today.",
        "The sofa comes today.",
        "The wedding is tomorrow.",
        "A garden on the roof",
    ]


def test_it_wakes_so_once_a_local_day_and_thrice_a_week_at_most(juno: Companion) -> None:
    for n in range(12):
        for which in ("exam", "interview"):
            day = MONDAY + (n + 1) * DAY
            know(juno, f"Alice has an {which} on {day:%d %B %Y}.")
    found = []
    for n in range(9):
        wrote(juno, "Hello", MONDAY + n * DAY)
        found += [bool(drive(juno, MONDAY + n * DAY + hours * HOUR)) for hours in (1, 7)]
    assert found == [True, False] * 3 + [False, False] * 4 + [True, False] * 2


def with_an_exam(companion: Companion) -> None:
    know(companion, "Alice has an exam tomorrow.")


@pytest.mark.parametrize(
    "fields",
    [
        {"reaches_out": False},
        {"is_muted": True},
        {"is_awake": False},
        {"sleeps_from": time(11), "sleeps_until": time(13)},
        {"quiet_from": time(11), "quiet_until": time(13)},
        {"most_a_day": 0},
    ],
    ids=str,
)
def test_where_it_may_not_write_nothing_is_looked_for(
    juno: Companion, fields: dict[str, Any], django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with_an_exam(juno)
    Life.objects.filter(companion=juno).update(**fields)
    with django_assert_max_num_queries(8):
        assert sought(juno, MONDAY) is None
    Life.objects.filter(companion=juno).update(
        **{name: Life._meta.get_field(name).default for name in fields} | {"reaches_out": True}
    )
    assert drive(juno, MONDAY) == "event"


@pytest.mark.parametrize("word", ["Good night!", "Please stop texting me.", "晚安", "别再联系我了"])
def test_a_goodbye_is_respected(juno: Companion, word: str) -> None:
    with_an_exam(juno)
    wrote(juno, word, MONDAY - MINUTE)
    assert drive(juno, MONDAY) == ""


def test_who_has_not_answered_is_not_thought_of_until_the_back_off_is_over(juno: Companion) -> None:
    with_an_exam(juno)
    spoke(juno, MONDAY - 5 * MINUTE)
    assert drive(juno, MONDAY) == ""


def test_a_birthday_is_thought_of_although_nothing_was_answered_for_long(juno: Companion) -> None:
    know(juno, "Alice's birthday is on 7 July.", "fact")
    with_an_exam(juno)
    for days in (0, 1, 4, 11):
        spoke(juno, MONDAY + days * DAY)
    assert drive(juno, MONDAY + 30 * DAY) == ""
    waking = sought(juno, MONDAY + 64 * DAY)  # 7 July
    assert waking
    assert waking.drive == "birthday"
    assert find_refusal(juno, waking, MONDAY + 64 * DAY) is None


@pytest.mark.parametrize("hours", [[-4], [-24 * days for days in (30, 29, 20, 8)]], ids=["today", "often"])
def test_no_unanswered_message_lets_a_birthday_pass(juno: Companion, hours: list[int]) -> None:
    know(juno, "Alice's birthday is on 4 May.", "fact")
    Message.objects.update(said_at=MONDAY - 40 * DAY)
    for before in hours:
        spoke(juno, MONDAY + before * HOUR)
    for days in (2, 4, 6):  # it woke for others in the week
        at = MONDAY - days * DAY
        Waking.objects.create(companion=juno, origin="drive", drive_key=str(days), due_at=at, created_at=at)
    assert drive(juno, MONDAY) == "birthday"


@pytest.mark.parametrize(
    "fields",
    [{"is_private": True}, {"is_stale": True}, {"closed_at": MONDAY}],
    ids=str,
)
@pytest.mark.parametrize(
    ("text", "kind"),
    [("The exam is today.", "event"), ("My birthday is on 18 May.", "fact"), ("A garden", "idea")],
)
def test_what_models_may_not_be_told_moves_nothing(
    juno: Companion, text: str, kind: str, fields: dict[str, Any]
) -> None:
    now = later(juno, 14)
    memory = know(juno, text, kind, at=now - HOUR if kind == "event" else MONDAY)
    if kind == "idea":
        Pursuit.objects.create(companion=juno, memory=memory, excitement=9)
    Memory.objects.filter(pk=memory.pk).update(**fields)
    assert drive(juno, now) == ""
    Memory.objects.filter(pk=memory.pk).update(is_private=False, is_stale=False, closed_at=None)
    assert drive(juno, now) in {"event", "birthday", "idea"}


def test_how_it_went_is_asked_unless_the_person_has_told_it(juno: Companion) -> None:
    exam = know(juno, "Alice has a statistics exam on Friday.")
    friday = MONDAY + 4 * DAY
    open_thread(exam, friday.date(), MONDAY)
    waking = sought(juno, friday + DAY)
    assert waking
    assert "unless they have told it, how it went is not known yet" in waking.note
    Waking.objects.all().delete()
    wrote(juno, "The statistics exam went well yesterday!", friday + DAY - 3 * HOUR)
    assert drive(juno, friday + DAY) == ""


def test_nothing_moves_it_while_they_have_just_talked(juno: Companion) -> None:
    know(juno, "Alice has an exam today.", "event", at=MONDAY)
    wrote(juno, "Até logo!", MONDAY - 30 * MINUTE)
    assert drive(juno, MONDAY) == ""
    assert drive(juno, MONDAY + 31 * MINUTE) == "event"


def test_hidden_messages_move_nothing_nor_does_what_was_learnt_from_them(juno: Companion) -> None:
    told = wrote(juno, "My birthday is on 4 May, and I have an exam today.", MONDAY - 90 * MINUTE)
    know(juno, "Alice has an exam today.").sources.add(told)
    Message.objects.filter(pk=told.pk).update(is_hidden=True)
    assert drive(juno, MONDAY) == ""
    Message.objects.filter(pk=told.pk).update(is_hidden=False)
    assert drive(juno, MONDAY) == "birthday"


@pytest.mark.usefixtures("rehearsal")
@pytest.mark.parametrize("deed", ["deleted", "kept private"])
def test_what_goes_before_it_wakes_is_not_told(
    juno: Companion, rehearsal: RehearsalServer, deed: str
) -> None:
    exam = know(juno, "Alice has an exam tomorrow.")
    waking = sought(juno, MONDAY)
    assert waking
    if deed == "deleted":
        forget_many(juno.pk, [exam.pk], MONDAY)
    else:
        set_private(exam, True, MONDAY)
    waking = Waking.objects.filter(pk=waking.pk).first()
    if waking:  # else it went with what it was about
        waking = ran(waking, MONDAY)
        assert (waking.state, waking.reason) == ("skipped", "gone")
    assert rehearsal.requests() == []


@pytest.mark.usefixtures("rehearsal")
def test_the_model_is_told_why_it_woke_and_what_it_is_about(
    juno: Companion, rehearsal: RehearsalServer
) -> None:
    know(juno, "Alice has an exam tomorrow.")
    waking = sought(juno, MONDAY)
    assert waking
    waking = ran(waking, MONDAY)
    told = waking.prompt[1]["content"]
    assert "You woke by: a drive of your own, event" in told
    assert "This is tomorrow, and it matters" in told
    assert 'It is about: - [Mon 4 May] "Alice has an exam tomorrow."' in told
    assert "They asked you for this: no" in told


def test_anothers_memories_move_nothing(juno: Companion, lan: Companion) -> None:
    know(lan, "Alice has an exam tomorrow.")
    assert drive(juno, MONDAY) == ""


def test_no_model_is_asked(juno: Companion) -> None:
    with_an_exam(juno)
    assert drive(juno, MONDAY) == "event"
    assert not ModelCall.objects.filter(companion=juno).exists()


# -- the sweep ----------------------------------------------------------------------------------------------------------


def looks(companion: Companion) -> datetime | None:
    return Life.objects.get(companion=companion).drives_at


def test_only_those_are_claimed_that_may_write_first_and_are_due(juno: Companion, lan: Companion) -> None:
    Life.objects.filter(companion=lan).update(reaches_out=False)
    assert claim_companions(MONDAY, 10) == [juno.pk]
    assert claim_companions(MONDAY, 10) == []
    for fields in ({"is_muted": True}, {"is_awake": False}):
        Life.objects.filter(companion=lan).update(reaches_out=True, **fields)
        assert claim_companions(MONDAY, 10) == []
        Life.objects.filter(companion=lan).update(is_muted=False, is_awake=True, reaches_out=False)
    assert claim_companions(MONDAY + 11 * MINUTE, 10) == [juno.pk]  # whoever claimed it has died
    make_waking(juno.pk, MONDAY + 11 * MINUTE)
    assert claim_companions(MONDAY + 6 * HOUR, 10) == []
    assert claim_companions(MONDAY + 7 * HOUR, 10) == [juno.pk]


def test_the_next_look_is_in_six_hours_and_a_little_later_for_each(juno: Companion) -> None:
    make_waking(juno.pk, MONDAY)
    spread = timedelta(seconds=juno.pk.int % 1200)
    assert looks(juno) == MONDAY + 6 * HOUR + spread
    # Six in the evening: midnight is in its quiet hours, which end at eight.
    make_waking(juno.pk, MONDAY + 6 * HOUR)
    assert looks(juno) == datetime(2026, 5, 5, 6, tzinfo=UTC) + spread
    make_waking(juno.pk, datetime(2026, 5, 5, 4, tzinfo=UTC))
    assert looks(juno) == datetime(2026, 5, 5, 6, tzinfo=UTC) + spread


def test_a_companion_that_is_gone_is_passed_over(juno: Companion) -> None:
    id = juno.pk
    juno.delete()
    assert make_waking(id, MONDAY) is None
    seek_of(str(id))


def test_a_look_takes_few_queries_however_much_is_known(
    juno: Companion, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for n in range(60):
        know(juno, f"Alice has exam number {n} tomorrow.")
        pursue(juno, f"Idea {n}", "idea", excitement=9)
    with django_assert_num_queries(1):
        assert claim_companions(MONDAY, 10) == [juno.pk]
    with django_assert_num_queries(16):  # a savepoint's two among them
        assert make_waking(juno.pk, MONDAY)


@pytest.mark.django_db(transaction=True)
def test_many_workers_at_once_make_one_waking(juno: Companion) -> None:
    for n in range(5):
        know(juno, f"Alice has exam number {n} tomorrow.")

    def work() -> None:
        for id in [*claim_companions(MONDAY, 10), juno.pk]:
            make_waking(id, MONDAY)
        connection.close()

    workers = [threading.Thread(target=work) for _n in range(4)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    assert Waking.objects.filter(origin="drive").count() == 1
