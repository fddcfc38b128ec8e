"""Lorebook entries, normalised: each rule in one form, whichever format it was written in. Pure."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, get_args

from companions.lore.rules.decorators import Role
from companions.lore.rules.keys import Key

Place = Literal[
    "before_desc",
    "after_desc",
    "personality",
    "scenario",
    "before_examples",
    "after_examples",
    "depth",
    "outlet",
]
# In the order of a prompt.
PLACES: tuple[Place, ...] = tuple(place for place in get_args(Place) if place != "outlet")
DEFAULT_SCAN_DEPTH = 4


class Logic(IntEnum):
    """Which secondary keys must be found, by SillyTavern's numbers."""

    AND_ANY = 0
    NOT_ALL = 1
    NOT_ANY = 2
    AND_ALL = 3


@dataclass(frozen=True, slots=True)
class Book:
    """The settings of one lorebook, which apply to all its entries."""

    id: str
    rank: int = 0  # lower ranks keep their place in a tight budget: 0 a companion's own, 1 its person's
    scan_depth: int = DEFAULT_SCAN_DEPTH
    token_budget: int | None = None
    is_recursive: bool = True
    max_recursion_steps: int = 0  # searches in all, 1 means no recursion; 0 means no limit of the book's own
    min_activations: int = 0
    min_activations_depth: int = 0  # messages searched for these at most; 0 means all


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry, as a scan uses it."""

    key: str  # unique among all books, and stable as long as the entry's id
    book: Book
    index: int  # position in its book
    name: str  # for people, never for a model
    content: str  # without decorators, macros unexpanded
    is_enabled: bool
    order: int
    priority: int
    # what makes it match
    keys: tuple[Key, ...]
    secondary_keys: tuple[Key, ...]
    logic: Logic
    additional_keys: tuple[tuple[Key, ...], ...]
    excluded_keys: tuple[Key, ...]
    all_excluded_keys: tuple[Key, ...]  # exclude the entry only if all are found
    is_constant: bool
    scan_depth: int | None  # None for the book's
    sources: tuple[str, ...]  # parts of the persona that are searched, too
    is_forced: bool
    is_never: bool
    is_kept: bool  # after it has fired once, it always comes in
    is_once: bool  # after it has fired once, it never comes in again
    # conditions
    after_assistant: int | None
    every_assistant: int | None
    greeting: int | None
    names: tuple[str, ...]  # companions that it is meant for
    tags: tuple[str, ...]
    is_filter_exclusive: bool  # it is meant for all companions except those with these names and tags
    triggers: tuple[str, ...]
    sticky: int
    cooldown: int
    delay: int
    # chance and groups
    probability: float  # in percent
    groups: tuple[str, ...]
    is_group_priority: bool
    group_weight: int
    is_group_scored: bool
    # recursion
    reads_recursion: bool
    feeds_recursion: bool
    recursion_level: int  # 0: matched from the first search on
    # place in the prompt
    place: Place
    depth: int | None
    reverse_depth: int | None
    role: Role
    goes_first: bool  # dropped first if the budget is exceeded
    is_unbudgeted: bool
