"""Selection: which of the matching entries come in: one of each group, by probability, within the budget. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from companions.lore.rules.context import ScanContext
from companions.lore.rules.entries import Entry


@dataclass(frozen=True, slots=True)
class Loss:
    """Why a matching entry is left out; `detail` is the winner's key, the probability or the tokens."""

    code: str
    detail: str = ""


def choose_in_groups(
    entries: Sequence[Entry],
    taken: Mapping[str, Entry],
    sticky: Set[str],
    score: Callable[[Entry], int],
    context: ScanContext,
) -> dict[str, Loss]:
    """Return the entries that lose within their group, by key.

    A group keeps one entry, or all its sticky ones, or none if an entry that was `taken` before belongs to it. Scored
    entries lose unless they have the highest score. Of the rest, the winner is the one with group priority (the highest
    order if there are several), or else one by weighted chance.
    """
    lost: dict[str, Loss] = {}
    for group in dict.fromkeys(group for entry in entries for group in entry.groups):
        members = [entry for entry in entries if group in entry.groups and entry.key not in lost]
        winners = [entry.key for entry in _choose(group, members, taken, sticky, score, context)]
        before = [key for key, entry in taken.items() if group in entry.groups]
        first = next(iter([*winners, *before]), "")
        lost |= {member.key: Loss("group", first) for member in members if member.key not in winners}
    return lost


def _choose(
    group: str,
    members: list[Entry],
    taken: Mapping[str, Entry],
    sticky: Set[str],
    score: Callable[[Entry], int],
    context: ScanContext,
) -> list[Entry]:
    if held := [member for member in members if member.key in sticky]:
        return held
    if any(group in entry.groups for entry in taken.values()):
        return []
    if len(members) > 1 and any(member.is_group_scored for member in members):
        scores = {member.key: score(member) for member in members}
        most = max(scores.values())
        members = [member for member in members if not member.is_group_scored or scores[member.key] == most]
    if len(members) < 2:
        return members
    if prior := [member for member in members if member.is_group_priority]:
        return [max(prior, key=lambda member: (member.order, -member.book.rank, -member.index))]
    weights = [max(member.group_weight, 0) for member in members]
    rest = context.chance(f"group:{group}") * sum(weights)
    for member, weight in zip(members, weights, strict=True):
        if rest < weight:
            return [member]
        rest -= weight
    return members[:1]  # no weight at all


def roll(entries: Iterable[Entry], going_on: Set[str], context: ScanContext) -> dict[str, Loss]:
    """Return the entries that chance leaves out, by key, except entries `going_on` from an earlier match."""
    return {
        entry.key: Loss("probability", f"{entry.probability:g}")
        for entry in entries
        if entry.probability < 100
        and entry.key not in going_on
        and context.chance(entry.key) * 100 >= entry.probability
    }


def fit_budget(entries: Sequence[Entry], tokens: Mapping[str, int], budget: int) -> dict[str, Loss]:
    """Return the entries that exceed a budget in tokens, by key: first each book's own budget, then that for all books.

    Unbudgeted entries count only for the latter. Entries that are alone longer than the budget are dropped first, then
    others one by one until the rest fits, in this order: those marked `goes_first`, those not constant, those of books
    with a higher rank number, of lower priority, of lower order, those later in their book.
    """
    lost: dict[str, Loss] = {}
    books = {entry.book for entry in entries}
    limits = [(book.id, book.token_budget) for book in books if book.token_budget is not None]
    for book_id, limit in (*limits, (None, budget)):
        counted = [
            entry
            for entry in entries
            if entry.key not in lost
            and (book_id is None or (book_id == entry.book.id and not entry.is_unbudgeted))
        ]
        total = sum(tokens[entry.key] for entry in counted)
        for entry in sorted(counted, key=lambda entry: (tokens[entry.key] <= limit, *_stay_order(entry))):
            if total <= limit:
                break
            total -= tokens[entry.key]
            lost[entry.key] = Loss("max_context" if entry.goes_first else "budget", str(tokens[entry.key]))
    return lost


def _stay_order(entry: Entry) -> tuple[bool, bool, int, int, int, int]:
    """Return the sort key for dropping entries: the lowest is dropped first."""
    return (
        not entry.goes_first,
        entry.is_constant,
        -entry.book.rank,
        entry.priority,
        entry.order,
        -entry.index,
    )
