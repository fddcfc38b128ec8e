"""Entries: what one entry of a lorebook says, with one meaning for each rule, wherever it was written. Pure."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, get_args

from companions.lore.decorators import Role
from companions.lore.keys import Key

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
    """What secondary keys must do, by SillyTavern's numbers."""

    AND_ANY = 0
    NOT_ALL = 1
    NOT_ANY = 2
    AND_ALL = 3


@dataclass(frozen=True, slots=True)
class Book:
    """What holds for all entries of one lorebook."""

    id: str
    rank: int = 0  # the lower one is heard first where space is short: a companion's own 0, its person's 1
    scan_depth: int = DEFAULT_SCAN_DEPTH
    token_budget: int | None = None
    is_recursive: bool = True
    max_recursion_steps: int = 0  # searches in all, 1 is no recursion; 0 is no limit of its own
    min_activations: int = 0
    min_activations_depth: int = 0  # messages at most; 0 is all


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry, as a scan reads it."""

    key: str  # names it among all books; the same as long as its id is
    book: Book
    index: int  # in its book
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
    all_excluded_keys: tuple[Key, ...]  # excluded only together
    is_constant: bool
    scan_depth: int | None  # None where its book's counts
    sources: tuple[str, ...]
    is_forced: bool
    is_never: bool
    is_kept: bool  # goes on once it has fired
    is_once: bool  # and this one never again
    # what it waits for
    after_assistant: int | None
    every_assistant: int | None
    greeting: int | None
    user_icon: str | None
    names: tuple[str, ...]  # of companions
    tags: tuple[str, ...]
    is_filter_exclusive: bool  # those names and tags are left out instead
    triggers: tuple[str, ...]
    sticky: int
    cooldown: int
    delay: int
    # one among others
    probability: float  # in percent
    groups: tuple[str, ...]
    is_group_priority: bool
    group_weight: int
    is_group_scored: bool
    # recursion
    reads_recursion: bool
    feeds_recursion: bool
    recursion_level: int  # 0: looked for at once
    # where it goes
    place: Place
    depth: int | None
    reverse_depth: int | None
    role: Role
    goes_first: bool  # out of a prompt without space
    is_unbudgeted: bool
