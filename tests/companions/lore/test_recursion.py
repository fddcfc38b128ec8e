"""Entries that others call for by what they say, and books that ask for more entries than the last messages give."""

from typing import Any

import pytest

from companions.lore.rules.scan import MAX_RECURSED_CHARACTERS, MAX_RECURSIONS
from tests.companions.lore.books import codes, contents, entry, read, run

Fields = dict[str, Any]


@pytest.mark.parametrize(
    ("first", "second", "book", "is_called"),
    [
        ({}, {}, {}, True),
        ({}, {}, {"recursive_scanning": True}, True),
        ({}, {}, {"recursive_scanning": None}, True),
        ({}, {}, {"recursive_scanning": False}, False),
        ({"prevent_recursion": True}, {}, {}, False),
        ({}, {"exclude_recursion": True}, {}, False),
        ({"decorators": "@@unrecursive\n"}, {}, {}, False),
        ({}, {"decorators": "@@no_recursive_search\n"}, {}, False),
        ({"decorators": "@@recursive\n"}, {}, {"recursive_scanning": False}, False),
        ({}, {"delay_until_recursion": True}, {}, True),
        ({}, {"delay_until_recursion": 1}, {}, True),
        ({}, {}, {"extensions": {"max_recursion_steps": 1}}, False),
        ({}, {}, {"extensions": {"max_recursion_steps": 2}}, True),
        ({}, {"decorators": "@@scan_depth 0\n"}, {}, True),
        ({}, {"keys": ["/\\bgold\\b/"]}, {}, True),
        ({}, {"selective": True, "secondary_keys": ["dragon"]}, {}, True),
        ({}, {"selective": True, "secondary_keys": ["hoard"], "selectiveLogic": 2}, {}, False),
    ],
)
def test_an_entry_calls_for_another(first: Fields, second: Fields, book: Fields, is_called: bool) -> None:
    lore = read(
        entry(f"{first.get('decorators', '')}It has gold in a hoard.", **_without_decorators(first)),
        entry(f"{second.get('decorators', '')}Gold!", **{"keys": ["gold"], **_without_decorators(second)}),
        **book,
    )
    outcome = run(lore)
    assert contents(outcome) == ["It has gold in a hoard."] + ["Gold!"] * is_called
    if is_called:
        assert (outcome.placed[1].reason.code, outcome.placed[1].reason.entry) == ("recursion", "book#0")


def _without_decorators(fields: Fields) -> Fields:
    return {name: value for name, value in fields.items() if name != "decorators"}


def test_recursive_by_decorator_calls_for_entries_of_books_that_are() -> None:
    quiet = read(
        entry("@@recursive\nGold."), entry("Quiet.", ["gold"]), book_id="a", recursive_scanning=False
    )
    assert contents(run((*quiet, *read(entry("Heard.", ["gold"]), book_id="b")))) == ["Gold.", "Heard."]


def test_delayed_entries_wait_for_recursion_and_for_their_level() -> None:
    third = entry("Third.", delay_until_recursion=5)
    lore = read(
        third,
        entry("Second.", ["gold"], delay_until_recursion=2),
        entry("First.", delay_until_recursion=True),
    )
    assert contents(run(read(entry("Delayed.", delay_until_recursion=True)))) == []
    outcome = run((*lore, *read(entry("Gold.", ["dragon"]), book_id="b")))
    assert sorted(contents(outcome)) == ["First.", "Gold.", "Second.", "Third."]


def test_a_lower_level_shuts_out_a_higher_one() -> None:
    lore = read(
        entry("Gold."),
        entry("Early silver.", ["gold"], delay_until_recursion=1),
        entry(
            "Late.",
            ["gold"],
            delay_until_recursion=2,
            selective=True,
            secondary_keys=["silver"],
            selectiveLogic=2,
        ),
    )
    outcome = run(lore)
    assert contents(outcome) == ["Gold.", "Early silver."]
    assert codes(outcome) == {"2": "secondary_keys"}


def test_a_condition_that_recursion_meets_later_is_no_reason_to_drop() -> None:
    lore = read(entry("Waits.", selective=True, secondary_keys=["gold"]), entry("Gold.", ["tell"]))
    outcome = run(lore)
    assert contents(outcome) == ["Waits.", "Gold."]
    assert not outcome.dropped


def test_chains_end() -> None:
    lore = read(*(entry(f"key{number + 1}.", [f"key{number}."]) for number in range(60)))
    assert len(run(lore, "key0.").placed) == MAX_RECURSIONS + 1
    ring = read(entry("b", ["a"]), entry("a", ["b"]))
    assert len(run(ring, "a").placed) == 2


def test_so_much_of_what_entries_say_is_searched_at_most() -> None:
    lore = read(
        entry("gold" + "x" * MAX_RECURSED_CHARACTERS), entry("Never.", ["gold"]), entry("Well.", ["tell"])
    )
    assert [text[:5] for text in contents(run(lore))] == ["goldx", "Well."]


@pytest.mark.parametrize(
    ("extensions", "found"),
    [
        ({}, ["4"]),
        ({"min_activations": 1}, ["4"]),
        ({"min_activations": 2}, ["4", "2"]),
        ({"min_activations": 9}, ["4", "2", "0"]),
        ({"min_activations": 9, "min_activations_depth_max": 3}, ["4", "2"]),
    ],
)
def test_a_book_may_ask_for_so_many_entries_and_is_searched_deeper(
    extensions: Fields, found: list[str]
) -> None:
    numbers = (entry(str(number), [f"word{number}"], insertion_order=-number) for number in range(5))
    fixed = entry("Fixed.", ["word2"], scan_depth=1)
    lore = read(*numbers, fixed, scan_depth=1, extensions=extensions)
    outcome = run(lore, "word0", "x", "word2", "x", "word4")
    assert contents(outcome) == found


def test_a_deeper_search_finds_nothing_in_what_entries_say_where_an_entry_reads_none_of_it() -> None:
    lore = read(
        entry("It has gold."),
        entry("Gold!", ["gold"], exclude_recursion=True),
        scan_depth=1,
        extensions={"min_activations": 2},
    )
    assert contents(run(lore, "a", "b", "dragon")) == ["It has gold."]
    assert contents(run(lore, "gold", "b", "dragon")) == ["It has gold.", "Gold!"]
