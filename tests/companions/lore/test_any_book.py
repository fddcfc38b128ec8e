"""What holds for every scan, whatever is in the books and the talk."""

import json
from dataclasses import asdict, fields
from typing import Any
from zlib import crc32

from hypothesis import given, settings
from hypothesis import strategies as st

from companions.lore.rules.books import read_book
from companions.lore.rules.decorators import Decorators
from companions.lore.rules.scan import scan
from tests.companions.lore.books import talk

WORDS = st.sampled_from(
    ["gold", "Dragon", "龙", "tell me", "", " ", "/go+ld/i", "/(/", "/x/y", "{{user}}", "a{9}"]
)
TEXTS = st.lists(WORDS, max_size=6).map(" ".join)
NUMBERS = st.one_of(st.integers(-3, 9), st.sampled_from([0, -1, 1e308, 0.5, 10**12, 10**400]))
ODD = st.one_of(
    st.none(),
    st.booleans(),
    NUMBERS,
    WORDS,
    st.lists(WORDS, max_size=2),
    st.dictionaries(WORDS, WORDS, max_size=1),
)
DECORATORS = st.sampled_from(
    [
        *(field.name for field in fields(Decorators)),
        "instruct_depth",
        "instruct_scan_depth",
        "disable_ui_prompt",
        "x",
    ]
)
LINES = st.builds(
    "{}{} {}".format,
    st.sampled_from(["@@", "@@", "@@@", "@@@@", ""]),
    DECORATORS,
    st.one_of(NUMBERS.map(str), WORDS, st.sampled_from(["gold,dragon", "user", "scenario", "false"])),
)
CONTENTS = st.builds(lambda lines, text: "\n".join([*lines, text]), st.lists(LINES, max_size=4), TEXTS)
EXTENSIONS = [
    "position",
    "depth",
    "role",
    "selectiveLogic",
    "probability",
    "useProbability",
    "group",
    "group_override",
    "group_weight",
    "use_group_scoring",
    "sticky",
    "cooldown",
    "delay",
    "scan_depth",
    "match_whole_words",
    "case_sensitive",
    "exclude_recursion",
    "prevent_recursion",
    "delay_until_recursion",
    "ignore_budget",
    "match_persona_description",
    "match_scenario",
    "character_filter",
    "triggers",
]
KEYS = st.lists(WORDS, max_size=3)
ENTRIES = st.fixed_dictionaries(
    {
        "keys": KEYS,
        "content": CONTENTS,
        "enabled": st.booleans(),
        "insertion_order": st.integers(-5, 5),
        "extensions": st.dictionaries(st.sampled_from(EXTENSIONS), ODD, max_size=6),
        "use_regex": st.booleans(),
    },
    optional={
        "constant": st.booleans(),
        "selective": st.booleans(),
        "secondary_keys": KEYS,
        "priority": st.one_of(st.none(), NUMBERS),
        "case_sensitive": st.one_of(st.none(), st.booleans()),
        "position": st.sampled_from(["before_char", "after_char"]),
        "id": st.one_of(st.none(), st.integers(0, 3), WORDS),
        "name": WORDS,
    },
)
BOOKS = st.fixed_dictionaries(
    {
        "entries": st.lists(ENTRIES, max_size=6),
        "extensions": st.dictionaries(
            st.sampled_from(["max_recursion_steps", "min_activations", "min_activations_depth_max"]), ODD
        ),
    },
    optional={
        "scan_depth": ODD,
        "token_budget": st.one_of(st.none(), st.integers(-1, 60)),
        "recursive_scanning": st.one_of(st.none(), st.booleans()),
    },
)


@settings(max_examples=150)
@given(
    books=st.lists(BOOKS, max_size=3),
    texts=st.lists(TEXTS, max_size=6),
    facts=st.fixed_dictionaries(
        {
            "budget": st.integers(0, 80),
            "message_count": st.integers(0, 20),
            "assistant_messages": st.integers(0, 9),
            "greeting": st.one_of(st.none(), st.integers(0, 2)),
            "persona": TEXTS,
            "scenario": TEXTS,
            "fired": st.lists(st.integers(-1, 20), max_size=3),
        }
    ),
)
def test_every_scan_keeps_its_promises(
    books: list[dict[str, Any]], texts: list[str], facts: dict[str, Any]
) -> None:
    entries = [entry for number, book in enumerate(books) for entry in read_book(str(number), book, number)]
    fired = facts.pop("fired")
    before = {entry.key: fired for entry in entries[::2]}
    context = talk(*texts, fired_before=before, chance=lambda key: crc32(key.encode()) % 100 / 100, **facts)
    outcome = scan(entries, context, lambda: 0.0)
    assert scan(entries, context, lambda: 0.0) == outcome
    by_key = {entry.key: entry for entry in entries}
    placed = [by_key[entry.entry] for entry in outcome.placed]
    assert len({entry.key for entry in placed}) == len(placed)
    assert all(entry.is_enabled and entry.content for entry in placed)
    assert not {entry.entry for entry in outcome.placed} & {entry.entry for entry in outcome.dropped}
    assert set(outcome.fired) <= {entry.key for entry in placed}
    assert all(
        0 <= (entry.depth or 0) <= len(texts) and not entry.content.startswith("@@")
        for entry in outcome.placed
    )
    budgeted = [entry for entry in placed if not entry.is_unbudgeted]
    assert sum(len(entry.content) for entry in budgeted) <= context.budget
    for book in {entry.book for entry in budgeted if entry.book.token_budget is not None}:
        assert sum(len(entry.content) for entry in budgeted if entry.book == book) <= (book.token_budget or 0)
    json.dumps(asdict(outcome))
