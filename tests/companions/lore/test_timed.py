"""Rules that look back: what fired before on this branch, counted in messages."""

from typing import Any

import pytest

from tests.companions.lore.books import codes, contents, entry, read, run


def run_at(count: int, fired: list[int], said: str = "dragon", content: str = "Lore.", **fields: Any) -> Any:
    return run(read(entry(content, **fields)), said, message_count=count, fired_before={"book#0": fired})


@pytest.mark.parametrize(
    ("count", "fired", "said", "outcome"),
    [
        # sticky for 3 messages, then cooling for 2, and not before there are 2
        (1, [], "dragon", "delay"),
        (2, [], "dragon", "key"),
        (2, [], "hello", ""),
        (3, [2], "hello", "sticky"),
        (5, [2], "dragon", "sticky"),
        (6, [2], "dragon", "cooldown"),
        (7, [2], "dragon", "cooldown"),
        (7, [2], "hello", ""),
        (8, [2], "dragon", "key"),
        (6, [2, 4], "dragon", "cooldown"),  # what fires again meanwhile makes it no longer
        (9, [2, 8], "hello", "sticky"),
        (2, [2], "hello", ""),  # the same reply made again
        (2, [2], "dragon", "key"),
        (3, [2, 5, 9], "hello", "sticky"),  # and messages that were taken back
        (3, [5, 9], "hello", ""),
    ],
)
def test_sticky_cooldown_and_delay_are_counted_in_messages(
    count: int, fired: list[int], said: str, outcome: str
) -> None:
    found = run_at(count, fired, said, sticky=3, cooldown=2, delay=2)
    reasons = [placed.reason.code for placed in found.placed]
    assert reasons + list(codes(found).values()) == ([outcome] if outcome else [])
    assert found.fired == (("book#0",) if outcome == "key" else ())


@pytest.mark.parametrize(
    ("content", "fields", "fired", "said", "is_in"),
    [
        ("@@keep_activate_after_match\nLore.", {}, [], "hello", False),
        ("@@keep_activate_after_match\nLore.", {}, [2], "hello", True),
        ("@@keep_activate_after_match\n@@probability 0\nLore.", {}, [2], "hello", True),
        ("@@keep_activate_after_match\n@@activate_only_after 90\nLore.", {}, [2], "hello", True),
        ("@@keep_activate_after_match\n@@dont_activate\nLore.", {}, [2], "hello", False),
        ("@@dont_activate_after_match\nLore.", {}, [], "dragon", True),
        ("@@dont_activate_after_match\nLore.", {}, [2], "dragon", False),
        ("@@dont_activate_after_match\nLore.", {"constant": True}, [2], "dragon", False),
        ("@@dont_activate_after_match\n@@activate\nLore.", {}, [2], "dragon", True),
        ("@@dont_activate_after_match\n@@keep_activate_after_match\nLore.", {}, [2], "dragon", False),
        ("@@dont_activate_after_match\nLore.", {}, [9], "dragon", True),  # this reply's own
    ],
)
def test_what_matched_before_goes_on_or_never_comes_again(
    content: str, fields: dict[str, Any], fired: list[int], said: str, is_in: bool
) -> None:
    found = run_at(9, fired, said, content, **fields)
    assert bool(found.placed) == is_in


def test_only_timed_entries_that_came_in_by_a_match_are_to_be_remembered() -> None:
    lore = read(
        entry("Plain."),
        entry("Sticky.", sticky=2),
        entry("Cooling.", cooldown=2),
        entry("@@keep_activate_after_match\nKept."),
        entry("@@dont_activate_after_match\nOnce."),
        entry("No chance.", sticky=2, probability=0),
        entry("Long" * 99, sticky=2, priority=-1),
        entry("Constant.", sticky=2, constant=True),
    )
    assert run(lore, budget=60).fired == ("book#1", "book#2", "book#3", "book#4", "book#7")
    before = {f"book#{index}": [1] for index in range(8)}
    assert run(lore, "hello", message_count=2, fired_before=before, budget=60).fired == ()


def test_what_is_sticky_needs_no_chance_no_recursion_and_wins_its_group() -> None:
    lore = read(
        entry("Sticky.", sticky=5, probability=1, group="g", delay_until_recursion=True),
        entry("Other.", group="g", group_override=True),
    )
    assert contents(run(lore, message_count=4)) == ["Other."]
    outcome = run(lore, message_count=4, fired_before={"book#0": [3]})
    assert contents(outcome) == ["Sticky."]
    assert codes(outcome) == {"1": "group"}


def test_a_filter_is_stronger_than_sticky() -> None:
    found = run_at(4, [3], sticky=5, triggers=["swipe"])
    assert codes(found) == {"0": "trigger"}
