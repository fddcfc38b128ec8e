"""Whether a companion may write first: opted in, not muted, no goodbye, not at night, not too often, not unanswered."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from companions.conversations.messages import open_session, say
from companions.creation import create
from companions.life.eligibility import (
    Outreach,
    find_outreach_refusal,
    find_refusal,
    get_next_time,
    is_within,
    load_outreach,
)
from companions.life.timers.schedules import parse
from companions.models import Companion, Life, Message, Waking

NOON = datetime(2026, 5, 4, 10, tzinfo=UTC)  # noon in Berlin
DAY = timedelta(days=1)


def life_of(companion: Companion, **fields: object) -> Life:
    life = companion.life
    for name, value in {"reaches_out": True, **fields}.items():
        setattr(life, name, value)
    life.save()
    return life


def spoke(said: str = "Hello", ago: timedelta = timedelta(hours=1), *unprompted: timedelta) -> Outreach:
    """The person said that so long ago; the companion wrote first so long ago, the newest first."""
    return Outreach(said, NOON - ago, [NOON - one for one in unprompted])


@pytest.fixture
def juno(alice: User) -> Companion:
    return create(alice, name="Juno", persona="", greeting="", tint=40, now=NOON - 30 * DAY)


def test_nobody_is_written_to_who_has_not_opted_in(juno: Companion) -> None:
    assert find_outreach_refusal(juno.life, spoke(), NOON) == "not_opted_in"
    assert find_outreach_refusal(life_of(juno), spoke(), NOON) is None


def test_muted_is_muted(juno: Companion) -> None:
    assert find_outreach_refusal(life_of(juno, is_muted=True), spoke(), NOON) == "muted"


@pytest.mark.parametrize(
    ("hour", "told"), [(19, None), (20, "quiet_hours"), (23, "quiet_hours"), (5, "quiet_hours"), (6, None)]
)
def test_quiet_hours_are_those_of_the_persons_zone(juno: Companion, hour: int, told: str | None) -> None:
    at = NOON.replace(hour=hour)  # two hours later in Berlin; quiet from 22 until 8
    assert find_outreach_refusal(life_of(juno), Outreach("Hello", at - 2 * DAY, []), at) == told


def test_a_span_of_no_length_is_none(juno: Companion) -> None:
    life = life_of(juno, quiet_from=time(0), quiet_until=time(0))
    assert find_outreach_refusal(life, spoke(), NOON.replace(hour=23)) is None


def test_at_most_so_many_a_day_of_the_persons(juno: Companion) -> None:
    life = life_of(juno, most_a_day=2)
    hours = [timedelta(hours=n) for n in (3, 5)]
    assert (
        find_outreach_refusal(
            life, Outreach("Hello", NOON - timedelta(hours=1), [NOON - one for one in hours]), NOON
        )
        == "enough_today"
    )
    yesterday = [NOON - timedelta(hours=3), NOON - timedelta(hours=13)]
    assert find_outreach_refusal(life, Outreach("Hello", NOON - timedelta(hours=1), yesterday), NOON) is None
    assert find_outreach_refusal(life_of(juno, most_a_day=0), spoke(), NOON) == "enough_today"


@pytest.mark.parametrize(
    ("unanswered", "days", "told"),
    [
        (1, 0.9, "unanswered"),
        (1, 1, None),
        (2, 2.9, "unanswered"),
        (2, 3, None),
        (3, 6.9, "unanswered"),
        (3, 7, None),
        (4, 300, "unanswered"),
    ],
)
def test_who_does_not_answer_is_written_to_ever_more_seldom(
    juno: Companion, unanswered: int, days: float, told: str | None
) -> None:
    newest = NOON - timedelta(days=days)
    wrote = [newest - n * DAY for n in range(unanswered)]
    before = Outreach("Hello", newest - 100 * DAY, wrote)
    assert find_outreach_refusal(life_of(juno), before, NOON) == told
    assert (
        find_outreach_refusal(life_of(juno), Outreach("Hello", NOON - timedelta(hours=1), wrote), NOON)
        is None
    )


@pytest.mark.parametrize(
    ("drive", "unanswered", "days", "told"),
    [
        ("birthday", 1, 0.12, "unanswered"),  # it wrote just now
        ("birthday", 1, 0.13, None),
        ("event", 2, 0.6, None),
        ("promise", 3, 0.6, None),
        ("idea", 3, 0.6, "unanswered"),
        ("event", 4, 300, "unanswered"),
        ("birthday", 4, 6.9, "unanswered"),
        ("birthday", 4, 7, None),
    ],
)
def test_what_has_its_day_waits_for_no_answer_and_a_birthday_is_never_passed_over_for_long(
    juno: Companion, drive: str, unanswered: int, days: float, told: str | None
) -> None:
    newest = NOON - timedelta(days=days)
    before = Outreach("Hello", newest - 100 * DAY, [newest - n * DAY for n in range(unanswered)])
    assert find_outreach_refusal(life_of(juno), before, NOON, drive) == told


@pytest.mark.parametrize("fields", [{"is_muted": True}, {"reaches_out": False}, {"most_a_day": 0}], ids=str)
def test_a_birthday_overrides_nothing_that_its_person_has_chosen(
    juno: Companion, fields: dict[str, object]
) -> None:
    assert find_outreach_refusal(life_of(juno, **fields), spoke(), NOON, "birthday")
    life = life_of(juno, is_muted=False, most_a_day=2)
    assert (
        find_outreach_refusal(life, spoke("Please stop writing to me.", 40 * DAY), NOON, "birthday")
        == "goodbye"
    )


def test_a_goodbye_holds_until_the_next_morning_a_lasting_one_until_they_write(juno: Companion) -> None:
    life = life_of(juno)
    assert find_outreach_refusal(life, spoke("Bye!", timedelta(hours=2)), NOON) == "goodbye"
    assert find_outreach_refusal(life, spoke("Bye!", timedelta(hours=14)), NOON) is None
    assert find_outreach_refusal(life, spoke("Please stop writing to me.", 40 * DAY), NOON) == "goodbye"


def test_what_was_asked_for_needs_no_opting_in(juno: Companion) -> None:
    assert find_refusal(juno, Waking(companion=juno, is_asked_for=True), NOON) is None
    assert find_refusal(juno, Waking(companion=juno), NOON) == "not_opted_in"


def test_the_past_is_read_from_rows(
    juno: Companion, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for minutes, role, asked in (
        (50, "user", None),
        (40, "assistant", None),
        (30, "assistant", False),
        (20, "assistant", True),
    ):
        at = NOON - timedelta(minutes=minutes)
        waking = (
            None
            if asked is None
            else Waking.objects.create(
                companion=juno, origin="timer", due_at=at, created_at=at, is_asked_for=asked
            )
        )
        say(
            Message(
                companion=juno,
                conversation=juno.conversation,
                session=open_session(juno.conversation, at),
                role=role,
                text=f"{minutes}",
                said_at=at,
                waking=waking,
            ),
            at,
        )
    # Its branch is not chosen any more.
    Message.objects.filter(waking__is_asked_for=False).update(is_asleep=True)
    with django_assert_num_queries(2):
        assert load_outreach(juno) == Outreach(
            "50", NOON - timedelta(minutes=50), [NOON - timedelta(minutes=30)]
        )


def test_spans_of_a_day() -> None:
    assert is_within(time(22), time(8), time(23))
    assert is_within(time(22), time(8), time(7, 59))
    assert not is_within(time(22), time(8), time(8))
    assert not is_within(time(9), time(9), time(9))
    assert get_next_time(time(8), NOON) == NOON.replace(hour=8) + DAY
    assert get_next_time(time(11), NOON) == NOON.replace(hour=11)


NEW_YORK = ZoneInfo("America/New_York")  # 02:00 becomes 03:00 on 8 March 2026, and 01:00 on 1 November


@pytest.mark.parametrize(
    ("after", "wanted", "following"),
    [
        ("2026-03-08T01:00-05:00", time(2, 30), "2026-03-08T03:00-04:00"),  # at the end of the gap
        ("2026-03-08T03:00-04:00", time(2, 30), "2026-03-09T02:30-04:00"),
        ("2026-10-31T23:00-04:00", time(1, 30), "2026-11-01T01:30-04:00"),  # the first of two
        ("2026-11-01T01:45-05:00", time(1, 50), "2026-11-02T01:50-05:00"),  # which is over by now
    ],
)
def test_the_next_time_over_a_change_of_clocks_is_that_of_a_daily_timer(
    after: str, wanted: time, following: str
) -> None:
    since = datetime.fromisoformat(after).astimezone(NEW_YORK)
    expected = datetime.fromisoformat(following).astimezone(UTC)
    assert get_next_time(wanted, since).astimezone(UTC) == expected
    daily = parse(f"cron:{wanted:%-M %-H} * * *")
    assert daily.next(since, NEW_YORK) == expected
