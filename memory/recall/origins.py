"""Where recalled memories come from, and which of them would say the same thing twice in one prompt."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from memory.models import Change, Memory, Page
from memory.recall.recall import Found
from memory.recall.traits import DENIAL, terms
from text.storable import folded

SUMS = (Memory.Kind.DIARY, Memory.Kind.GIST, Memory.Kind.INSIGHT)  # they sum up much and repeat nothing


@dataclass(frozen=True, slots=True)
class Origins:
    """Where some recalled memories come from, by their ids.

    `sources` are the messages behind what was learnt; `outdated` are lines of which something that was learnt has been
    replaced, and `partly` those of them from which other things were learnt that still hold; `pages` are titles of
    documents and the numbers of their pages.
    """

    sources: Mapping[UUID, frozenset[UUID]] = field(default_factory=dict)
    outdated: frozenset[UUID] = frozenset()
    partly: frozenset[UUID] = frozenset()
    pages: Mapping[UUID, tuple[str, int]] = field(default_factory=dict)


NOWHERE = Origins()


def load_origins(companion_id: UUID, memories: Sequence[Memory]) -> Origins:
    """Return where these memories of the companion come from: a query, and one more where gists are among them.

    What a night has merged with its like is not outdated.
    """
    if not memories:
        return NOWHERE
    said = {one.message_id: one.pk for one in memories if one.message_id}
    learnt = {one.pk for one in memories if not one.message_id}
    mine = Change.objects.filter(companion=companion_id, kind=Change.Kind.MERGED, undone_at=None)
    merged = mine.filter(others=OuterRef("memory"))
    drawn = Memory.sources.through.objects.filter(memory__companion=companion_id)
    rows = (
        drawn.filter(Q(message__in=said) | Q(memory__in=learnt))
        .annotate(is_merged=Exists(merged))
        .values_list("memory", "message", "memory__closed_at", "memory__replaced_by", "is_merged")  # type: ignore[misc]
    )
    sources: dict[UUID, set[UUID]] = defaultdict(set)
    replaced_by: dict[UUID, set[UUID]] = defaultdict(
        set
    )  # of each line, what took the place of what was learnt from it
    holding: dict[UUID, set[UUID]] = defaultdict(set)
    for memory_id, message_id, closed_at, replacement, is_merged in rows:
        if memory_id in learnt:
            sources[memory_id].add(message_id)
        line = said.get(message_id)
        if line and closed_at is None:
            holding[line].add(memory_id)
        elif line and replacement and not is_merged:
            replaced_by[line].add(replacement)
    return Origins(
        {id: frozenset(ids) for id, ids in sources.items()},
        frozenset(replaced_by),
        frozenset(line for line, replacements in replaced_by.items() if holding[line] - replacements),
        _load_pages(companion_id, memories),
    )


def _load_pages(companion_id: UUID, memories: Iterable[Memory]) -> dict[UUID, tuple[str, int]]:
    gists = [one.pk for one in memories if one.kind == Memory.Kind.GIST]
    if not gists:
        return {}
    pages = Page.objects.filter(document__companion=companion_id, memory__in=gists)
    rows = pages.values_list("memory", "document__title", "number")
    return {id: (title, number) for id, title, number in rows if id}


@dataclass(frozen=True, slots=True)
class Saying:
    """What a text says, as far as words tell: its terms, and how often it denies something."""

    words: frozenset[str]
    denials: int

    @classmethod
    def of(cls, text: str) -> "Saying":
        return cls(frozenset(terms(text)), len(DENIAL.findall(folded(text))))

    def is_within(self, other: "Saying") -> bool:
        """Return whether the other says all of this, and denies as much."""
        return self.words <= other.words and self.denials == other.denials


def drop_repetitions(
    found: Sequence[Found], origins: Origins, messages: Collection[UUID], texts: Iterable[str]
) -> list[Found]:
    """Return the found memories without those that say again what stands in the prompt already, in their order.

    `messages` and `texts` stand there. What was learnt goes where all messages behind it stand there, or where one of
    the texts says all of it. Of what was learnt and the line that it was learnt from that stays which says more of what
    the cue said, and of equals what was learnt. Of the same words in another form the first stays.
    """
    standing = [Saying.of(text) for text in texts]
    kept: list[tuple[Found, Saying]] = []
    for one in found:
        sources = origins.sources.get(one.memory.pk, frozenset())
        if sources and sources <= set(messages) and one.memory.kind not in SUMS:
            continue
        saying = Saying.of(one.memory.text)
        if any(saying.is_within(other) for other in standing):
            continue
        if not any(saying == other and _are_of_one(one, before) for before, other in kept):
            kept.append((one, saying))
    return _without_pairs([one for one, _ in kept], origins)


def _are_of_one(found: Found, other: Found) -> bool:
    """Return whether the two may say the same thing: not where one speaker asks what the other says."""
    speakers = {found.memory.speaker, other.memory.speaker}
    return len(speakers - {""}) < 2


def _without_pairs(found: Sequence[Found], origins: Origins) -> list[Found]:
    """Return them without lines that what was learnt from them says as well, and the other way round."""
    place = {one.memory.pk: number for number, one in enumerate(found)}
    lines = {one.memory.message_id: one for one in found if one.memory.message_id}
    learnt: dict[UUID, list[Found]] = defaultdict(list)
    for one in found:
        if one.memory.kind not in SUMS:
            for message_id in origins.sources.get(one.memory.pk, frozenset()) & lines.keys():
                learnt[message_id].append(one)
    dropped: set[UUID] = set()
    for message_id, facts in learnt.items():
        line = lines[message_id]
        is_told = _matched([line]) <= _matched(facts)
        is_first = place[line.memory.pk] < min(place[one.memory.pk] for one in facts)
        if is_told and (_matched(facts) or not is_first):
            dropped.add(line.memory.pk)
        else:
            dropped |= {one.memory.pk for one in facts if _matched([one]) <= _matched([line])}
    return [one for one in found if one.memory.pk not in dropped]


def _matched(found: Iterable[Found]) -> set[str]:
    """Return the terms of the cue that these say."""
    return {term for one in found for term in one.reasons.get("matched") or ()}
