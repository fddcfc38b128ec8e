"""Keys of an entry: literals, regular expressions that may be hostile, and the four logics of secondary keys."""

import time
from typing import Any

import pytest

from companions.lore.rules.keys import (
    MAX_PATTERN_TEXT_CHARACTERS,
    MAX_PATTERNS,
    MAX_TEXT_CHARACTERS,
    MAX_TIMEOUTS,
    PatternError,
    compile_pattern,
)
from companions.lore.rules.scan import scan
from tests.companions.lore.books import SAID, codes, contents, entry, read, run, talk

WHOLE = {"match_whole_words": True}


@pytest.mark.parametrize(
    ("key", "said", "fields", "is_found"),
    [
        ("Dragon", SAID, {}, True),
        (" dragon ", SAID, {}, True),
        ("", SAID, {}, False),
        ("   ", SAID, {}, False),
        ("drag", SAID, {}, True),  # V3: the talk contains it
        ("Dragon", SAID, {"case_sensitive": True}, False),
        ("Dragon", SAID, {"extensions": {"case_sensitive": True}}, False),
        ("Dragon", SAID, {"extensions": {"case_sensitive": False}, "case_sensitive": True}, True),
        ("STRASSE", "die Straße", {}, True),
        ("o'neil", "Where is O’Neil?", {}, True),
        ("ｋｉｔｈ", "I like Kith", {}, True),
        ("king", "it is not to my liking", {"extensions": WHOLE}, False),
        ("king", "Long live the King!", {"extensions": WHOLE}, True),
        ("king", "the king's men", {"extensions": WHOLE}, True),
        ("king", "我爱king吗", {"extensions": WHOLE}, True),  # no blank, and yet another word
        ("ed king", "the red kings", {"extensions": WHOLE}, True),  # several words are searched within words
        ("龙", "那条龙在哪", {"extensions": WHOLE}, True),
        ("ドラゴン", "赤いドラゴンだ", {"extensions": WHOLE}, True),
        ("용", "용이 있다", {"extensions": WHOLE}, True),
        ("C++", "he writes C++.", {"extensions": WHOLE}, True),
        ("/dr[ae]gon/", SAID, {}, True),
        ("/DRAGON/", SAID, {}, False),
        ("/DRAGON/i", SAID, {}, True),
        ("/DRAGON/gi", SAID, {}, True),
        ("/tell.*dragon/s", "Tell\nof the dragon", {}, False),
        ("/Tell.*dragon/s", "Tell\nof the dragon", {}, True),
        ("/^of/m", "Tell\nof the dragon", {}, True),
        ("/^of/", "Tell\nof the dragon", {}, False),
        (r"/\u{9F99}/u", "那条龙", {}, True),
        (r"/[^]n$/", SAID, {}, True),
        (r"/(?<first>d)r(?!x)(?<=dr)/", SAID, {}, True),
        ("/usr/bin", "in /usr/bin there", {}, True),  # no flags, and so no pattern
        ("/home/user/", "in /home/user/ there", {}, True),
        ("dr[ae]gon", SAID, {}, False),
        ("dr[ae]gon", SAID, {"use_regex": True}, True),
        ("DR[AE]GON", SAID, {"use_regex": True}, True),
        ("DR[AE]GON", SAID, {"use_regex": True, "case_sensitive": True}, False),
        ("/DR[AE]GON/", SAID, {"use_regex": True}, False),
    ],
)
def test_a_key_is_found_as_it_is_written(key: str, said: str, fields: dict[str, Any], is_found: bool) -> None:
    outcome = run(read(entry(keys=[key], **fields)), said)
    assert contents(outcome) == (["Lore."] if is_found else [])
    assert not outcome.dropped


def test_no_key_reaches_from_one_message_into_another() -> None:
    keys = ["gold\x00silver", "silver\x00gold", "gold silver", "goldsilver", "/gold.silver/s"]
    assert not run(read(entry(keys=keys)), "silver", "gold").placed


def test_so_much_of_the_talk_is_searched_at_most() -> None:
    lore = read(entry("Near.", ["near"]), entry("Far.", ["far"]))
    assert contents(run(lore, "far", "x" * (MAX_TEXT_CHARACTERS - 4) + "near far")) == ["Near."]


def test_the_reason_names_the_key_and_the_newest_message_that_has_it() -> None:
    lore = read(entry(keys=["wyrm", "dragon"]), entry(keys=["/gold/"]))
    outcome = run(lore, "a dragon", "gold", "that dragon again", "and?")
    assert [(placed.reason.code, placed.reason.key, placed.reason.message) for placed in outcome.placed] == [
        ("key", "dragon", 1),
        ("key", "/gold/", 2),
    ]


def test_macros_in_keys_are_expanded_by_the_caller() -> None:
    lore = read(entry(keys=["{{user}}'s sword"]))
    assert contents(run(lore, "It is Ana's sword", expand=lambda text: text.replace("{{user}}", "Ana")))
    assert not contents(run(lore, "It is Ana's sword"))


@pytest.mark.parametrize(
    ("logic", "none", "some", "both"),
    [(0, False, True, True), (1, True, True, False), (2, True, False, False), (3, False, False, True)],
)
def test_secondary_keys_follow_their_logic(logic: int, none: bool, some: bool, both: bool) -> None:
    lore = read(entry(selective=True, secondary_keys=["gold", "/fire/"], selectiveLogic=logic))
    for said, is_met in (("dragon", none), ("dragon gold", some), ("dragon gold fire", both)):
        outcome = run(lore, said)
        assert bool(outcome.placed) == is_met
        assert codes(outcome) == ({} if is_met else {"0": "secondary_keys"})


@pytest.mark.parametrize(
    "fields",
    [
        {"selective": False},
        {"selective": True, "secondary_keys": []},
        {"selective": True, "secondary_keys": ["  "]},
        {"selective": True, "constant": True},
        {"selective": True, "use_regex": True},
    ],
)
def test_secondary_keys_count_only_where_they_are_asked_for(fields: dict[str, Any]) -> None:
    assert contents(run(read(entry(**{"secondary_keys": ["gold"], **fields})))) == ["Lore."]


@pytest.mark.parametrize(
    ("content", "keys", "fields", "is_found"),
    [
        ("Lore.", ["gold", "dragon"], {}, False),  # the first key only
        ("Lore.", ["gold"], {"constant": True}, False),
        ("Lore.", [], {"constant": True}, False),
        ("@@additional_keys gold, dr.gon\nLore.", ["gold"], {}, True),  # one more way to match
        ("@@additional_keys gold\nLore.", ["dr.gon"], {}, True),
        ("@@exclude_keys tell\nLore.", ["dr.gon"], {}, True),
    ],
)
def test_with_use_regex_other_fields_mean_less_or_something_else(
    content: str, keys: list[str], fields: dict[str, Any], is_found: bool
) -> None:
    assert bool(contents(run(read(entry(content, keys, use_regex=True, **fields))))) == is_found


@pytest.mark.parametrize(
    ("key", "code"),
    [
        ("/(/", "pattern_invalid"),
        ("/[z-a]/", "pattern_invalid"),
        ("/dragon/y", "pattern_flag"),
        ("/dragon/d", "pattern_flag"),
        ("/(?R)/", "pattern_invalid"),
        ("/(?x) dragon/", "pattern_invalid"),
        ("/(?#dragon)/", "pattern_invalid"),
        ("/" + "a" * 501 + "/", "pattern_too_large"),
        ("/a{99999999}/", "pattern_too_large"),
        ("/(?:(?:a{99}){99}){99}/", "pattern_too_large"),
        ("/" + "(?:" * 25 + "a" + "){1,9}" * 25 + "/", "pattern_too_large"),
        ("/" + "(?:" * 20 + "a" + ")+" * 20 + "/", "pattern_too_large"),
        ("/" + "((" * 9 + "a" + ")+)" * 9 + "(?:[(]" + "b[)]){2}" * 1 + "{99}{99}/", "pattern_too_large"),
        ("/[[:alpha:]]/", "pattern_invalid"),
        ("/a{99}{99}{99}/", "pattern_too_large"),
        ("/(a+)+$/", "pattern_too_slow"),
        ("/(a|aa)+$/", "pattern_too_slow"),
        ("/^(([a-z])+.)+[A-Z]([a-z])+$/", "pattern_too_slow"),
        ("/(?:a|b|ab|a)+$/", "pattern_too_slow"),
    ],
)
def test_a_bad_pattern_is_no_match_and_says_why(key: str, code: str) -> None:
    began = time.thread_time()
    outcome = run(read(entry("Bad.", [key]), entry("Good.")), "a" * 9_000 + "! dragon!", SAID + "!")
    assert time.thread_time() - began < 0.5
    assert contents(outcome) == ["Good."]
    assert codes(outcome) == {"0": code}


def test_a_brace_that_counts_nothing_is_a_brace() -> None:
    assert compile_pattern("a{e<=5}", False).search("xa{E<=5}")
    assert not compile_pattern("a{e<=5}", False).search("b")
    assert compile_pattern("a{,2}", False).search("a{,2}")


def test_a_pattern_may_have_many_groups_and_long_gaps() -> None:
    groups = " ".join(f"(?:she|he|{number})+" for number in range(25))
    assert compile_pattern(groups, False)
    assert compile_pattern(r"\bdragon\b.{0,900}\bgold\b.{0,900}\bfire(?:\w{1,20} ){0,40}", False)
    with pytest.raises(PatternError, match="pattern_too_large"):
        compile_pattern("(?:a{50}b{50}){99}", False)


def test_after_a_few_patterns_took_too_long_no_other_of_the_book_is_tried() -> None:
    slow = [entry("Slow.", [f"/(a+)+${number}/"]) for number in range(60)]
    began = time.thread_time()
    lore = read(*slow, entry("Last.", ["/dragon/"]))
    outcome = run((*lore, *read(entry("Other.", ["/dragon/"]), book_id="b")), "a" * 9000 + "!", SAID)
    assert time.thread_time() - began < 0.5
    assert contents(outcome) == ["Other."]
    found = list(codes(outcome).values())
    assert found.count("pattern_too_slow") <= MAX_TIMEOUTS
    assert found[-1] == "patterns_stopped"
    assert len(found) == 61


def test_patterns_that_are_each_in_time_are_bounded_in_all() -> None:
    ticks = iter(range(10_000))
    lore = read(*(entry(keys=[f"/{number}$/"]) for number in range(60)))
    outcome = scan(lore, talk(SAID), lambda: next(ticks) * 0.004)
    assert 5 < sum(code == "patterns_stopped" for code in codes(outcome).values()) < 60


def test_a_book_has_so_many_patterns_at_most() -> None:
    lore = read(*(entry(keys=[f"/dragon|{number}/"]) for number in range(MAX_PATTERNS + 3)))
    outcome = scan(lore, talk(SAID), lambda: 0.0)
    assert len(outcome.placed) == MAX_PATTERNS
    assert list(codes(outcome).values()) == ["too_many_patterns"] * 3


def test_a_pattern_reads_so_much_of_the_talk_at_most() -> None:
    lore = read(entry("Near.", ["/near/"]), entry("Far.", ["/far/"]), entry("Literal.", ["far"]))
    outcome = run(lore, "far", "x" * (MAX_PATTERN_TEXT_CHARACTERS - 4) + "near far")
    assert contents(outcome) == ["Near.", "Literal."]


def test_a_thousand_entries_with_hostile_keys_take_no_long_time() -> None:
    lore = read(
        *(entry("a" * 200, ["a" * (1 + number % 199), "b" * 300], **WHOLE) for number in range(1_000))
    )
    began = time.thread_time()
    run(lore, "a" * 30_000, "a " * 10_000, budget=500)
    assert time.thread_time() - began < 3


def test_what_sillytavern_writes_is_a_pattern_only_between_slashes() -> None:
    fields = {"use_regex": True, "selectiveLogic": 0, "selective": True, "secondary_keys": ["lake"]}
    book = read(
        entry("A.", ["x", "dra.on"], **fields), entry("B.", ["x", "/dra.on/"], constant=True, **fields)
    )
    assert contents(run(book)) == ["B."]
    assert contents(run(book, "dra.on at the lake")) == ["A.", "B."]


def test_a_scan_that_takes_too_long_stops_where_it_is() -> None:
    lore = read(*(entry(f"Entry {number}.") for number in range(50)))
    ticks = iter(range(10_000))
    outcome = scan(lore, talk(SAID), lambda: next(ticks) * 0.05)
    stopped = [code for code in codes(outcome).values() if code == "stopped"]
    assert (0 < len(stopped) < 50, len(stopped) + len(outcome.placed)) == (True, 50)


def test_counting_the_tokens_of_thousands_of_entries_stops_where_it_is() -> None:
    lore = read(*(entry(f"Entry {number}.", constant=True) for number in range(50)))
    seconds = [0.0]

    def estimate(text: str) -> int:
        seconds[0] += 0.1
        return len(text)

    outcome = scan(lore, talk(SAID, estimate=estimate), lambda: seconds[0])
    assert len(outcome.placed) == 11
    assert set(codes(outcome).values()) == {"stopped"}


def test_an_entry_is_in_so_many_groups_at_most() -> None:
    lore = read(entry("One.", extensions={"group": ",".join(map(str, range(20_000)))}))
    assert len(lore[0].groups) == 20
