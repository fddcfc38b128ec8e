"""Merging what says the same, and bringing up what contradicts each other: nothing is closed for that."""

from collections.abc import Sequence

from memory.consolidating.agreeing import Agreement, agreement, is_about_the_same
from memory.consolidating.answers import Contradiction, Merge
from memory.consolidating.work import Work, link, sources_of
from memory.learning.applying import MOST_QUOTES
from memory.models import Change, Memory


def merge(work: Work, answered: Sequence[Merge]) -> None:
    """Let the kept ones have the evidence, sources and quotes of the others, which are closed and linked to them.

    Only what is near in meaning, of the same kind, and names the same days, numbers and denials. Where only a number or
    a denial differs it is no merge but a contradiction. What the person has pinned or corrected is not closed.
    """
    for one in answered:
        kept = work.memory(one.keep)
        if kept is None:
            continue
        others = [other for number in dict.fromkeys(one.others) if (other := _other(work, kept, number))]
        if others:
            _merge(work, kept, others)


def contradict(work: Work, answered: Sequence[Contradiction]) -> None:
    """Bring up pairs that are near in meaning and, says the model, cannot both hold; each pair once for good."""
    for one in answered:
        a, b = work.memory(one.a), work.memory(one.b)
        if a is None or b is None or not work.may_be_compared(a, b):
            continue
        if is_about_the_same(a, b, work.zone, work.names.values()):
            _bring_up(work, a, b)


def _other(work: Work, kept: Memory, number: int) -> Memory | None:
    """The memory of that number, if it may be merged into the kept one."""
    other = work.memory(number)
    if other is None or other.pk in {one.pk for one in work.kept.values()}:
        return None
    if not work.may_be_compared(kept, other):
        return None
    agreed = agreement(kept, other, work.zone, work.names.values())
    if agreed is Agreement.AGAINST:
        _bring_up(work, kept, other)
    is_free = not other.is_pinned and other.edited_at is None
    return other if agreed is Agreement.SAME and is_free else None


def _bring_up(work: Work, a: Memory, b: Memory) -> None:
    work.parted.add(frozenset((a.pk, b.pk)))
    work.note(Change.Kind.CONTRADICTION, a, [b], {})


def _merge(work: Work, kept: Memory, others: Sequence[Memory]) -> None:
    added = sorted(sources_of(kept.companion_id, others) - sources_of(kept.companion_id, [kept]))
    before = {"evidence": kept.evidence, "quotes": len(kept.quotes), "sources": added}
    told = _told_by(kept)  # one message is evidence once, though two memories were drawn from it
    for one in others:
        kept.evidence += max(one.evidence - len(_told_by(one) & told), 0)
        told |= _told_by(one)
    kept.quotes += [quote for one in others for quote in one.quotes if quote not in kept.quotes]
    kept.quotes = kept.quotes[:MOST_QUOTES]
    kept.save(update_fields=["evidence", "quotes"])
    link(kept, added)
    for one in others:
        one.closed_at, one.replaced_by = work.now, kept
        one.save(update_fields=["closed_at", "replaced_by"])
        work.kept[one.pk] = kept
    became = {"evidence": kept.evidence, "quotes": len(kept.quotes)}
    work.note(Change.Kind.MERGED, kept, others, {**before, "became": became, "others": len(others)})


def _told_by(memory: Memory) -> set[str]:
    """The messages whose words it quotes."""
    return {str(quote["message"]) for quote in memory.quotes}
