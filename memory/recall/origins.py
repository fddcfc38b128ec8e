"""Where recalled memories come from, so that no two of them say the same thing in one prompt."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import JSONObject

from memory.learning.neighbours import find_holding
from memory.learning.rules.sincerity import GAME_LINES, is_in_game
from memory.models import Change, Memory, Page, Recall
from memory.recall.recall import Found, LeftOut
from memory.recall.traits import DENIAL, terms
from text.strings import folded

GAME_TIME = timedelta(hours=8)  # a game lasts no longer than a session


@dataclass(frozen=True, slots=True)
class Origins:
    """Where some recalled memories come from, by their ids.

    `sources` are the messages behind what was learnt. A line is the memory of a message: `outdated` are the lines from
    which something was learnt that has been replaced, each with the ids of what replaced it, and `partly` those of them
    from which other things were learnt that still hold; `played` are lines from which nothing learnt holds, and that
    may belong to a game or a story. `pages` are the document's title and the page's number of each gist.
    """

    sources: Mapping[UUID, frozenset[UUID]] = field(default_factory=dict)
    outdated: Mapping[UUID, Collection[UUID]] = field(default_factory=dict)
    partly: frozenset[UUID] = frozenset()
    pages: Mapping[UUID, tuple[str, int]] = field(default_factory=dict)
    played: frozenset[UUID] = frozenset()


NOWHERE = Origins()


def load_origins(companion_id: UUID, memories: Sequence[Memory]) -> Origins:
    """Return where these memories of the companion come from: one query, one more if gists are among them, and one more
    if there are lines from which nothing learnt holds.

    A merge by a consolidation run does not make lines outdated.
    """
    if not memories:
        return NOWHERE
    said = {memory.message_id: memory.pk for memory in memories if memory.message_id}
    learnt = {memory.pk for memory in memories if not memory.message_id}
    mine = Change.objects.filter(companion=companion_id, kind=Change.Kind.MERGED, undone_at=None)
    merged = mine.filter(others=OuterRef("memory"))
    drawn = Memory.sources.through.objects.filter(memory__companion=companion_id, memory__is_asleep=False)
    rows = (
        drawn.filter(Q(message__in=said) | Q(memory__in=learnt))
        .annotate(is_merged=Exists(merged))
        .values_list("memory", "message", "memory__closed_at", "memory__replaced_by", "is_merged")  # type: ignore[misc]
    )
    sources: dict[UUID, set[UUID]] = defaultdict(set)
    # By line: what replaced the things learnt from it, and the things learnt from it that still hold.
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
    pages = Page.objects.filter(document__companion=companion_id, memory__in=gists)
    titled = pages.values_list("memory", "document__title", "number") if gists else ()
    return Origins(
        {id: frozenset(ids) for id, ids in sources.items()},
        replaced_by,
        frozenset(line for line, replacements in replaced_by.items() if holding[line] - replacements),
        {id: (title, number) for id, title, number in titled if id},
        _find_played(companion_id, [line for line in said.values() if not holding[line]]),
    )


def _find_played(companion_id: UUID, lines: Sequence[UUID]) -> frozenset[UUID]:
    """Return which of the lines, by their ids, may belong to a game or a story, by what was said before each."""
    if not lines:
        return frozenset()
    happened_at = OuterRef("happened_at")
    said = Memory.objects.of(companion_id).filter(kind=Memory.Kind.SAID).order_by("-happened_at", "-id")
    before = said.filter(happened_at__range=(happened_at - GAME_TIME, happened_at)).filter(
        Q(happened_at__lt=happened_at) | Q(id__lte=OuterRef("id"))
    )
    line = before.values(line=JSONObject(text="text", speaker="speaker"))
    newest = ArraySubquery(line[: GAME_LINES + 1])
    rows = Memory.objects.of(companion_id).filter(pk__in=lines).order_by().values_list("pk", newest)
    return frozenset(
        id
        for id, told in rows
        if is_in_game([(one["text"], one["speaker"] == Memory.Speaker.USER) for one in told[::-1]])
    )


def add_holding(
    companion_id: UUID, found: Sequence[Found], origins: Origins, shown: Collection[UUID] = ()
) -> list[Found]:
    """Return the found memories, and before each outdated line what holds instead, unless it was found as well or is
    among the `shown` ones (ids).

    "Where do I live?" is answered in its own words by lines of years ago, and not by "We have moved".
    """
    replacements = {id for hit in found for id in origins.outdated.get(hit.memory.pk, ())}
    holding = find_holding(companion_id, replacements) if replacements else {}
    there = {*shown, *(hit.memory.pk for hit in found)}
    every = []
    for hit in found:
        for id in origins.outdated.get(hit.memory.pk, ()):
            memory = holding.get(id)
            if memory and memory.pk not in there:
                there.add(memory.pk)
                every.append(Found(memory, hit.score, {"instead_of": str(hit.memory.pk)}))
        every.append(hit)
    return every


@dataclass(frozen=True, slots=True)
class Statement:
    """What a text says, as far as words tell: its terms, and how often it denies something."""

    words: frozenset[str]
    denials: int

    @classmethod
    def of(cls, text: str) -> "Statement":
        return cls(frozenset(terms(text)), len(DENIAL.findall(folded(text))))

    def is_within(self, other: "Statement") -> bool:
        """Return whether the other statement says all that this one says, and denies as much."""
        return self.words <= other.words and self.denials == other.denials


def drop_repetitions(
    found: Sequence[Found], origins: Origins, messages: Collection[UUID], texts: Iterable[str]
) -> tuple[list[Found], list[LeftOut]]:
    """Return the found memories, in their order, without those that repeat what stands in the prompt or each other; and
    those, with the ids of what each repeats.

    `messages` (ids) and `texts` stand in the prompt. A memory is dropped if one of the texts says all of it, and a
    learnt one, unless it is an insight, also if all messages behind it stand there. Of a learnt memory and a line that
    it was learnt from, one is dropped if the other has all of its cue terms: the line, if they have the same, or the
    later, if they have none. Of memories with the same words the first stays, unless the two speakers said them.
    """
    in_prompt = [Statement.of(text) for text in texts]
    kept: list[tuple[Found, Statement]] = []
    repeated: dict[UUID, Iterable[UUID]] = {}
    for hit in found:
        sources = origins.sources.get(hit.memory.pk, frozenset())
        statement = Statement.of(hit.memory.text)
        same = [
            before.memory.pk
            for before, other in kept
            if statement == other and len({hit.memory.speaker, before.memory.speaker} - {""}) < 2
        ]
        if sources and sources <= set(messages) and hit.memory.kind not in Memory.SUMMARIES:
            repeated[hit.memory.pk] = sources
        elif same or any(statement.is_within(other) for other in in_prompt):
            repeated[hit.memory.pk] = same
        else:
            kept.append((hit, statement))
    repeated |= _find_pairs([hit for hit, _ in kept], origins)
    return [hit for hit, _ in kept if hit.memory.pk not in repeated], [
        LeftOut(id, Recall.Omission.REPETITION, repeats=tuple(ids)) for id, ids in repeated.items()
    ]


def _find_pairs(found: Sequence[Found], origins: Origins) -> dict[UUID, Iterable[UUID]]:
    """Return the lines whose cue terms the memories learnt from them have too, or vice versa, each with what tells it."""
    place = {hit.memory.pk: number for number, hit in enumerate(found)}
    lines = {hit.memory.message_id: hit for hit in found if hit.memory.message_id}
    learnt: dict[UUID, list[Found]] = defaultdict(list)
    for hit in found:
        if hit.memory.kind not in Memory.SUMMARIES:
            for message_id in origins.sources.get(hit.memory.pk, frozenset()) & lines.keys():
                learnt[message_id].append(hit)
    dropped: dict[UUID, Iterable[UUID]] = {}
    for message_id, facts in learnt.items():
        line = lines[message_id]
        is_told = _matched(line) <= _matched(*facts)
        is_first = place[line.memory.pk] < min(place[fact.memory.pk] for fact in facts)
        if is_told and (_matched(*facts) or not is_first):
            dropped[line.memory.pk] = [fact.memory.pk for fact in facts]
        else:
            dropped |= {
                fact.memory.pk: [line.memory.pk] for fact in facts if _matched(fact) <= _matched(line)
            }
    return dropped


def _matched(*found: Found) -> set[str]:
    """Return the terms of the cue that these memories have."""
    return {term for hit in found for term in hit.reasons.get("matched") or ()}
