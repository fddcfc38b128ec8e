"""Parse a lorebook's JSON into entries. Pure.

A rule may be in the fields of Character Card V3, in SillyTavern's fields, which are in an entry's `extensions`, or in
decorators at the top of the content. Decorators override SillyTavern's fields, which override V3's.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from companions.lore.rules.decorators import ROLES, Decorators, Role, parse_decorators
from companions.lore.rules.entries import DEFAULT_SCAN_DEPTH, PLACES, Book, Entry, Logic, Place
from companions.lore.rules.keys import Key, make_key

SILLY_TAVERN_PLACES: tuple[Place, ...] = (
    "before_desc",
    "after_desc",
    "depth",  # the top of the author's note
    "depth",  # the bottom of the author's note
    "depth",
    "before_examples",
    "after_examples",
    "outlet",  # a card inserts it by a macro that Kith does not have
)
NOTE_POSITIONS = (2, 3)
NOTE_DEPTH = 4
DEFAULT_DEPTH = 4
MAX_NUMBER = 1e15  # larger numbers and NaN are ignored
MAX_SCAN_DEPTH = 1000
MAX_GROUPS, MAX_GROUP_CHARACTERS = 20, 200  # groups of one entry, and characters of a group's name
DEFAULT_ORDER = 100
DEFAULT_WEIGHT = 100
SOURCES = {
    "match_persona_description": "persona",
    "match_character_description": "description",
    "match_character_personality": "personality",
    "match_character_depth_prompt": "depth_prompt",
    "match_scenario": "scenario",
    "match_creator_notes": "creator_notes",
}
# SillyTavern sets `use_regex` on every entry that it writes: there, only keys between slashes are patterns.
SILLY_TAVERN_MARKS = {"display_index", "selectiveLogic", "useProbability"}


def read_book(book_id: str, book: Mapping[str, Any], rank: int = 0) -> tuple[Entry, ...]:
    """Return the entries of a normalised V3 lorebook, in its order."""
    extensions = _read_mapping(book.get("extensions"))
    settings = Book(
        id=book_id,
        rank=rank,
        scan_depth=_read_scan_depth(book.get("scan_depth"), DEFAULT_SCAN_DEPTH),
        token_budget=_read_count(book.get("token_budget")) or None,
        is_recursive=book.get("recursive_scanning") is not False,
        max_recursion_steps=_read_count(extensions.get("max_recursion_steps")),
        min_activations=_read_count(extensions.get("min_activations")),
        min_activations_depth=_read_count(extensions.get("min_activations_depth_max")),
    )
    raw_entries = [_read_mapping(entry) for entry in book.get("entries") or ()]
    ids = [str(entry.get("id") or "") if entry.get("id") != 0 else "0" for entry in raw_entries]
    counts = Counter(ids)
    return tuple(
        read_entry(
            settings,
            index,
            entry,
            f"{book_id}:{name}" if name and counts[name] == 1 else f"{book_id}#{index}",
        )
        for index, (name, entry) in enumerate(zip(ids, raw_entries, strict=True))
    )


def read_entry(book: Book, index: int, entry: Mapping[str, Any], key: str) -> Entry:
    """Parse one entry of a normalised lorebook, each rule from the format that overrides the others."""
    extensions = _read_mapping(entry.get("extensions"))
    decorators, content = parse_decorators(str(entry.get("content") or ""))
    is_regex = entry.get("use_regex") is True and not SILLY_TAVERN_MARKS & extensions.keys()
    case = _take_first(extensions.get("case_sensitive"), entry.get("case_sensitive"), False) is True
    whole = _is_whole_word(decorators, extensions)

    def read_keys(texts: Any, is_pattern: bool = False) -> tuple[Key, ...]:
        return tuple(
            make_key(text, is_pattern, case, whole)
            for raw in texts or ()
            if isinstance(raw, str) and (text := raw.strip())
        )

    keys = read_keys(entry.get("keys"), is_regex)
    additional = tuple(read_keys(texts, is_regex) for texts in decorators.additional_keys)
    if is_regex:  # only the first key counts, and each additional pattern is another way to match
        keys, additional = (*keys[:1], *(key for group in additional for key in group)), ()
    secondary = entry.get("secondary_keys") if entry.get("selective") and not is_regex else ()
    place, depth, reverse_depth = _find_place(decorators, extensions, entry.get("position"))
    order = read_integer(entry.get("insertion_order"), DEFAULT_ORDER)
    character_filter = _read_mapping(extensions.get("character_filter"))
    return Entry(
        key=key,
        book=book,
        index=index,
        name=str(entry.get("name") or entry.get("comment") or ""),
        content=content.strip(),
        is_enabled=entry.get("enabled", True) is not False,
        order=order,
        priority=_take_first(decorators.priority, read_integer(entry.get("priority"), None), order),
        keys=keys,
        secondary_keys=read_keys(secondary),
        logic=_read_logic(extensions.get("selectiveLogic")),
        additional_keys=additional,
        excluded_keys=() if is_regex else read_keys(decorators.exclude_keys),
        all_excluded_keys=() if is_regex else read_keys(decorators.exclude_keys_all),
        is_constant=entry.get("constant") is True and not is_regex,
        scan_depth=_take_first(decorators.scan_depth, _read_scan_depth(extensions.get("scan_depth"), None)),
        sources=tuple(source for flag, source in SOURCES.items() if extensions.get(flag) is True),
        is_forced=decorators.activate,
        is_never=decorators.dont_activate and not decorators.activate,
        is_kept=decorators.keep_activate_after_match,
        is_once=decorators.dont_activate_after_match,
        after_assistant=decorators.activate_only_after,
        every_assistant=decorators.activate_only_every,
        greeting=decorators.is_greeting,
        names=_read_strings(character_filter.get("names")),
        tags=_read_strings(character_filter.get("tags")),
        is_filter_exclusive=_take_first(character_filter.get("isExclude"), character_filter.get("is_exclude"))
        is True,
        triggers=_read_strings(extensions.get("triggers")),
        sticky=_read_count(extensions.get("sticky")),
        cooldown=_read_count(extensions.get("cooldown")),
        delay=_read_count(extensions.get("delay")),
        probability=_read_probability(decorators, extensions),
        groups=_read_groups(extensions.get("group")),
        is_group_priority=extensions.get("group_override") is True,
        group_weight=read_integer(extensions.get("group_weight"), DEFAULT_WEIGHT),
        is_group_scored=extensions.get("use_group_scoring") is True,
        reads_recursion=book.is_recursive
        and extensions.get("exclude_recursion") is not True
        and not decorators.no_recursive_search,
        feeds_recursion=(book.is_recursive or decorators.recursive)
        and extensions.get("prevent_recursion") is not True
        and not decorators.unrecursive,
        recursion_level=_read_level(extensions.get("delay_until_recursion")),
        place=place,
        depth=depth,
        reverse_depth=reverse_depth,
        role=decorators.role or _read_role(extensions.get("role")),
        goes_first=decorators.ignore_on_max_context,
        is_unbudgeted=extensions.get("ignore_budget") is True,
    )


def _find_place(
    decorators: Decorators, extensions: Mapping[str, Any], position: Any
) -> tuple[Place, int | None, int | None]:
    """Return the place, the depth, and the depth counted from the oldest message.

    The decorator `position` overrides `depth`, which overrides `reverse_depth`; all override SillyTavern's fields.
    """
    for place in PLACES:
        if place == decorators.position:
            return place, None, None
    if not decorators.after:
        if decorators.depth is not None:
            return "depth", decorators.depth, None
        if decorators.reverse_depth is not None:
            return "depth", None, decorators.reverse_depth
        if decorators.end:
            return "depth", 0, None
    number = read_integer(extensions.get("position"), None)
    if number is None or not 0 <= number < len(SILLY_TAVERN_PLACES):
        return ("before_desc" if position == "before_char" else "after_desc"), None, None
    place = SILLY_TAVERN_PLACES[number]
    if place != "depth":
        return place, None, None
    return (
        place,
        NOTE_DEPTH if number in NOTE_POSITIONS else _read_count(extensions.get("depth"), DEFAULT_DEPTH),
        None,
    )


def _is_whole_word(decorators: Decorators, extensions: Mapping[str, Any]) -> bool:
    if decorators.match_partial_word or decorators.match_full_word:
        return decorators.match_full_word
    return extensions.get("match_whole_words") is True


def _read_probability(decorators: Decorators, extensions: Mapping[str, Any]) -> float:
    if decorators.probability is not None:
        return decorators.probability
    probability = extensions.get("probability", 100)
    if extensions.get("useProbability") is False or not _is_number(probability):
        return 100
    return min(max(float(probability), 0), 100)


def _read_groups(value: Any) -> tuple[str, ...]:
    names = value.split(",") if isinstance(value, str) else ()
    groups = dict.fromkeys(group[:MAX_GROUP_CHARACTERS] for name in names if (group := name.strip()))
    return tuple(groups)[:MAX_GROUPS]


def _read_level(value: Any) -> int:
    return int(value) if isinstance(value, bool) else _read_count(value)


def _read_logic(value: Any) -> Logic:
    number = read_integer(value, 0)
    return Logic(number) if number in list(Logic) else Logic.AND_ANY


def _read_role(value: Any) -> Role:
    roles: tuple[Role, ...] = ("system", "user", "assistant")
    if value in ROLES:
        return roles[ROLES.index(value)]
    number = read_integer(value, 0)
    return roles[number] if 0 <= number < len(roles) else "system"


def _read_scan_depth(value: Any, default: Any) -> Any:
    number = read_integer(value, -1)
    return default if number < 0 else min(number, MAX_SCAN_DEPTH)


def _read_count(value: Any, default: int = 0) -> int:
    """Return the value as an integer of at least 0, or the default if it is no number."""
    number: int = read_integer(value, default)
    return max(number, 0)


def read_integer(value: Any, default: Any) -> Any:
    """Return the value as an integer, or the default if it is no number or a very large one."""
    return int(value) if _is_number(value) else default


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MAX_NUMBER


def _read_mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _read_strings(value: Any) -> tuple[str, ...]:
    return tuple(part for part in value if isinstance(part, str)) if isinstance(value, list | tuple) else ()


def _take_first(*values: Any) -> Any:
    """Return the first value that is not None."""
    return next((value for value in values if value is not None), None)
