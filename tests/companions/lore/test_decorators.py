"""Decorators at the top of an entry's content, and what each does to the scan."""

from typing import Any

import pytest

from companions.lore.rules.decorators import Decorators, parse_decorators
from tests.companions.lore.books import codes, contents, entry, read, run

FIVE = "".join(f"@@@unknown_{number} 1\n" for number in range(5))


@pytest.mark.parametrize(
    ("content", "said", "left"),
    [
        ("@@depth 4\nText", Decorators(depth=4), "Text"),
        ("@@depth 4\n\n\nText\n\n", Decorators(depth=4), "Text"),
        ("@@depth 4\r\nText\r\nmore", Decorators(depth=4), "Text\nmore"),
        ("@@depth 4\n\n@@role user\nText", Decorators(depth=4, role="user"), "Text"),
        ("  @@Depth   -2 \nText", Decorators(depth=-2), "Text"),
        ("Text\n@@depth 4", Decorators(), "Text\n@@depth 4"),
        ("@@depth 4", Decorators(depth=4), ""),
        ("@@depth four\nText", Decorators(), "Text"),
        ("@@depth 4,5\nText", Decorators(), "Text"),
        ("@@depth 99999999999999999999\nText", Decorators(), "Text"),
        ("@@depth 4\n@@depth 5\nText", Decorators(depth=4), "Text"),
        ("@@depth x\n@@depth 5\nText", Decorators(depth=5), "Text"),
        ("@@\n@@@@\n@@ 漢字\nText", Decorators(), "Text"),
        ("@@unknown 4\n@@@depth 3\nText", Decorators(depth=3), "Text"),
        (f"@@unknown 4\n{FIVE}@@@depth 3\n@@@role user\nText", Decorators(depth=3), "Text"),
        ("@@depth 5\n@@@role user\nText", Decorators(depth=5), "Text"),
        ("@@instruct_depth 5\n@@@depth 5\nText", Decorators(depth=5), "Text"),
        ("@@disable_ui_prompt system_prompt\n@@@activate\nText", Decorators(activate=True), "Text"),
        ("@@position nowhere\n@@@depth 2\nText", Decorators(depth=2), "Text"),
        ("@@@depth 3\nText", Decorators(), "Text"),
        (
            "@@additional_keys a, b\n@@additional_keys c\nText",
            Decorators(additional_keys=(("a", "b"), ("c",))),
            "Text",
        ),
        ("@@exclude_keys a\n@@exclude_keys b\nText", Decorators(exclude_keys=("a",)), "Text"),
        ("@@activate false\nText", Decorators(), "Text"),
        ("@@activate_only_every 0\nText", Decorators(), "Text"),
        ("@@probability 250\nText", Decorators(probability=100), "Text"),
        ("@@inject_lore x\n@@append\n@@replace a b\nText", Decorators(), "Text"),
    ],
)
def test_decorators_are_read_off_the_top_and_stripped(content: str, said: Decorators, left: str) -> None:
    assert parse_decorators(content) == (said, left)


@pytest.mark.parametrize(
    ("decorators", "fields", "code"),
    [
        # messages of the assistant are counted, and no others
        ("@@activate_only_after 3", {"assistant_messages": 2, "message_count": 9}, "activate_only_after"),
        ("@@activate_only_after 3", {"assistant_messages": 3, "message_count": 4}, ""),
        ("@@activate_only_every 3", {"assistant_messages": 4}, "activate_only_every"),
        ("@@activate_only_every 3", {"assistant_messages": 6}, ""),
        ("@@is_greeting 1", {"greeting": 1}, ""),
        ("@@is_greeting 1", {"greeting": 0}, "is_greeting"),
        ("@@is_greeting 0", {"greeting": None}, "is_greeting"),
        ("@@is_greeting 1\n@@activate", {"greeting": 0}, "is_greeting"),
        ("@@is_user_icon knight", {}, ""),
        ("@@dont_activate", {}, "dont_activate"),
        ("@@dont_activate\n@@activate", {}, ""),
        ("@@activate_only_after 3\n@@activate", {"assistant_messages": 2}, ""),
        ("@@additional_keys gold, hoard", {}, "additional_keys"),
        ("@@additional_keys gold, tell", {}, ""),
        ("@@additional_keys tell\n@@additional_keys gold", {}, "additional_keys"),
        ("@@exclude_keys gold, tell", {}, "exclude_keys"),
        ("@@exclude_keys gold", {}, ""),
        ("@@exclude_keys_all gold, tell", {}, ""),
        ("@@exclude_keys_all me, tell", {}, "exclude_keys_all"),
        ("@@match_full_word\n@@exclude_keys drag", {}, ""),
        ("@@exclude_keys drag", {}, "exclude_keys"),
        ("@@instruct_scan_depth 0\n@@instruct_depth 2\n@@reverse_instruct_depth 2", {}, ""),
        ("@@disable_ui_prompt system_prompt", {}, ""),
        ("@@probability 50", {"chance": lambda _key: 0.5}, "probability"),
        ("@@probability 50", {"chance": lambda _key: 0.49}, ""),
    ],
)
@pytest.mark.parametrize("is_constant", [False, True])
def test_a_condition_of_a_decorator_holds_for_what_is_constant_too(
    decorators: str, fields: dict[str, Any], code: str, is_constant: bool
) -> None:
    lore = read(entry(f"{decorators}\nLore.", constant=is_constant))
    outcome = run(lore, **fields)
    assert (contents(outcome), codes(outcome)) == (([], {"0": code}) if code else (["Lore."], {}))


def test_activate_needs_no_key_and_does_not_wake_what_is_switched_off() -> None:
    lore = read(entry("@@activate\nOn.", keys=()), entry("@@activate\nOff.", keys=(), enabled=False))
    outcome = run(lore)
    assert contents(outcome) == ["On."]
    assert outcome.placed[0].reason.code == "activate"


@pytest.mark.parametrize(
    ("decorators", "fields", "place", "depth"),
    [
        ("", {}, "after_desc", None),
        ("@@position before_desc", {}, "before_desc", None),
        ("@@position after_desc", {"position": "before_char"}, "after_desc", None),
        ("@@position personality", {}, "personality", None),
        ("@@position scenario\n@@depth 2", {}, "scenario", None),
        ("@@position moon\n@@depth 2", {}, "depth", 2),
        ("@@depth 2\n@@after", {}, "after_desc", None),
        ("@@depth 1", {}, "depth", 1),
        ("@@depth 5", {}, "depth", 5),
        ("@@depth 6", {}, "depth", 5),  # before the oldest
        ("@@depth 0", {}, "depth", 0),
        ("@@depth -3", {}, "depth", 0),  # after the newest
        ("@@reverse_depth 1", {}, "depth", 4),
        ("@@reverse_depth 1\n@@depth 2", {}, "depth", 2),
        ("@@reverse_depth 9", {}, "depth", 0),
        ("@@reverse_depth -9", {}, "depth", 5),
        ("@@end", {}, "depth", 0),
        ("@@depth 1", {"extensions": {"position": 4, "depth": 3}}, "depth", 1),
        ("", {"position": "before_char"}, "before_desc", None),
        ("", {"position": "after_char"}, "after_desc", None),
        ("", {"extensions": {"position": 0}, "position": "after_char"}, "before_desc", None),
        ("", {"extensions": {"position": 1}}, "after_desc", None),
        ("", {"extensions": {"position": 2}}, "depth", 4),
        ("", {"extensions": {"position": 3, "depth": 1}}, "depth", 4),
        ("", {"extensions": {"position": 4, "depth": 3}}, "depth", 3),
        ("", {"extensions": {"position": 4}}, "depth", 4),
        ("", {"extensions": {"position": 5}}, "before_examples", None),
        ("", {"extensions": {"position": 6}}, "after_examples", None),
        ("", {"extensions": {"position": 9}}, "after_desc", None),
    ],
)
def test_an_entry_goes_where_its_decorator_or_its_field_says(
    decorators: str, fields: dict[str, Any], place: str, depth: int | None
) -> None:
    outcome = run(read(entry(f"{decorators}\nLore.", **fields)), "1", "2", "3", "4", "dragon")
    assert [(placed.place, placed.depth) for placed in outcome.placed] == [(place, depth)]


def test_an_outlet_is_left_out() -> None:
    assert codes(run(read(entry(extensions={"position": 7, "outlet_name": "x"})))) == {"0": "outlet"}


@pytest.mark.parametrize(
    ("content", "extensions", "role"),
    [
        ("Lore.", {}, "system"),
        ("@@role assistant\n@@depth 0\nLore.", {"role": 1}, "assistant"),
        ("@@role narrator\nLore.", {"position": 4, "role": 1}, "user"),
        ("Lore.", {"position": 4, "role": 2}, "assistant"),
        ("Lore.", {"position": 4, "role": 7}, "system"),
    ],
)
def test_an_entry_speaks_in_the_role_that_is_named(
    content: str, extensions: dict[str, Any], role: str
) -> None:
    assert [placed.role for placed in run(read(entry(content, extensions=extensions))).placed] == [role]


@pytest.mark.parametrize(
    ("content", "fields", "book", "is_found"),
    [
        ("Lore.", {}, {}, True),  # four messages, where nothing else is said
        ("Lore.", {}, {"scan_depth": 2}, False),
        ("@@scan_depth 4\nLore.", {}, {"scan_depth": 2}, True),
        ("@@scan_depth 2\nLore.", {"extensions": {"scan_depth": 4}}, {}, False),
        ("Lore.", {"extensions": {"scan_depth": 4}}, {"scan_depth": 1}, True),
        ("Lore.", {"extensions": {"scan_depth": None}}, {"scan_depth": 4}, True),
        ("@@scan_depth 0\nLore.", {}, {}, False),
    ],
)
def test_so_many_of_the_newest_messages_are_searched(
    content: str, fields: dict[str, Any], book: dict[str, Any], is_found: bool
) -> None:
    outcome = run(read(entry(content, **fields), **book), "the dragon", "b", "c", "d")
    assert [placed.reason.message for placed in outcome.placed] == ([3] if is_found else [])
