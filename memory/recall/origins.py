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

SUMMARIES = (Memory.Kind.DIARY, Memory.Kind.GIST, Memory.Kind.INSIGHT)  # they sum up much and repeat nothing


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
    said = {memory.message_id: memory.pk for memory in memories if memory.message_id}
    learnt = {memory.pk for memory in memories if not memory.message_id}
    mine = Change.objects.filter(companion=companion_id, kind=Change.Kind.MERGED, undone_at=None)
    merged = mine.filter(others=OuterRef("memory"))
    drawn = Memory.sources.through.objects.filter(memory__companion=companion_id)
    rows = (
        drawn.filter(Q(message__in=said) | Q(memory__in=learnt))
        .annotate(is_merged=Exists(merged))
        .values_list("memory", "message", "memory__closed_at", "memory__replaced_by", "is_merged")  # type: ignore[misc]
    )
    sources: dict[UUID, set[UUID]] = defaultdict(set)
    # Of each line, what took the place of what was learnt from it, and what was learnt from it and still holds.
    replaced_by: dict[UUID, set[UUID]] = defaultdict(set)
    holding: dict[UUID, set[UUID]] = defaultdict(set)
    for memory_id, message_id, closed_at, replacement, is_merged in rows:
        if memory_id in learnt:
            sources[memory_id].add(message_id)
        line = said.get(message_id)
        if line and closed_at is None:
            holding[line].add(memory_id)
        elif line and replacement and not is_merged:
            replaced_by[line].add(replacement)
    gists = [memory.pk for memory in memories if memory.kind == Memory.Kind.GIST]
    pages = (
        Page.objects.filter(document__companion=companion_id, memory__in=gists)
        if gists
        else Page.objects.none()
    )
    return Origins(
        {id: frozenset(ids) for id, ids in sources.items()},
        frozenset(replaced_by),
        frozenset(line for line, replacements in replaced_by.items() if holding[line] - replacements),
        {
            id: (title, number)
            for id, title, number in pages.values_list("memory", "document__title", "number")
            if id
        },
    )


@dataclass(frozen=True, slots=True)
class Statement:
    """What a text says, as far as words tell: its terms, and how often it denies something."""

    words: frozenset[str]
    denials: int

    @classmethod
    def of(cls, text: str) -> "Statement":
        return cls(frozenset(terms(text)), len(DENIAL.findall(folded(text))))

    def is_within(self, other: "Statement") -> bool:
        """Return whether the other says all of this, and denies as much."""
        return self.words <= other.words and self.denials == other.denials


def drop_repetitions(
    found: Sequence[Found], origins: Origins, messages: Collection[UUID], texts: Iterable[str]
) -> list[Found]:
    """Return the found memories without those that say again what stands in the prompt already, in their order.

    `messages` and `texts` stand there. What was learnt goes where all messages behind it stand there, or where one of
    the texts says all of it. Of what was learnt and the line that it was learnt from that stays which says more of what
    the cue said, and of equals what was learnt. Of the same words in another form the first stays, unless one speaker
    asks what the other says.
    """
    in_prompt = [Statement.of(text) for text in texts]
    kept: list[tuple[Found, Statement]] = []
    for hit in found:
        sources = origins.sources.get(hit.memory.pk, frozenset())
        if sources and sources <= set(messages) and hit.memory.kind not in SUMMARIES:
            continue
        statement = Statement.of(hit.memory.text)
        if any(statement.is_within(other) for other in in_prompt):
            continue
        if not any(
            statement == other and len({hit.memory.speaker, before.memory.speaker} - {""}) < 2
            for before, other in kept
        ):
            kept.append((hit, statement))
    return _drop_pairs([hit for hit, _ in kept], origins)


def _drop_pairs(found: Sequence[Found], origins: Origins) -> list[Found]:
    """Return them without lines that what was learnt from them says as well, and the other way round."""
    place = {hit.memory.pk: number for number, hit in enumerate(found)}
    lines = {hit.memory.message_id: hit for hit in found if hit.memory.message_id}
    learnt: dict[UUID, list[Found]] = defaultdict(list)
    for hit in found:
        if hit.memory.kind not in SUMMARIES:
            for message_id in origins.sources.get(hit.memory.pk, frozenset()) & lines.keys():
                learnt[message_id].append(hit)
    dropped: set[UUID] = set()
    for message_id, facts in learnt.items():
        line = lines[message_id]
        is_told = _matched(line) <= _matched(*facts)
        is_first = place[line.memory.pk] < min(place[fact.memory.pk] for fact in facts)
        if is_told and (_matched(*facts) or not is_first):
            dropped.add(line.memory.pk)
        else:
            dropped |= {fact.memory.pk for fact in facts if _matched(fact) <= _matched(line)}
    return [hit for hit in found if hit.memory.pk not in dropped]


def _matched(*found: Found) -> set[str]:
    """Return the terms of the cue that these say."""
    return {term for hit in found for term in hit.reasons.get("matched") or ()}
