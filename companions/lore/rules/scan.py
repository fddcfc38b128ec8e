"""The scan: which entries of all books come into one prompt, in which order, and why others are left out. Pure."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from companions.lore.rules.context import Reason, ScanContext, read_timing
from companions.lore.rules.decorators import Role
from companions.lore.rules.entries import PLACES, Entry, Place
from companions.lore.rules.keys import Haystack, Passage, Patterns
from companions.lore.rules.matching import Search, judge
from companions.lore.rules.selection import Loss, choose_in_groups, fit_budget, roll

MAX_RECURSIONS = 16  # searches after the first
MAX_DEEPENINGS = 100  # messages searched beyond its scan depth for a book that has too few active entries
MAX_SECONDS = 1.0  # of matching, and of counting tokens; entries that are undecided by then are left out
MAX_RECURSED_CHARACTERS = 50_000  # of entries' contents that are searched
GOING_ON = ("sticky", "kept")  # reasons that continue an earlier match


@dataclass(frozen=True, slots=True)
class Placed:
    """One entry that comes into the prompt."""

    entry: str  # the entry's key
    book: str  # the book's id
    name: str
    content: str  # macros unexpanded
    place: Place
    depth: int | None  # number of messages after it; None if its place is outside the talk
    role: Role
    tokens: int
    reason: Reason


@dataclass(frozen=True, slots=True)
class Dropped:
    """One entry that matched, or whose pattern failed, and was left out; or one that the scan had no time for.

    `code` is the name of the decorator that leaves it out, or `secondary_keys`, `character_filter`, `trigger`,
    `delay`, `cooldown`, `outlet`, `group`, `probability`, `budget`, `max_context`; for patterns `pattern_invalid`,
    `pattern_flag`, `pattern_too_large`, `pattern_too_slow`, `patterns_stopped`, `too_many_patterns`;
    `stopped` if the whole scan took too long.
    """

    entry: str
    book: str
    name: str
    code: str
    detail: str  # the keys, the number, the winner's key or the tokens
    reason: Reason | None  # why it matched, if it did


@dataclass(frozen=True, slots=True)
class Scan:
    """The result of a scan. `fired` are the keys of entries whose firing must be saved: their rules count messages."""

    placed: tuple[Placed, ...]
    dropped: tuple[Dropped, ...]
    fired: tuple[str, ...]


def scan(
    entries: Iterable[Entry], context: ScanContext, clock: Callable[[], float] = time.thread_time
) -> Scan:
    """Return which entries come into the prompt, in its order, and which matched but were left out.

    The result is deterministic, unless a pattern or the whole scan takes too long by `clock`, the thread's CPU time.
    """
    scanner = Scanner(entries, context, clock)
    scanner.search()
    return scanner.place()


class Scanner:
    """One scan: repeats the search as long as the contents of new entries may contain the keys of others."""

    def __init__(self, entries: Iterable[Entry], context: ScanContext, clock: Callable[[], float]) -> None:
        self._context = context
        self._entries = [entry for entry in entries if entry.is_enabled and entry.content]
        self._patterns = Patterns(clock)
        self._clock, self._until = clock, clock() + MAX_SECONDS
        self._timings = {entry.key: read_timing(entry, context) for entry in self._entries}
        self._sticky = {key for key, timing in self._timings.items() if timing.is_sticky}
        self._messages = [
            Passage(text, message=index) for index, (_role, text) in enumerate(reversed(context.messages))
        ]
        self._recursed: list[Passage] = []  # the contents of matched entries, which are searched as well
        self._haystacks: dict[tuple[int, tuple[str, ...], bool], Haystack] = {}  # by what an entry looks at
        self._deepened: Counter[str] = Counter()  # by book, messages searched beyond its scan depth
        # by the key of an entry, what has become of it
        self._matched: dict[str, Entry] = {}
        self._reasons: dict[str, Reason] = {}  # also of entries that matched and were left out
        self._losses: dict[str, Loss] = {}
        self._final: set[str] = set()  # keys of losses that no later search may change

    # -- the searches

    def search(self) -> None:
        """Match all entries: against the talk; then, as long as this brings anything new, those that read the contents of
        matched entries, level after level; then deeper in the talk.
        """
        levels = sorted({entry.recursion_level for entry in self._entries if entry.recursion_level})
        level = levels.pop(0) if levels else 0
        is_fed = self._match(
            entry for entry in self._entries if not entry.recursion_level or entry.key in self._sticky
        )
        steps = 1
        while steps <= MAX_RECURSIONS:
            if not is_fed and levels:
                level = levels.pop(0)
            elif not is_fed:
                if not (deeper := self._deepen()):
                    return
                is_fed = self._match(
                    entry for entry in self._entries if entry.book.id in deeper and not entry.recursion_level
                )
                continue
            steps += 1
            is_fed = self._match(
                entry
                for entry in self._entries
                if entry.reads_recursion
                and entry.recursion_level <= level
                and (not entry.book.max_recursion_steps or steps <= entry.book.max_recursion_steps)
            )

    def _deepen(self) -> set[str]:
        """Search one message deeper for each book with too few active entries; return the ids of these books."""
        counts = Counter(entry.book.id for entry in self._matched.values())
        deeper = set()
        for book in {entry.book for entry in self._entries}:
            depth = book.scan_depth + self._deepened[book.id]
            most = min(book.min_activations_depth or len(self._messages), len(self._messages))
            is_short = counts[book.id] < book.min_activations
            if is_short and depth < most and self._deepened[book.id] < MAX_DEEPENINGS:
                self._deepened[book.id] += 1
                deeper.add(book.id)
        return deeper

    def _match(self, entries: Iterable[Entry]) -> bool:
        """Match these entries, except decided ones; return whether their contents add text to be searched."""
        called = []
        for entry in entries:
            if entry.key in self._matched or entry.key in self._final:
                continue
            if self._clock() > self._until:
                self._losses.setdefault(entry.key, Loss("stopped", ""))
                continue
            verdict = judge(self._make_search(entry), self._context, self._timings[entry.key])
            if verdict.reason:
                self._reasons[entry.key] = verdict.reason
            if verdict.reason and not verdict.refusal:
                called.append(entry)
                self._losses.pop(entry.key, None)
            elif verdict.refusal:
                self._losses[entry.key] = Loss(verdict.refusal, verdict.detail)
        lost = choose_in_groups(
            called, self._matched, self._sticky, lambda entry: self._make_search(entry).score(), self._context
        )
        going_on = {entry.key for entry in called if self._reasons[entry.key].code in GOING_ON}
        lost |= roll((entry for entry in called if entry.key not in lost), going_on, self._context)
        self._losses |= lost
        self._final |= lost.keys()
        return self._take([entry for entry in called if entry.key not in lost])

    def _take(self, entries: Sequence[Entry]) -> bool:
        """Note the entries as matched; return whether their contents add text to be searched."""
        room = MAX_RECURSED_CHARACTERS - sum(len(passage.text) for passage in self._recursed)
        before = len(self._recursed)
        for entry in entries:
            self._matched[entry.key] = entry
            if entry.feeds_recursion and len(entry.content) <= room:
                self._recursed.append(Passage(entry.content, entry=entry.key))
                room -= len(entry.content)
        if len(self._recursed) > before:
            self._haystacks.clear()
        return len(self._recursed) > before

    def _make_search(self, entry: Entry) -> Search:
        """Return the search for the entry in what it looks at: messages, other texts, contents of matched entries."""
        depth = entry.scan_depth
        if depth is None:
            depth = entry.book.scan_depth + self._deepened[entry.book.id]
        depth = min(depth, len(self._messages))
        where = (depth, entry.sources, entry.reads_recursion)
        if where not in self._haystacks:
            sources = (Passage(getattr(self._context, name), source=name) for name in entry.sources)
            recursed = self._recursed if entry.reads_recursion else ()
            self._haystacks[where] = Haystack([*self._messages[:depth], *sources, *recursed])
        return Search(entry, self._context, self._haystacks[where], self._patterns)

    # -- the outcome

    def place(self) -> Scan:
        """Return the result, cut to the budget, in the order of the prompt."""
        tokens: dict[str, int] = {}
        until = self._clock() + MAX_SECONDS
        for key, entry in self._matched.items():
            if self._clock() > until:  # thousands of long entries that need no key
                self._losses[key] = Loss("stopped", "")
            else:
                tokens[key] = self._context.estimate(entry.content)
        matched = [self._matched[key] for key in tokens]
        lost = fit_budget(matched, tokens, self._context.budget)
        stays = [entry for entry in matched if entry.key not in lost]
        losses = self._losses | lost
        return Scan(
            placed=tuple(self._place(entry, tokens[entry.key]) for entry in sorted(stays, key=self._order)),
            dropped=tuple(
                Dropped(
                    entry.key, entry.book.id, entry.name, loss.code, loss.detail, self._reasons.get(entry.key)
                )
                for entry in self._entries
                if (loss := losses.get(entry.key))
            ),
            fired=tuple(
                entry.key
                for entry in stays
                if (entry.sticky or entry.cooldown or entry.is_kept or entry.is_once)
                and self._reasons[entry.key].code not in GOING_ON
            ),
        )

    def _place(self, entry: Entry, tokens: int) -> Placed:
        return Placed(
            entry=entry.key,
            book=entry.book.id,
            name=entry.name,
            content=entry.content,
            place=entry.place,
            depth=self._find_depth(entry),
            role=entry.role,
            tokens=tokens,
            reason=self._reasons[entry.key],
        )

    def _order(self, entry: Entry) -> tuple[int, int, int, int, int]:
        depth = self._find_depth(entry)
        return PLACES.index(entry.place), -(depth or 0), entry.order, entry.book.rank, entry.index

    def _find_depth(self, entry: Entry) -> int | None:
        """Return how many messages come after the entry, from 0 to all; None if it has no depth."""
        depth = entry.depth
        if entry.reverse_depth is not None:
            depth = self._context.message_count - entry.reverse_depth
        return None if depth is None else min(max(depth, 0), len(self._messages))
