"""Days that are still to come, read from texts in English and Chinese as of a Monday."""

from datetime import UTC, date, datetime

import pytest

from text.dates import find_days, find_days_ahead, render_age

MONDAY = date(2026, 5, 4)


def read(text: str) -> list[str]:
    return [f"{day:%Y-%m-%d}" for day in find_days_ahead(text, MONDAY)]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Tomorrow’s exam", "2026-05-05"),
        ("the day after tomorrow", "2026-05-06"),
        ("She will fly tonight", "2026-05-04"),
        ("an exam on Friday", "2026-05-08"),
        ("I'll call by Thursday", "2026-05-07"),
        ("this Monday", "2026-05-04"),
        ("an exam on Monday", "2026-05-11"),
        ("next Friday", "2026-05-15"),
        ("on Friday next week", "2026-05-15"),
        ("in 3 days", "2026-05-07"),
        ("in two weeks", "2026-05-18"),
        ("on May 9th, 2026", "2026-05-09"),
        ("a trip on 25/12", "2026-12-25"),
        ("on 2 January", "2027-01-02"),
        ("an exam on 2026-06-01", "2026-06-01"),
        ("Fred has an exam on Friday", "2026-05-08"),
        ("She was told that she has to be there on Friday", "2026-05-08"),
        ("The exam is on the 30th", "2026-05-30"),
        ("Her exam, Saturday the 30th", "2026-05-30"),
        ("It is due by the 3rd", "2026-06-03"),
        ("on Friday the 15th", "2026-05-15"),
        ("We meet on the 20th at noon", "2026-05-20"),
        ("三十号考试", "2026-05-30"),
        ("这个月30号考试", "2026-05-30"),
        ("明天面试", "2026-05-05"),
        ("后天考试", "2026-05-06"),
        ("大后天出发", "2026-05-07"),
        ("今晚要演出", "2026-05-04"),
        ("周五有考试", "2026-05-08"),
        ("本周一开会", "2026-05-04"),
        ("这周日要搬家", "2026-05-10"),
        ("下周五面试", "2026-05-15"),
        ("下下周五面试", "2026-05-22"),
        ("下週五面試", "2026-05-15"),
        ("周一直接去公司", "2026-05-11"),
        ("周日本来要去爬山", "2026-05-10"),
        ("後天面試", "2026-05-06"),
        ("还有五天就考试了", "2026-05-09"),
        ("再过三天考试", "2026-05-07"),
        ("三天后天气转凉", "2026-05-07"),
        ("15号下午体检", "2026-05-15"),
        ("体检定在2026-05-15上午", "2026-05-15"),
        ("2026-5-20号", "2026-05-20"),
        ("下个星期二见牙医", "2026-05-12"),
        ("三天后出发", "2026-05-07"),
        ("两周后回来", "2026-05-18"),
        ("十五天后", "2026-05-19"),
        ("下个月三号", "2026-06-03"),
        ("五月二十日考试", "2026-05-20"),
        ("12月25日飞", "2026-12-25"),
        ("2026年6月1日结婚", "2026-06-01"),
        ("She marries on Saturday 16 May 2026", "2026-05-16"),
        ("5月16日(周六)考试", "2026-05-16"),
        ("周六5月16号考试", "2026-05-16"),
    ],
)
def test_a_day_to_come_is_read(text: str, day: str) -> None:
    assert read(text) == [day]


@pytest.mark.parametrize(
    "text",
    [
        "下个月的20号考试",
        "12月的30号考试",
        "The exam is next month, on the 20th",
        "The exam is on the 20th next month",
        "I will marry in June, on the 20th",
        "5/20号",
        "on the 2nd row",
        "for the 2nd week in a row",
        "on the 1st try",
        "on the 2nd attempt",
        "on the 3rd date",
        "before the 2nd world war",
        "for the 12th year running",
        "on the 5th ave",
        "on the 3rd storey",
        "on the 14th bus",
        "waiting for the 15th bus",
        "on the 2nd one",
        "人民路15号",
        "二号病房",
        "1号种子",
        "8号风球",
        "五号字体",
        "十一号高速",
        "一号文件",
        "二号人物",
        "3号胶囊",
        "我们队的15号",
        "1号餐厅",
        "妈妈的生日是12月的30号",
        "我住在15号。",
        "She lives on the 12th floor",
        "a party for the 30th birthday",
        "She was born on the 3rd",
        "住在30号楼",
        "坐3号线去",
        "an exam",
        "in May",
        "every Friday",
        "She had an exam on Friday",
        "Yesterday was fine",
        "She went home today",
        "on 5/6",
        "an exam on 3 May",
        "an exam on 2026-05-03",
        "in 900 days",
        "on the 31st of June",
        "周五考试了",
        "上周五考试",
        "这周一直在加班",
        "下周一起去看展",
        "下周一定去体检",
        "下周日本旅行",
        "周一到周五上班",
        "廿五号",
        "去年5月16号结婚",
        "每周五跑步",
        "一周五次",
        "今天去了公园",
        "重要的会议周五开过了",
        "五月",
        "下个月三十一号",
    ],
)
def test_what_is_past_unclear_or_no_day_is_not(text: str) -> None:
    assert read(text) == []


def test_several_days_come_in_their_order_and_once() -> None:
    assert read("On 9 May or tomorrow, 明天, then 7 May") == ["2026-05-05", "2026-05-07", "2026-05-09"]


def test_a_day_that_was_is_told_where_it_is_written_out() -> None:
    assert find_days("Born on 3 May 1990", MONDAY) == [date(1990, 5, 3)]
    assert find_days("She flew home on 25 December", MONDAY) == [date(2025, 12, 25)]
    assert find_days("Born on 29 February", MONDAY) == [date(2027, 2, 28)]


@pytest.mark.parametrize(
    ("at", "told"),
    [
        (datetime(2026, 5, 4, 21, tzinfo=UTC), "2 days ago"),  # 36 hours
        (datetime(2026, 5, 5, 21, tzinfo=UTC), "12 hours ago"),
        (datetime(2026, 5, 5, 8, 59, tzinfo=UTC), "1 day ago"),
        (datetime(2026, 5, 6, 8, 59, 30, tzinfo=UTC), "just now"),
        (datetime(2026, 5, 6, 9, 30, tzinfo=UTC), "just now"),
    ],
)
def test_days_gone_by_are_counted_by_the_calendar(at: datetime, told: str) -> None:
    assert render_age(at, datetime(2026, 5, 6, 9, tzinfo=UTC)) == told
