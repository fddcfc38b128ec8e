"""Which of the entries that match come in: filters, chance, inclusion groups, budgets and their order."""

from typing import Any

import pytest

from tests.companions.lore.books import SAID, codes, contents, entry, read, run


@pytest.mark.parametrize(
    ("extensions", "fields", "code"),
    [
        ({"character_filter": {"names": ["Noor"], "tags": []}}, {"character_name": "Noor"}, ""),
        ({"character_filter": {"names": ["Noor"]}}, {"character_name": "Ben"}, "character_filter"),
        (
            {"character_filter": {"names": ["Noor"], "isExclude": True}},
            {"character_name": "Noor"},
            "character_filter",
        ),
        ({"character_filter": {"names": ["Noor"], "isExclude": True}}, {"character_name": "Ben"}, ""),
        ({"character_filter": {"tags": ["elf"]}}, {"character_tags": ["elf", "old"]}, ""),
        ({"character_filter": {"tags": ["elf"]}}, {"character_tags": ["old"]}, "character_filter"),
        (
            {"character_filter": {"tags": ["elf"], "is_exclude": True}},
            {"character_tags": ["elf"]},
            "character_filter",
        ),
        ({"character_filter": {}}, {}, ""),
        ({"triggers": []}, {}, ""),
        ({"triggers": ["swipe", "normal"]}, {}, ""),
        ({"triggers": ["swipe"]}, {}, "trigger"),
        ({"probability": 0}, {"chance": lambda _key: 0.0}, "probability"),
        ({"probability": 100}, {"chance": lambda _key: 0.999}, ""),
        ({"probability": 30, "useProbability": True}, {"chance": lambda _key: 0.3}, "probability"),
        ({"probability": 30, "useProbability": True}, {"chance": lambda _key: 0.29}, ""),
        ({"probability": 30, "useProbability": False}, {"chance": lambda _key: 0.9}, ""),
        ({"automation_id": "x", "vectorized": True, "display_index": 3}, {}, ""),
    ],
)
@pytest.mark.parametrize("is_constant", [False, True])
def test_sillytaverns_fields_leave_out_what_they_say(
    extensions: dict[str, Any], fields: dict[str, Any], code: str, is_constant: bool
) -> None:
    outcome = run(read(entry(extensions=extensions, constant=is_constant)), **fields)
    assert (bool(outcome.placed), codes(outcome)) == (not code, {"0": code} if code else {})


@pytest.mark.parametrize(
    ("flag", "source"),
    [
        ("match_persona_description", "persona"),
        ("match_character_description", "description"),
        ("match_character_personality", "personality"),
        ("match_character_depth_prompt", "depth_prompt"),
        ("match_scenario", "scenario"),
        ("match_creator_notes", "creator_notes"),
    ],
)
def test_a_part_of_the_persona_is_searched_where_the_entry_asks_for_it(flag: str, source: str) -> None:
    lore = read(entry("Asks.", extensions={flag: True}), entry("Does not."))
    outcome = run(lore, "hello", **{source: "Slayer of the dragon"})
    assert contents(outcome) == ["Asks."]
    assert outcome.placed[0].reason.source == source


def test_what_is_switched_off_or_empty_is_nowhere() -> None:
    lore = read(
        entry("Off.", enabled=False),
        entry("Off.", enabled=False, constant=True),
        entry("", constant=True),
        entry("@@depth 2\n \n", constant=True),
        entry("On.", keys=["dragon", "tell", "me"]),
    )
    outcome = run(lore, SAID, SAID, SAID)
    assert contents(outcome) == ["On."]  # once
    assert not outcome.dropped


def test_the_order_of_the_prompt() -> None:
    lore = read(
        entry("deep", extensions={"position": 4, "depth": 2}),
        entry("shallow", extensions={"position": 4, "depth": 0}, insertion_order=1),
        entry("after examples", extensions={"position": 6}),
        entry("examples", extensions={"position": 5}),
        entry("after 2", insertion_order=2),
        entry("after 1", insertion_order=1),
        entry("after 1 too", insertion_order=1),
        entry("@@position scenario\nscenario"),
        entry("@@position personality\npersonality"),
        entry("before", insertion_order=99, position="before_char"),
    )
    persons = read(entry("person's", insertion_order=1), book_id="person", rank=1)
    assert contents(run((*persons, *lore), "dragon", "and", "dragon")) == [
        *("before", "after 1", "after 1 too", "person's", "after 2", "personality", "scenario"),
        *("examples", "after examples", "deep", "shallow"),
    ]


@pytest.mark.parametrize(
    ("chance", "winner"), [(0.0, "First."), (0.24, "First."), (0.26, "Second."), (0.99, "Second.")]
)
def test_of_a_group_one_comes_in_by_weight(chance: float, winner: str) -> None:
    lore = read(
        entry("First.", group="g", group_weight=50),
        entry("Second.", group="g, h", group_weight=150),
        entry("Alone.", group="i"),
        entry("Free."),
    )
    outcome = run(lore, chance=lambda key: {"group:g": chance}.get(key, 0.5))
    assert contents(outcome) == [winner, "Alone.", "Free."]
    loser = "1" if winner == "First." else "0"
    assert codes(outcome) == {loser: "group"}
    assert outcome.dropped[0].detail == ("book#0" if loser == "1" else "book#1")


@pytest.mark.parametrize(
    ("first", "second", "winner"),
    [
        ({"group_override": True}, {}, "First."),
        (
            {"group_override": True, "insertion_order": 1},
            {"group_override": True, "insertion_order": 2},
            "Second.",
        ),
        (
            {"use_group_scoring": True, "keys": ["dragon"]},
            {"use_group_scoring": True, "keys": ["dragon", "tell"]},
            "Second.",
        ),
        ({"use_group_scoring": True, "keys": ["dragon"]}, {"keys": ["dragon", "tell"]}, "Second."),
        ({"keys": ["dragon", "tell"]}, {"use_group_scoring": True, "group_override": True}, "First."),
        (
            {"use_group_scoring": True, "keys": ["dragon", "of"]},
            {
                "selective": True,
                "secondary_keys": ["me", "tell"],
                "use_group_scoring": True,
                "selectiveLogic": 3,
            },
            "Second.",
        ),
        (
            {"use_group_scoring": True, "keys": ["dragon", "of"]},
            {
                "selective": True,
                "secondary_keys": ["me", "tell", "x"],
                "use_group_scoring": True,
                "selectiveLogic": 1,
            },
            "First.",
        ),
        # Not scored.
        ({"use_group_scoring": True, "keys": ["dragon", "tell"]}, {"group_override": True}, "Second."),
        ({"group_weight": 0}, {"group_weight": 0}, "First."),
    ],
)
def test_priority_and_the_score_choose_in_a_group(
    first: dict[str, Any], second: dict[str, Any], winner: str
) -> None:
    lore = read(entry("First.", group="g", **first), entry("Second.", group="g", **second))
    assert contents(run(lore, chance=lambda _key: 0.0)) == [winner]


def test_a_group_whose_winner_has_no_luck_stays_empty_and_chance_is_asked_once() -> None:
    asked = []

    def take_chance(key: str) -> float:
        asked.append(key)
        return 0.5

    lore = read(
        entry("Winner.", group="g", group_override=True, probability=0),
        entry("Loser.", group="g"),
        entry("Tell again."),
    )
    outcome = run(lore, chance=take_chance)
    assert contents(outcome) == ["Tell again."]
    assert codes(outcome) == {"0": "probability", "1": "group"}
    assert asked == ["book#0"]


def test_who_wins_in_one_group_shuts_out_the_others_of_all_its_groups() -> None:
    lore = read(
        entry("Both.", group="g,h", group_override=True),
        entry("One.", group="g"),
        entry("Other.", group="h"),
    )
    assert contents(run(lore)) == ["Both."]


def test_a_group_that_has_one_gets_no_other_by_recursion() -> None:
    lore = read(entry("It has a hoard.", group="g"), entry("Gold.", ["hoard"], group="g"))
    outcome = run(lore)
    assert contents(outcome) == ["It has a hoard."]
    assert codes(outcome) == {"1": "group"}
    assert outcome.dropped[0].detail == "book#0"


@pytest.mark.parametrize(
    ("entries", "kept"),
    [
        ([{"priority": 2}, {"priority": 1}, {"priority": 3}], [0, 2]),
        ([{"insertion_order": 7}, {"insertion_order": 5}, {"insertion_order": 9}], [0, 2]),
        ([{"insertion_order": 7}, {"insertion_order": 5, "priority": 8}, {"insertion_order": 9}], [1, 2]),
        ([{}, {}, {}], [0, 1]),
        ([{"priority": 1, "constant": True}, {"priority": 2}, {"priority": 3}], [0, 2]),
        (
            [{"priority": 2}, {"priority": 3, "decorators": "@@ignore_on_max_context\n"}, {"priority": 1}],
            [0, 2],
        ),
        (
            [{"priority": 2}, {"constant": True, "decorators": "@@ignore_on_max_context\n"}, {"priority": 1}],
            [0, 2],
        ),
        ([{"priority": 2}, {"priority": 1, "ignore_budget": True}, {"priority": 3}], [0, 2]),
        ([{"priority": 2}, {"priority": 3, "decorators": "@@priority 1\n"}, {"priority": 2}], [0, 2]),
        ([{"priority": 2}, {"priority": 1}, {"priority": 9, "long": "x" * 30}], [0, 1]),
    ],
)
def test_over_the_budget_the_least_important_goes_first(
    entries: list[dict[str, Any]], kept: list[int]
) -> None:
    lore = read(
        *(
            entry(f"{fields.pop('decorators', '')}Entry {index}.{fields.pop('long', '')}", **fields)
            for index, fields in enumerate([dict(fields) for fields in entries])
        )
    )
    outcome = run(lore, budget=20)  # two of eight and four more
    assert sorted(int(placed.entry[-1]) for placed in outcome.placed) == kept
    assert set(codes(outcome).values()) <= {"budget", "max_context"}
    assert sum(placed.tokens for placed in outcome.placed) == 8 * len(kept)


def test_the_companions_own_book_is_heard_before_its_persons() -> None:
    own = read(entry("Own 1.", priority=1), entry("Own 2.", priority=2), book_id="own")
    persons = read(entry("Person.", priority=9), entry("Always.", constant=True), book_id="person", rank=1)
    for lore in ((*own, *persons), (*persons, *own)):
        outcome = run(lore, budget=14)
        assert sorted(contents(outcome)) == ["Always.", "Own 2."]
        assert {dropped.entry: dropped.code for dropped in outcome.dropped} == {
            "own#0": "budget",
            "person#0": "budget",
        }


def test_a_book_has_its_own_budget_within_that_for_all() -> None:
    small = read(entry("12345", priority=1), entry("67890", priority=2), book_id="small", token_budget=9)
    large = read(entry("abcdefgh"), book_id="large", token_budget=0)  # none
    assert contents(run((*small, *large))) == ["abcdefgh", "67890"]


def test_ids_name_entries_where_they_are_unique() -> None:
    lore = read(entry(id=7), entry(id="a"), entry(id="a"), entry(), entry(id=0))
    assert [entry.key for entry in lore] == ["book:7", "book#1", "book#2", "book#3", "book:0"]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 10**400, -(10**400), True, "7", None, []])
def test_a_number_that_is_none_counts_as_absent(number: Any) -> None:
    plain = read(entry("Lore.", position="after_char"))
    fields = ("position", "depth", "probability", "group_weight", "sticky", "cooldown", "delay", "scan_depth")
    extensions = dict.fromkeys((*fields, "selectiveLogic", "role"), number)
    odd = read(
        entry(position="after_char", insertion_order=10, priority=number, extensions=extensions),
        scan_depth=number,
        token_budget=number,
        extensions={"min_activations": number, "max_recursion_steps": number},
    )
    assert odd == plain


def test_an_entry_in_two_lists_comes_in_once() -> None:
    lore = read(entry(group="g"))
    assert contents(run((*lore, *lore))) == ["Lore."]
