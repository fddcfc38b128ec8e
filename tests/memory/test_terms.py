"""The one tokeniser: any script, dates, bounds."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.recall.traits import (
    MAX_REPETITIONS,
    MAX_TERM_CHARACTERS,
    MAX_TERMS,
    is_question,
    sign_facts,
    terms,
)
from text.dates import find_spans

WHEN = datetime(2023, 5, 10, 12, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I visited two museums", ["visit", "two", "museum"]),
        ("Frank's dogs don't bark", ["frank", "dog", "bark"]),
        ("He doesn’t like CAFÉ noir", ["like", "cafe", "noir"]),
        ("ＦＵＬＬ width ﬁne", ["full", "width", "fine"]),
        ("mp3 and 3.5 kg", ["mp3", "3", "5", "kg"]),
        ("cat_food", ["cat", "food"]),
        ("我喜欢博物馆", ["我喜", "喜欢", "欢博", "博物", "物馆"]),
        ("猫", ["猫"]),
        ("我的猫 Minka", ["的猫", "minka"]),
        ("カタカナ", ["カタ", "タカ", "カナ"]),
        ("ﾊﾝｶｸ", ["ハン", "ンカ", "カク"]),
        ("안녕하세요", ["안녕", "녕하", "하세", "세요"]),
        ("สวัสดี", ["สวั", "วัส", "สดี"]),
        ("हिन्दी किताब", ["हिन्दी", "किताब"]),
        ("Кошки и кошка", ["кошк", "и", "кошк"]),
        ("tea tea tea", ["tea", "tea", "tea"]),
        ("Tee🎉Party!", ["tee", "parti"]),
    ],
)
def test_each_script_has_its_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("who are you?", ["who", "are", "you"]), ("你是我的", ["你是", "是我", "我的"]), ("的", ["的"])],
)
def test_function_words_alone_are_kept(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize("text", ["", " ", "?!", "🎉", "\x00", "\ud800", "\u0301"])
def test_what_has_no_word_has_no_term(text: str) -> None:
    assert terms(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on May 2nd", ["@05-02"]),
        ("2 May 2023", ["@2023-05-02"]),
        ("the 3rd of June", ["@06-03"]),
        ("Sept. 9, 2022", ["@2022-09-09"]),
        ("2023-05-02", ["@2023-05-02"]),
        ("2023/5/2", ["@2023-05-02"]),
        ("2023年5月2日", ["@2023-05-02"]),
        ("5月2号", ["@05-02"]),
        ("五月二十三日", ["@05-23"]),
        ("on 5/2", ["@05-02", "@02-05"]),
        ("on 5/23", ["@05-23"]),
        ("in May", ["@2023-05"]),
        ("in June", ["@2022-06"]),
        ("May 2022", ["@2022-05"]),
        ("yesterday", ["@2023-05-09"]),
        ("昨天", ["@2023-05-09"]),
        ("前天", ["@2023-05-08"]),
        ("today", ["@2023-05-10"]),
        ("3 days ago", ["@2023-05-07"]),
        ("三天前", ["@2023-05-07"]),
        ("last month", ["@2023-04"]),
        ("上个月", ["@2023-04"]),
        ("on Monday", ["@2023-05-08"]),
        ("last Wednesday", ["@2023-05-03"]),
        ("上周三", ["@2023-05-03"]),
        ("上周一", ["@2023-05-01"]),
        ("上上周五", ["@2023-04-28"]),
        ("这周一", ["@2023-05-08"]),
        ("星期天", ["@2023-05-07"]),
        ("last week", [f"@2023-05-0{day}" for day in range(1, 8)]),
    ],
)
def test_a_named_date_is_a_term(text: str, expected: list[str]) -> None:
    assert terms(text, WHEN) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What did I do last year?", ["2022-01-01 2022-12-31"]),
        ("in June last year", ["2022-06-01 2022-06-30"]),
        ("the year before last, in May", ["2021-05-01 2021-05-31"]),
        ("What happened two years ago in December?", ["2021-12-01 2021-12-31"]),
        ("on 14 March last year", ["2022-03-14 2022-03-14"]),
        ("on 29 February last year", []),
        ("in 2020", ["2020-01-01 2020-12-31"]),
        ("in the summer of 2020", ["2020-01-01 2020-12-31"]),
        ("in May 2020, and not last year", ["2020-05-01 2020-05-31"]),
        ("去年五月", ["2022-05-01 2022-05-31"]),
        ("前年", ["2021-01-01 2021-12-31"]),
        ("三年前", ["2020-01-01 2020-12-31"]),
        ("2020年", ["2020-01-01 2020-12-31"]),
        ("2020年5月", ["2020-05-01 2020-05-31"]),
        ("12 years old", []),
    ],
)
def test_a_year_is_named_alone_or_beside_its_month_or_day(text: str, expected: list[str]) -> None:
    assert [f"{first} {last}" for first, last in find_spans(text, WHEN)] == expected


def test_a_year_before_all_years_that_terms_can_write_is_none() -> None:
    assert find_spans("99 years ago", datetime(50, 5, 2, tzinfo=UTC)) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I may 2 times", ["@05-02", "time"]),  # nobody can tell
        ("31 February", ["31", "februari"]),
        ("5/2 of it", ["5", "2"]),
        ("may I come in", ["may", "come"]),
        ("march 5 km", ["march", "5", "km"]),
        ("99月99日", ["99", "月", "99", "日"]),
        ("3个月", ["3", "个月"]),
        ("一周三次", ["一周", "周三", "三次"]),
        ("下周三", ["下周", "周三"]),
        ("这周五", ["这周", "周五"]),
    ],
)
def test_what_is_no_date_stays_words(text: str, expected: list[str]) -> None:
    assert terms(text, WHEN) == expected


def test_relative_days_are_words_where_the_time_is_unknown() -> None:
    assert terms("yesterday") == ["yesterday"]
    assert terms("昨天") == ["昨天"]


def test_terms_are_bounded() -> None:
    assert terms("a" * 100_000) == ["a" * MAX_TERM_CHARACTERS]
    assert terms("tea " * 25_000) == ["tea"] * MAX_REPETITIONS
    assert len(terms(" ".join(f"word{number}" for number in range(50_000)))) == MAX_TERMS


@pytest.mark.parametrize(
    "text", ["月" * 100_000, "二" * 100_000, "5 " * 50_000, "may " * 25_000, "in " * 33_000, "on 5/" * 20_000,
             "5月" * 50_000, "\u0301" * 100_000, "a\u0301" * 50_000, "十十月" * 33_000, "1 day" * 20_000, "'s" * 50_000,
             "a" + "\u0316\u0301" * 50_000]
)  # fmt: skip
@pytest.mark.timeout(60)  # what took the square of its length would take hours
def test_no_text_takes_long(text: str) -> None:
    terms(text, WHEN)
    find_spans(text[:32_000], WHEN)
    sign_facts(text[:32_000], WHEN)


@given(st.text(max_size=200))
def test_any_text_has_storable_terms(text: str) -> None:
    for term in terms(text, WHEN):
        assert 0 < len(term) <= 80
        assert "\x00" not in term
        term.encode()


@given(st.text(min_size=1, max_size=50))
def test_a_text_has_the_same_terms_at_any_time_but_for_days(text: str) -> None:
    assert set(terms(text)) <= set(terms(text, WHEN)) or "@" in "".join(terms(text, WHEN))


@pytest.mark.parametrize(
    "text",
    ["Really?", "真的吗？", '"Really?"', "What? ", "（是吗？）", "Τι κάνεις;", "You quit?!", "Tea? 😊"],
)
def test_a_question_is_known_by_its_mark(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize("text", ["", "Really.", "Why? Because.", "I moved to Porto ;)"])
def test_what_ends_otherwise_is_no_question(text: str) -> None:
    assert not is_question(text)
