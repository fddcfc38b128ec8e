"""Matching: whether an entry's keys or rules call for it, and which of its conditions leaves it out. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from companions.lore.rules.context import Reason, ScanContext, Timing
from companions.lore.rules.entries import Entry, Logic
from companions.lore.rules.keys import Haystack, Hit, Key, PatternError, Patterns, make_key

TRIGGER = "normal"  # SillyTavern's name for what asks for a reply; the others ask for what Kith has not
HELD = ("activate", "kept", "sticky")  # reasons for which the conditions of `_refuse` do not count


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why the entry matches (None if it does not), and the code and detail of what leaves it out nevertheless."""

    reason: Reason | None = None
    refusal: str = ""
    detail: str = ""


class Search:
    """Searches one entry's keys in one haystack. `problem` and `problem_key` name the last pattern that failed."""

    def __init__(self, entry: Entry, context: ScanContext, haystack: Haystack, patterns: Patterns) -> None:
        self.entry = entry
        self._context = context
        self._haystack = haystack
        self._patterns = patterns
        self.problem = self.problem_key = ""

    def find(self, key: Key) -> Hit | None:
        """Return where the key is found, or None. If its pattern fails, set `problem` and return None."""
        if "{{" in key.text:
            text = self._context.expand(key.text).strip()
            key = make_key(text, key.is_pattern, key.is_case_sensitive, key.is_whole_word)
        if not key.is_pattern:
            return self._haystack.find(key)
        try:
            return self._patterns.find(key, self.entry.book.id, self._haystack)
        except PatternError as error:
            self.problem, self.problem_key = str(error), key.text
            return None

    def find_any(self, keys: Iterable[Key]) -> Hit | None:
        """Return the hit of the first key that is found, or None."""
        return next(self._find_each(keys), None)

    def count(self, keys: Iterable[Key]) -> int:
        """Return how many of the keys are found."""
        return sum(1 for _hit in self._find_each(keys))

    def _find_each(self, keys: Iterable[Key]) -> Iterator[Hit]:
        return (hit for key in keys if (hit := self.find(key)))

    def is_secondary_met(self) -> bool:
        """Return whether the secondary keys satisfy the entry's logic, or there are none."""
        keys, logic = self.entry.secondary_keys, self.entry.logic
        if not keys:
            return True
        if logic in (Logic.AND_ANY, Logic.NOT_ANY):
            return (self.find_any(keys) is not None) == (logic is Logic.AND_ANY)
        return all(self.find(key) for key in keys) == (logic is Logic.AND_ALL)

    def score(self) -> int:
        """Return the entry's score in a scored group: how many keys match. Secondary keys count unless negated."""
        is_asked_for = self.entry.logic in (Logic.AND_ANY, Logic.AND_ALL)
        return self.count((*self.entry.keys, *(self.entry.secondary_keys if is_asked_for else ())))


def judge(search: Search, context: ScanContext, timing: Timing) -> Verdict:
    """Return whether the entry matches, and what leaves it out nevertheless.

    `activate` overrides conditions that V3 merely recommends, but neither those that it requires (`is_greeting`), nor
    those that SillyTavern checks first: filters, delay and cooldown.
    """
    reason = _find_reason(search, timing)
    if reason is None:
        return Verdict(None, search.problem, search.problem_key)
    refusal, detail = _refuse_always(search.entry, context, timing, reason), ""
    if not refusal and reason.code not in HELD:
        refusal, detail = _refuse(search, context, reason)
    return Verdict(reason, refusal, detail)


def _find_reason(search: Search, timing: Timing) -> Reason | None:
    entry = search.entry
    if entry.is_forced:
        return Reason("activate")
    if entry.is_kept and timing.has_fired:
        return Reason("kept")
    if timing.is_sticky:
        return Reason("sticky")
    if entry.is_constant:
        return Reason("constant")
    hit = search.find_any(entry.keys)
    if hit is None:
        return None
    passage = hit.passage
    code = "recursion" if passage.entry else "key"
    return Reason(code, hit.key, passage.message, passage.source, passage.entry)


def _refuse_always(entry: Entry, context: ScanContext, timing: Timing, reason: Reason) -> str:
    """Return the code of an unmet condition that counts for every reason to match, or ""."""
    if entry.is_never:
        return "dont_activate"
    if entry.greeting is not None and entry.greeting != context.greeting:
        return "is_greeting"
    if not _is_for_character(entry, context):
        return "character_filter"
    if entry.triggers and TRIGGER not in entry.triggers:
        return "trigger"
    if context.message_count < entry.delay:
        return "delay"
    if timing.is_cooling:
        return "cooldown"
    if entry.is_once and timing.has_fired and reason.code != "activate":
        return "dont_activate_after_match"
    return "outlet" if entry.place == "outlet" else ""


def _is_for_character(entry: Entry, context: ScanContext) -> bool:
    is_named = context.character_name in entry.names
    is_tagged = not set(entry.tags).isdisjoint(context.character_tags)
    if entry.is_filter_exclusive:
        return not is_named and not is_tagged
    return (is_named or not entry.names) and (is_tagged or not entry.tags)


def _refuse(search: Search, context: ScanContext, reason: Reason) -> tuple[str, str]:
    """Return code and detail of a decorator or of secondary keys that are not satisfied, or ("", "")."""
    entry, count = search.entry, context.assistant_messages
    if entry.after_assistant is not None and count < entry.after_assistant:
        return "activate_only_after", str(entry.after_assistant)
    if entry.every_assistant is not None and count % entry.every_assistant:
        return "activate_only_every", str(entry.every_assistant)
    for keys in entry.additional_keys:
        if not search.find_any(keys):
            return search.problem or "additional_keys", ", ".join(key.text for key in keys)
    if hit := search.find_any(entry.excluded_keys):
        return "exclude_keys", hit.key
    if entry.all_excluded_keys and all(search.find(key) for key in entry.all_excluded_keys):
        return "exclude_keys_all", ", ".join(key.text for key in entry.all_excluded_keys)
    if reason.code in ("key", "recursion") and not search.is_secondary_met():
        return search.problem or "secondary_keys", ", ".join(key.text for key in entry.secondary_keys)
    return "", ""
