"""Where recalled memories come from, and which of them would say the same thing twice in one prompt."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Q

from memory.models import Memory, Page
from memory.recall import Found
from memory.terms import terms

SUMS = (Memory.Kind.DIARY, Memory.Kind.GIST, Memory.Kind.INSIGHT)  # they sum up much and repeat nothing


@dataclass(frozen=True, slots=True)
class Origins:
    """Where some recalled memories come from, by their ids.

    `sources` are the messages behind what was learnt; `replaced` says of what was said what holds in its place now
    ("" for nothing), `partly` whether other things that were learnt from it still hold; `pages` are titles of documents
    and the numbers of their pages.
    """

    sources: Mapping[UUID, frozenset[UUID]] = field(default_factory=dict)
    replaced: Mapping[UUID, str] = field(default_factory=dict)
    partly: frozenset[UUID] = frozenset()
    pages: Mapping[UUID, tuple[str, int]] = field(default_factory=dict)


NOWHERE = Origins()


def load_origins(companion_id: UUID, memories: Sequence[Memory]) -> Origins:
    """Return where these memories of the companion come from: a query, and one more where gists are among them."""
    if not memories:
        return NOWHERE
    said = {one.message_id: one.pk for one in memories if one.message_id}
    learnt = [one.pk for one in memories if not one.message_id]
    mine = Memory.sources.through.objects.filter(memory__companion=companion_id)
    rows = mine.filter(Q(message__in=said) | Q(memory__in=learnt)).values_list(
        *("memory_id", "message_id", "memory__closed_at", "memory__replaced_by__text")
    )
    sources: dict[UUID, set[UUID]] = defaultdict(set)
    replaced: dict[UUID, str] = {}
    held: set[UUID] = set()
    for memory_id, message_id, closed_at, replacement in rows:
        sources[memory_id].add(message_id)
        if line := said.get(message_id):
            if closed_at is None:
                held.add(line)
            else:
                replaced[line] = replacement or replaced.get(line, "")
    return Origins(
        {id: frozenset(ids) for id, ids in sources.items() if id in set(learnt)},
        replaced,
        frozenset(held & replaced.keys()),
        _load_pages(companion_id, memories),
    )


def _load_pages(companion_id: UUID, memories: Iterable[Memory]) -> dict[UUID, tuple[str, int]]:
    gists = [one.pk for one in memories if one.kind == Memory.Kind.GIST]
    if not gists:
        return {}
    pages = Page.objects.filter(document__companion=companion_id, memory__in=gists)
    rows = pages.values_list("memory", "document__title", "number")
    return {id: (title, number) for id, title, number in rows if id}


def drop_repetitions(
    found: Sequence[Found], origins: Origins, messages: Collection[UUID], texts: Iterable[str]
) -> list[Found]:
    """Return the found memories without those that say again what stands in the prompt already, in their order.

    `messages` and `texts` stand there. What was learnt goes where all messages behind it stand there, or where one of
    the texts holds all its words. Of what was learnt and the line that it was learnt from that stays which says more of
    what the cue said, and of equals what was learnt. Of the same words in another form the first stays.
    """
    standing = [frozenset(terms(text)) for text in texts]
    told = {one.memory.pk: frozenset(terms(one.memory.text)) for one in found}
    kept: list[Found] = []
    for one in found:
        sources = origins.sources.get(one.memory.pk, frozenset())
        if sources and sources <= set(messages) and one.memory.kind not in SUMS:
            continue
        if any(told[one.memory.pk] <= words for words in standing):
            continue
        if not any(told[one.memory.pk] == told[other.memory.pk] for other in kept):
            kept.append(one)
    return _without_pairs(kept, origins)


def _without_pairs(found: Sequence[Found], origins: Origins) -> list[Found]:
    """Return them without lines that what was learnt from them says as well, and the other way round."""
    lines = {one.memory.message_id: one for one in found if one.memory.message_id}
    learnt: dict[UUID, list[Found]] = defaultdict(list)
    for one in found:
        if one.memory.kind not in SUMS:
            for message_id in origins.sources.get(one.memory.pk, frozenset()) & lines.keys():
                learnt[message_id].append(one)
    dropped: set[UUID] = set()
    for message_id, facts in learnt.items():
        line = lines[message_id]
        if _matched([line]) <= _matched(facts):
            dropped.add(line.memory.pk)
        else:
            dropped |= {one.memory.pk for one in facts if _matched([one]) <= _matched([line])}
    return [one for one in found if one.memory.pk not in dropped]


def _matched(found: Iterable[Found]) -> set[str]:
    """Return the terms of the cue that these say."""
    return {term for one in found for term in one.reasons.get("matched") or ()}
