"""What comes of the answer: rows, and of each thing done what it takes to undo it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from enum import Enum, auto
from typing import Any
from uuid import UUID

from memory.consolidation.candidates import Answer, Insight, Merge, Pair, Review
from memory.goals import update_goal
from memory.learning.evidence import is_same_text
from memory.learning.grounding import CAPITAL, NO_NAMES, names_in, stands_on
from memory.learning.subjects import RELATED, is_same_subject
from memory.learning.talk import Line
from memory.learning.verdicts import MAX_QUOTES
from memory.models import Change, Consolidation, Memory, Pursuit
from memory.recall.candidates import hash_term
from memory.recall.query import Names
from memory.recall.traits import STOP_WORDS, sign_facts, terms
from memory.store import entry_of, nudge, retract
from text.strings import one_line

MIN_SOURCES = 2  # memories that are no insights themselves: what was drawn is not drawn from again and again
CONFIDENCE = 0.6
ENDED = Pursuit.Status.DONE, Pursuit.Status.GIVEN_UP
STANDING = "status", "progress", "excitement"


@dataclass(kw_only=True)
class Draft:
    """What the model saw, in that order and as it is now, and what is done of its answer so far.

    `pairs` are near in meaning; `parted` are not to be merged or held against each other again: the person has undone
    that, or has it before them. `merged` is, for what was merged in this run, what it became.
    """

    run: Consolidation
    memories: Sequence[Memory]
    goals: Sequence[Pursuit]
    pairs: frozenset[Pair]
    now: datetime
    zone: tzinfo
    names: Names
    call_id: int | None
    parted: set[Pair]
    merged: dict[UUID, Memory] = field(default_factory=dict)
    done: int = 0

    def memory(self, number: int) -> Memory | None:
        """Return the memory of that number, or what it was merged into; None where there is none."""
        memory = self.memories[number - 1] if 1 <= number <= len(self.memories) else None
        return self.merged.get(memory.pk, memory) if memory else None

    def may_be_compared(self, memory: Memory, other: Memory) -> bool:
        """Return whether they are two, near in meaning, and nobody has said that they are to be left alone."""
        pair = frozenset((memory.pk, other.pk))
        return len(pair) == 2 and pair in self.pairs and pair not in self.parted

    def note(
        self, kind: Change.Kind, memory: Memory, others: Iterable[Memory], before: dict[str, Any]
    ) -> None:
        """Keep a row that tells what was done."""
        self.done += 1
        change = Change.objects.create(
            companion_id=self.run.companion_id,
            consolidation=self.run,
            number=self.done,
            kind=kind,
            memory=memory,
            before=before,
        )
        change.others.set(others)

    def bring_up(self, memory: Memory, other: Memory) -> None:
        """Put two before the person that contradict each other, once for good; nothing is closed for that."""
        self.parted.add(frozenset((memory.pk, other.pk)))
        self.note(Change.Kind.CONTRADICTION, memory, [other], {})


def load_parted(companion_id: UUID) -> set[Pair]:
    """Return the pairs whose merging was undone, and those that were held against each other before."""
    mine = Change.objects.filter(companion_id=companion_id, others__isnull=False)
    undone = mine.filter(kind=Change.Kind.MERGED, undone_at__isnull=False)
    rows = (undone | mine.filter(kind=Change.Kind.CONTRADICTION)).values_list("memory_id", "others")
    return {frozenset((one, other)) for one, other in rows if other}


def apply_answer(draft: Draft, answer: Answer) -> None:
    """Do of the answer what may be done. Call it inside the transaction that ends the run, with the companion held.

    Merges come first: what was merged is told of as what it became.
    """
    for merge in answer.merges:
        _merge(draft, merge)
    for contradiction in answer.contradictions:
        memory, other = draft.memory(contradiction.a), draft.memory(contradiction.b)
        if not memory or not other or not draft.may_be_compared(memory, other):
            continue
        if _is_about_the_same(draft, memory, other):
            draft.bring_up(memory, other)
    _keep_insights(draft, answer.insights)
    _review_goals(draft, answer.reviews)


# -- merges and contradictions


def _merge(draft: Draft, answered: Merge) -> None:
    """Let the kept one have the evidence, sources and quotes of the others, which are closed and linked to it.

    Only what is near in meaning, of the same kind, and names the same days, numbers and denials. Where only a number or
    a denial differs it is no merge but a contradiction. What the person has pinned or corrected is not closed.
    """
    kept = draft.memory(answered.keep)
    if kept is None:
        return
    others = [
        other
        for number in dict.fromkeys(answered.others)
        if (other := draft.memory(number)) and _may_be_merged(draft, kept, other)
    ]
    if others:
        _join(draft, kept, others)


def _may_be_merged(draft: Draft, kept: Memory, other: Memory) -> bool:
    if other in draft.merged.values() or not draft.may_be_compared(kept, other):
        return False
    agreement = compare(draft, kept, other)
    if agreement is Agreement.AGAINST:
        draft.bring_up(kept, other)
    return agreement is Agreement.SAME and not other.is_pinned and other.edited_at is None


def _join(draft: Draft, kept: Memory, others: Sequence[Memory]) -> None:
    added = sorted(_load_sources(others) - _load_sources([kept]))
    before = {"evidence": kept.evidence, "quotes": len(kept.quotes), "sources": list(map(str, added))}
    told = _quoted_messages(kept)  # one message is evidence once, though two memories were drawn from it
    for other in others:
        kept.evidence += max(other.evidence - len(_quoted_messages(other) & told), 0)
        told |= _quoted_messages(other)
    kept.quotes += [quote for other in others for quote in other.quotes if quote not in kept.quotes]
    kept.quotes = kept.quotes[:MAX_QUOTES]
    kept.save(update_fields=["evidence", "quotes"])
    kept.sources.add(*added)  # type: ignore[arg-type]  # their ids are UUIDs
    for other in others:
        retract(other, draft.now, replaced_by=kept)
        draft.merged[other.pk] = kept
    became = {"evidence": kept.evidence, "quotes": len(kept.quotes)}
    draft.note(Change.Kind.MERGED, kept, others, {**before, "became": became, "others": len(others)})


def _quoted_messages(memory: Memory) -> set[str]:
    return {str(quote["message"]) for quote in memory.quotes}


def _load_sources(memories: Sequence[Memory]) -> set[UUID]:
    """Return the ids of all messages that these memories of one companion come from."""
    companion_id, ids = memories[0].companion_id, [memory.pk for memory in memories]
    rows = Memory.sources.through.objects.filter(memory__companion_id=companion_id, memory__in=ids)
    return set(rows.values_list("message_id", flat=True))


class Agreement(Enum):
    """SAME: nothing tells them apart. AGAINST: another number, or a denial. APART: another subject, kind or day."""

    SAME = auto()
    AGAINST = auto()
    APART = auto()


def compare(draft: Draft, memory: Memory, other: Memory) -> Agreement:
    """Return how two memories near in meaning stand to each other, whatever a model says of them.

    "Yesterday" in them counts in the user's zone. Neither speaks of kin, or names somebody or something, that the other
    does not.
    """
    facts = sign_facts(memory.text, memory.happened_at.astimezone(draft.zone))
    other_facts = sign_facts(other.text, other.happened_at.astimezone(draft.zone))
    said, other_said = {*terms(memory.text)}, {*terms(other.text)}
    is_comparable = (
        (memory.kind, memory.speaker, facts.days) == (other.kind, other.speaker, other_facts.days)
        and said & RELATED == other_said & RELATED
        and _named(memory.text) <= other_said
        and _named(other.text) <= said
        and _is_about_the_same(draft, memory, other)
    )
    if not is_comparable:
        return Agreement.APART
    return Agreement.SAME if facts == other_facts else Agreement.AGAINST


def _is_about_the_same(draft: Draft, memory: Memory, other: Memory) -> bool:
    """Return whether they share their subject, by texts and quotes; the names of the two who talk are none."""
    quotes, other_quotes = ([str(quote["text"]) for quote in row.quotes] for row in (memory, other))
    when = memory.happened_at.astimezone(draft.zone)
    return is_same_subject(memory.text, quotes, other.text, other_quotes, draft.names.values(), when)


def _named(text: str) -> set[str]:
    """Return the terms of all that is capitalised, wherever it stands, and of Chinese names."""
    return {*terms(" ".join([*CAPITAL.findall(text), *names_in(text)]))} - STOP_WORDS - NO_NAMES


# -- insights


def _keep_insights(draft: Draft, answered: Sequence[Insight]) -> None:
    """Keep those insights that stand on two memories or more, name nothing that those do not, and are new.

    The insights that were ever drawn count, closed ones too: what the person has let go is not drawn anew.
    """
    mine = Memory.objects.of(draft.run.companion_id).filter(kind=Memory.Kind.INSIGHT)
    earlier = [
        (insight.text, {memory.pk for memory in insight.drawn_from.all()})
        for insight in mine.defer("entry").prefetch_related("drawn_from")
    ]
    for insight in answered:
        found = filter(None, map(draft.memory, insight.drawn_from))
        drawn_from = list({memory.pk: memory for memory in found}.values())
        text, ids = one_line(insight.text), {memory.pk for memory in drawn_from}
        is_new = not any(is_same_text(text, told) or ids == drawn for told, drawn in earlier)
        if text and is_new and _may_be_drawn(draft, text, drawn_from):
            earlier.append((text, ids))
            _keep_insight(draft, text, insight.importance, drawn_from)


def _may_be_drawn(draft: Draft, text: str, drawn_from: Sequence[Memory]) -> bool:
    own = [memory for memory in drawn_from if memory.kind != Memory.Kind.INSIGHT]
    if len(own) < MIN_SOURCES or any(is_same_text(text, memory.text) for memory in draft.memories):
        return False
    lines = [
        Line(memory.pk, memory.speaker, "", memory.text, memory.happened_at.astimezone(draft.zone))
        for memory in drawn_from
    ]
    return stands_on(text, lines, "", draft.names.values())


def _keep_insight(draft: Draft, text: str, importance: int, drawn_from: Sequence[Memory]) -> None:
    insight = Memory.objects.create(
        companion_id=draft.run.companion_id,
        kind=Memory.Kind.INSIGHT,
        text=text,
        happened_at=draft.now,
        learnt_at=draft.now,
        call_id=draft.call_id,
        importance=importance,
        confidence=CONFIDENCE,
        entry=entry_of(text, "", draft.now, draft.zone),
    )
    insight.drawn_from.set(drawn_from)
    insight.sources.set(_load_sources(drawn_from))  # type: ignore[arg-type]  # their ids are UUIDs
    draft.note(Change.Kind.INSIGHT, insight, drawn_from, {})
    nudge(insight.companion_id)


# -- goals and ideas


def _review_goals(draft: Draft, answered: Sequence[Review]) -> None:
    """Give each goal at most one other standing; ended is only one of which something else that was shown tells.

    All that were shown count as looked at.
    """
    before = {goal.pk: _standing(goal) for goal in draft.goals}
    for review in answered:
        goal = draft.goals[review.of - 1] if review.of <= len(draft.goals) else None
        if goal is None or goal.pk not in before:
            continue
        wanted = {**_standing(goal), **review.model_dump(include={*STANDING}, exclude_none=True)}
        wanted["progress"] = 100 if wanted["status"] == Pursuit.Status.DONE else wanted["progress"]
        if wanted["status"] in ENDED and not _is_told_of(draft, goal):
            continue
        earlier = before.pop(goal.pk)
        if wanted != earlier:
            reviewed_at = goal.reviewed_at.isoformat() if goal.reviewed_at else None
            update_goal(goal, draft.now, **wanted)
            undoing = {**earlier, "reviewed_at": reviewed_at, "became": wanted}
            draft.note(Change.Kind.REVIEWED, goal.memory, [], undoing)
    shown = Pursuit.objects.filter(companion_id=draft.run.companion_id)
    shown.filter(pk__in=[goal.pk for goal in draft.goals]).update(reviewed_at=draft.now)


def _standing(goal: Pursuit) -> dict[str, Any]:
    return {name: getattr(goal, name) for name in STANDING}


def _is_told_of(draft: Draft, goal: Pursuit) -> bool:
    """Return whether another memory that was shown shares a term with it that is no name."""
    names = {hash_term(term) for name in draft.names.values() for term in terms(name)}
    own = {*map(hash_term, terms(goal.memory.text))} - names
    others = (memory.text for memory in draft.memories if memory.pk != goal.memory_id)
    return any(own & {*map(hash_term, terms(text))} for text in others)
