"""Schedules: how they are read, when they are due over changes of clocks, and how they are said."""

import string
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from companions.life.timers.schedule_words import describe_schedule
from companions.life.timers.schedules import (
    MAX_AHEAD,
    MIN_INTERVAL,
    Cron,
    Schedule,
    ScheduleError,
    get_due_times,
    parse,
    parse_new,
)
from tests.fixtures.properties import examples

BERLIN, NEW_YORK, LORD_HOWE = map(ZoneInfo, ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe"))
NOW = datetime(2026, 11, 21, 16, 40, tzinfo=UTC)  # 17:40 in Berlin, a Saturday


def upcoming(schedule: Schedule, now: datetime, zone: tzinfo, count: int) -> list[datetime]:
    """The first due times of a schedule that is set then."""
    return get_due_times(schedule, schedule.first(now, zone), zone, count)


def clock(at: datetime, zone: ZoneInfo) -> str:
    """What a clock in the zone shows then, with its offset."""
    return f"{at.astimezone(zone):%m-%d %H:%M %z}"


def on_clocks(schedule: str, since: datetime, zone: ZoneInfo, count: int) -> list[str]:
    return [clock(at, zone) for at in upcoming(parse(schedule), since, zone, count)]


# -- the forms ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "canonical", "seconds"),
    [
        ("30s", "30s", 30),
        ("5min", "5min", 300),
        ("2h", "2h", 7200),
        ("1d", "1d", 86400),
        (" 05 MIN ", "5min", 300),
        *(
            ("1 minute", "1min", 60),
            ("in 90 seconds", "90s", 90),
            ("3 Hours", "3h", 10800),
            ("2 days", "2d", 172800),
        ),
        ("once:2026-11-21 18:00", "once:2026-11-21 18:00", 1200),
        ("Once: 2026-11-21T18:00", "once:2026-11-21 18:00", 1200),
        ("once:2026-11-21T18:00:00", "once:2026-11-21 18:00", 1200),  # as models write it
        ("once:2026-11-22 9:05", "once:2026-11-22 09:05", 55500),
        ("cron:0 8 * * *", "cron:0 8 * * *", 51600),
        ("cron:  0 8  * * mon-fri", "cron:0 8 * * MON-FRI", 51600 + 86400),
    ],
)
def test_each_form_is_read_and_due(text: str, canonical: str, seconds: int) -> None:
    schedule = parse_new(text, NOW, BERLIN)
    assert schedule.text == canonical
    assert parse_new(canonical, NOW, BERLIN) == schedule
    assert schedule.first(NOW, BERLIN) == NOW + timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        *(("", "bad_schedule"), ("soon", "bad_schedule"), ("5", "bad_schedule"), ("-5min", "bad_schedule")),
        *(("1.5h", "bad_schedule"), ("5 weeks", "bad_schedule"), ("٣٠s", "bad_schedule"), ("@reboot", "bad_schedule")),
        *(("every:5min", "bad_schedule"), ("5min\0", "bad_schedule"), ("5min" * 50, "bad_schedule")),
        *(("明天两三点", "bad_schedule"), ("每天七八点", "bad_schedule"), ("明天晚上12点", "bad_schedule")),
        *(("今晚一点", "bad_schedule"), ("11月20日9:00", "bad_schedule")),
        *(("0s", "too_soon"), ("000d", "too_soon")),
        *(("365000000d", "too_far"), ("9" * 110 + "d", "too_far"), ("1831d", "too_far")),
        *(("once:", "bad_schedule"), ("once:tomorrow", "bad_schedule"), ("once:2026-11-22", "bad_schedule")),
        *(("once:2026-02-30 09:00", "no_such_day"), ("once:2026-11-22 24:00", "no_such_day")),
        *(("once:0001-01-01 00:00", "no_such_day"), ("once:9999-12-31 23:59", "no_such_day")),
        *(("once:2026-11-21 17:40", "in_the_past"), ("once:2020-01-01 09:00", "in_the_past")),
        *(("once:2032-11-21 09:00", "too_far"), ("once:8999-01-01 00:00", "too_far")),
        *(("cron:", "bad_cron"), ("cron:@reboot", "bad_cron"), ("cron:0 8 * *", "bad_cron")),
        *(("cron:0 0 8 * * *", "bad_cron"), ("cron:60 8 * * *", "bad_cron"), ("cron:0 24 * * *", "bad_cron")),
        *(("cron:0 8 32 * *", "bad_cron"), ("cron:0 8 * 13 *", "bad_cron"), ("cron:0 8 * * 8", "bad_cron")),
        *(("cron:0 8 30 2 *", "bad_cron"), ("cron:0 8 ? * *", "bad_cron"), ("cron:*/0 8 * * *", "bad_cron")),
        *(("cron:* * * * *", "too_often"), ("cron:*/9 8 * * *", "too_often"), ("cron:0,9 8 * * *", "too_often")),
        *(("cron:5,55 8,9 * * *", None), ("cron:4,55 8,9 * * *", "too_often"), ("cron:4,55 8 * * *", None)),
        *(("cron:0,55 0,23 * * *", "too_often"), ("cron:*/10 * * * *", None), ("cron:0 0 * 2 MON#5", "too_far")),
    ],
)  # fmt: skip
def test_what_cannot_be_set_is_refused_with_its_reason(text: str, code: str | None) -> None:
    if code is None:
        assert parse_new(text, NOW, BERLIN)
        return
    with pytest.raises(ScheduleError) as refused:
        parse_new(text, NOW, BERLIN)
    assert refused.value.code == code
    assert len(str(refused.value.detail)) < 400


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("2026-11-22 9:05", "once:2026-11-22 09:05"),
        ("18:00", "once:2026-11-21 18:00"),
        ("at 9:00", "once:2026-11-22 09:00"),
        ("tomorrow at 9:00", "once:2026-11-22 09:00"),
        ("Saturday at 18:00", "once:2026-11-21 18:00"),
        ("Saturday 10:00", "once:2026-11-28 10:00"),
        ("next Monday, 8:00", "once:2026-11-23 08:00"),
        ("tomorrow at 7:30 am", "once:2026-11-22 07:30"),
        ("7:30 p.m. tomorrow", "once:2026-11-22 19:30"),
        ("Sunday 10pm", "once:2026-11-22 22:00"),
        ("tomorrow 12:05 am", "once:2026-11-22 00:05"),
        ("2026-11-22T09:05:00", "once:2026-11-22 09:05"),
        ("明天7:30", "once:2026-11-22 07:30"),
        ("后天下午3点", "once:2026-11-23 15:00"),
        ("周五晚上8点", "once:2026-11-27 20:00"),
        *(("星期天10:00", "once:2026-11-22 10:00"), ("礼拜五中午十二点", "once:2026-11-27 12:00")),
        *(("今晚九点", "once:2026-11-21 21:00"), ("明早七点半", "once:2026-11-22 07:30")),
        *(("下周三 09:00", "once:2026-11-25 09:00"), ("下下周日上午9点", "once:2026-12-06 09:00")),
        *(("大后天下午三点", "once:2026-11-24 15:00"), ("下个月五号上午10点", "once:2026-12-05 10:00")),
        *(("12月9日9:00", "once:2026-12-09 09:00"), ("一月五号早上九点", "once:2027-01-05 09:00")),
        *(("每晚九点", "cron:0 21 * * *"), ("每早7:30", "cron:30 7 * * *")),
    ],
)
def test_a_day_that_is_named_is_the_next_to_come(text: str, canonical: str) -> None:
    assert parse_new(text, NOW, BERLIN).text == canonical


def test_a_refusal_says_how_it_can_be_mended() -> None:
    for text in ("soon", "cron:60 8 * * *", "cron:@reboot"):
        with pytest.raises(ScheduleError) as refused:
            parse_new(text, NOW, BERLIN)
        assert "cron:0 8 * * *" in str(refused.value.detail)
    with pytest.raises(ScheduleError) as past:
        parse_new("once:2026-11-21 17:39", NOW, BERLIN)
    assert "2026-11-21 17:40" in str(past.value.detail)


def test_what_was_set_long_ago_is_still_read() -> None:
    schedule = parse("once:2020-01-01 09:00")
    assert schedule.first(NOW, BERLIN) == datetime(2020, 1, 1, 8, tzinfo=UTC)


# -- changes of clocks ----------------------------------------------------------------------------------------------

# In Berlin 02:00 becomes 03:00 on 29 March 2026, and 03:00 becomes 02:00 on 25 October.
# In New York 02:00 becomes 03:00 on 8 March, and 02:00 becomes 01:00 on 1 November.
# On Lord Howe 02:00 becomes 01:30 on 5 April, and 02:00 becomes 02:30 on 4 October: half an hour.
DAILY = [
    (BERLIN, "03-28", "30 2", ["03-28 02:30 +0100", "03-29 03:00 +0200", "03-30 02:30 +0200"]),
    (BERLIN, "03-28", "0 3", ["03-28 03:00 +0100", "03-29 03:00 +0200", "03-30 03:00 +0200"]),
    (BERLIN, "03-28", "0 2,3", ["03-28 02:00 +0100", "03-28 03:00 +0100", "03-29 03:00 +0200", "03-30 02:00 +0200"]),
    (BERLIN, "10-24", "30 2", ["10-24 02:30 +0200", "10-25 02:30 +0200", "10-26 02:30 +0100"]),
    (BERLIN, "10-24", "0 3", ["10-24 03:00 +0200", "10-25 03:00 +0100", "10-26 03:00 +0100"]),
    (BERLIN, "10-24", "0 8", ["10-24 08:00 +0200", "10-25 08:00 +0100", "10-26 08:00 +0100"]),
    (NEW_YORK, "03-07", "15 2", ["03-07 02:15 -0500", "03-08 03:00 -0400", "03-09 02:15 -0400"]),
    (NEW_YORK, "10-31", "15 1", ["10-31 01:15 -0400", "11-01 01:15 -0400", "11-02 01:15 -0500"]),
    (NEW_YORK, "10-31", "0 2", ["10-31 02:00 -0400", "11-01 02:00 -0500", "11-02 02:00 -0500"]),
    (LORD_HOWE, "04-04", "45 1", ["04-04 01:45 +1100", "04-05 01:45 +1100", "04-06 01:45 +1030"]),
    (LORD_HOWE, "04-04", "15 1", ["04-04 01:15 +1100", "04-05 01:15 +1100", "04-06 01:15 +1030"]),
    (LORD_HOWE, "10-03", "15 2", ["10-03 02:15 +1030", "10-04 02:30 +1100", "10-05 02:15 +1100"]),
    (LORD_HOWE, "10-03", "30 2", ["10-03 02:30 +1030", "10-04 02:30 +1100", "10-05 02:30 +1100"]),
]  # fmt: skip


@pytest.mark.parametrize(("zone", "day", "at", "due"), DAILY, ids=lambda value: str(value)[:20])
def test_a_daily_time_over_a_change_of_clocks(zone: ZoneInfo, day: str, at: str, due: list[str]) -> None:
    since = datetime.fromisoformat(f"2026-{day} 00:00").replace(tzinfo=zone)
    assert on_clocks(f"cron:{at} * * *", since, zone, len(due)) == due


HALF_HOURLY = [
    (BERLIN, "03-29 01:00", ["03-29 01:30 +0100", "03-29 03:00 +0200", "03-29 03:30 +0200"]),
    (BERLIN, "10-25 01:00", ["10-25 01:30 +0200", "10-25 02:00 +0200", "10-25 02:30 +0200", "10-25 03:00 +0100"]),
    (NEW_YORK, "03-08 01:00", ["03-08 01:30 -0500", "03-08 03:00 -0400", "03-08 03:30 -0400"]),
    (NEW_YORK, "11-01 00:30", ["11-01 01:00 -0400", "11-01 01:30 -0400", "11-01 02:00 -0500"]),
    (LORD_HOWE, "04-05 01:00", ["04-05 01:30 +1100", "04-05 02:00 +1030", "04-05 02:30 +1030"]),
    (LORD_HOWE, "10-04 01:00", ["10-04 01:30 +1030", "10-04 02:30 +1100", "10-04 03:00 +1100"]),
]  # fmt: skip


@pytest.mark.parametrize(("zone", "since", "due"), HALF_HOURLY, ids=lambda value: str(value)[:20])
def test_each_half_hour_over_a_change_of_clocks(zone: ZoneInfo, since: str, due: list[str]) -> None:
    begun = datetime.fromisoformat(f"2026-{since}").replace(tzinfo=zone)
    assert on_clocks("cron:*/30 * * * *", begun, zone, len(due)) == due


ONCE = [
    (BERLIN, "03-29 02:30", "03-29 03:00 +0200"),
    (BERLIN, "10-25 02:30", "10-25 02:30 +0200"),
    (NEW_YORK, "03-08 02:01", "03-08 03:00 -0400"),
    (NEW_YORK, "11-01 01:59", "11-01 01:59 -0400"),
    (LORD_HOWE, "04-05 01:30", "04-05 01:30 +1100"),
    (LORD_HOWE, "10-04 02:29", "10-04 02:30 +1100"),
]


@pytest.mark.parametrize(("zone", "at", "due"), ONCE, ids=lambda value: str(value)[:20])
def test_one_time_that_is_leapt_over_or_comes_twice(zone: ZoneInfo, at: str, due: str) -> None:
    schedule = parse(f"once:2026-{at}")
    first = schedule.first(NOW, zone)
    assert first
    assert clock(first, zone) == due
    assert schedule.next(first, zone) is None


@pytest.mark.parametrize(
    ("zone", "since", "text", "due"),
    [
        (BERLIN, "03-28 12:00", "1d", "03-29 13:00 +0200"),
        (BERLIN, "10-25 01:30", "2h", "10-25 02:30 +0100"),
        (NEW_YORK, "03-08 01:45", "30min", "03-08 03:15 -0400"),
        (LORD_HOWE, "04-05 01:45", "30min", "04-05 01:45 +1030"),
        (LORD_HOWE, "10-04 01:59", "90s", "10-04 02:30 +1100"),
    ],
)
def test_a_length_of_time_is_as_long_on_every_day(zone: ZoneInfo, since: str, text: str, due: str) -> None:
    schedule = parse(text)
    first = schedule.first(datetime.fromisoformat(f"2026-{since}").replace(tzinfo=zone), zone)
    assert first
    assert clock(first, zone) == due
    assert schedule.next(first, zone) is None


def test_after_the_second_of_two_equal_hours_nothing_is_due_again() -> None:
    """Asked from within the hour that comes a second time, and from just before the leap."""
    within = datetime(2026, 10, 25, 2, 10, fold=1, tzinfo=BERLIN)
    assert on_clocks("cron:30 * * * *", within, BERLIN, 1) == ["10-25 03:30 +0100"]
    before = datetime(2026, 3, 29, 1, 59, 59, tzinfo=BERLIN)
    assert on_clocks("cron:30 2 * * *", before, BERLIN, 1) == ["03-29 03:00 +0200"]


def test_a_day_that_a_zone_left_out_is_due_as_the_next_begins() -> None:
    """Apia had no 30 December 2011."""
    apia = ZoneInfo("Pacific/Apia")
    since = datetime(2011, 12, 29, 12, tzinfo=apia)
    due = [at.astimezone(apia).isoformat() for at in upcoming(parse("cron:0 8 * * *"), since, apia, 2)]
    assert due == ["2011-12-31T00:00:00+14:00", "2011-12-31T08:00:00+14:00"]


# -- whatever is written --------------------------------------------------------------------------------------------

ZONES = st.sampled_from([BERLIN, NEW_YORK, LORD_HOWE, ZoneInfo("UTC"), ZoneInfo("Asia/Kathmandu")])
MOMENTS = st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
PIECES = [
    "*",
    "*/",
    "0",
    "5",
    "15",
    "30",
    "8-18",
    "1-5",
    "MON",
    "JAN",
    "L",
    "LW",
    "#2",
    "5L",
    ",",
    "/",
    "-",
    " ",
    "60",
]
WRITTEN = st.one_of(
    st.text(max_size=140),
    st.text(string.printable, max_size=30).map("cron:{}".format),
    st.lists(st.sampled_from(PIECES), max_size=14).map("".join).map("cron:{}".format),
    st.tuples(st.integers(0, 10**30), st.sampled_from(["s", "min", "h", "d", "x"])).map(lambda of: f"{of[0]}{of[1]}"),
    st.datetimes().map(lambda at: f"once:{at:%Y-%m-%d %H:%M}"),
)  # fmt: skip
FIELDS = [range(60), range(24), range(1, 32), range(1, 13), range(8)]


@st.composite
def crons(draw: st.DrawFn) -> str:
    """A cron of stars, numbers, spans, lists and steps."""

    def field(numbers: range) -> str:
        low, high = sorted((draw(st.sampled_from(numbers)), draw(st.sampled_from(numbers))))
        forms = ["*", f"{low}", f"{low}-{high}", f"{low},{high}", f"*/{draw(st.integers(1, 40))}", f"{low}/7"]
        return draw(st.sampled_from(forms))

    return "cron:" + " ".join(map(field, FIELDS))


@given(WRITTEN, MOMENTS, ZONES)
@examples(400)
def test_whatever_is_written_is_a_schedule_or_refused(text: str, now: datetime, zone: ZoneInfo) -> None:
    try:
        schedule = parse_new(text, now, zone)
    except ScheduleError:
        return
    first = schedule.first(now, zone)
    assert first
    assert now < first <= now + MAX_AHEAD
    assert parse(schedule.text) == schedule
    for language in ("en", "zh-hans", ""):
        assert describe_schedule(schedule, zone, language)


@given(crons(), MOMENTS, ZONES)
@examples(300)
def test_due_times_only_go_on_and_are_shown_by_the_clock(text: str, now: datetime, zone: ZoneInfo) -> None:
    schedule = _read(text)
    if schedule is None:
        return
    due = upcoming(schedule, now, zone, 8)
    assert all(earlier < later for earlier, later in pairwise([now, *due]))
    fields = schedule.fields.split()
    for at in due:
        there = at.astimezone(zone)
        is_after_a_leap = (at - timedelta(seconds=1)).astimezone(zone).utcoffset() != there.utcoffset()
        assert is_after_a_leap or there.minute in _numbers(fields[0], FIELDS[0])
        assert is_after_a_leap or there.hour in _numbers(fields[1], FIELDS[1])
        assert (there.second, there.microsecond) == (0, 0)


@given(crons(), MOMENTS)
@examples(300)
def test_what_may_be_set_is_due_no_oftener_than_each_ten_minutes(text: str, now: datetime) -> None:
    try:
        schedule = parse_new(text, now, UTC)
    except ScheduleError:
        return
    due = upcoming(schedule, now, UTC, 60)
    assert all(later - earlier >= MIN_INTERVAL for earlier, later in pairwise(due))


def _read(text: str) -> Cron | None:
    try:
        schedule: Schedule = parse(text)
    except ScheduleError:
        return None
    assert isinstance(schedule, Cron)
    return schedule


def _numbers(field: str, among: range) -> set[int]:
    """What a field names, read apart from the code: only the forms that `crons` draws."""
    if field.startswith("*"):
        step = int(field.partition("/")[2] or 1)
        return set(among[::step])
    if "/" in field:
        return set(range(int(field.partition("/")[0]), among.stop, 7))
    if "-" in field:
        low, _dash, high = field.partition("-")
        return set(range(int(low), int(high) + 1))
    return set(map(int, field.split(",")))


# -- in words -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("30s", "in 30 seconds"),
        ("1s", "in 1 second"),
        ("5min", "in 5 minutes"),
        ("90s", "in 90 seconds"),
        ("120s", "in 2 minutes"),
        ("2h", "in 2 hours"),
        ("24h", "in 1 day"),
        ("once:2026-04-10 09:00", "once on 10 April 2026 at 09:00"),
        ("once:2026-03-29 02:30", "once on 29 March 2026 at 03:00"),
        ("cron:0 8 * * *", "every day at 08:00"),
        ("cron:0 8 * * 1-5", "every weekday at 08:00"),
        ("cron:5 18 * * MON-FRI", "every weekday at 18:05"),
        ("cron:0 8 * * 0", "every Sunday at 08:00"),
        ("cron:0 8 * * 7", "every Sunday at 08:00"),
        ("cron:0 8 * * sat", "every Saturday at 08:00"),
        ("cron:*/15 * * * *", "every 15 minutes"),
        ("cron:0 9 1 * *", "at 09:00, on day 1 of the month"),
        ("cron:0 8 * * 1,3", "every Monday and Wednesday at 08:00"),
        ("cron:30 7 * * 5,MON,3,7", "every Monday, Wednesday, Friday and Sunday at 07:30"),
        ("cron:0 8 * 5 1,3", "at 08:00, only on Monday and Wednesday, only in May"),
        ("cron:0 9 1 5 *", "at 09:00, on day 1 of the month, only in May"),
    ],
)
def test_a_schedule_in_plain_words(text: str, words: str) -> None:
    assert describe_schedule(parse(text), BERLIN, "en") == words
    with translation.override("zh-hans"):
        assert describe_schedule(parse(text), BERLIN, "") == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cron:*/15 * * * *", "每 15 分钟"),
        ("cron:0 9 1 * *", "在 09:00，每月的 1 号"),
        ("cron:0 8 * 5 1,3", "在 08:00，仅在星期一和星期三，仅在五月"),
        ("cron:0 9 1 5 *", "在 09:00，每月的 1 号，仅在五月"),
    ],
)
def test_a_schedule_in_chinese(text: str, words: str) -> None:
    assert describe_schedule(parse(text), BERLIN, "zh-hans") == words


def test_a_cron_that_has_no_words_is_shown_as_it_is() -> None:
    assert describe_schedule(parse("cron:0 */19,3 * * *"), BERLIN, "en") == "0 */19,3 * * *"
