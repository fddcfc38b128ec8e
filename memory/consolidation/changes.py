"""Applying a model's answer: the rows that it changes, with what undoing each change needs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any
from uuid import UUID

from memory.consolidation.agreement import Agreement, compare, is_about_the_same
from memory.consolidation.candidates import Pair
from memory.consolidation.insights import Drawn, select_insights
from memory.consolidation.request import Answer, Insight, Merge, Review
from memory.goals import update_goal
from memory.learning.rules.evidence import DOUBTFUL_CONFIDENCE, YES
from memory.learning.verdicts import MAX_QUOTES
from memory.learning.verification import stands
from memory.models import Change, Consolidation, Memory, Pursuit
from memory.recall.candidates import hash_term
from memory.recall.query import Names
from memory.recall.traits import terms
from memory.store import entry_of, nudge, retract
from memory.threads import move_thread

CONFIDENCE = 0.6  # of an insight that a second reading approves
STANDING = "status", "progress", "excitement"


@dataclass(kw_only=True)
class Draft:
    """A run whose answer is being applied: what the model saw, in its order and reloaded, and what was done so far.

    `pairs` are near in meaning. The pairs in `parted` must not be merged or brought up again: the person has undone
    their merge, or was shown their contradiction already. `words` are a second reading's words on the insights, by
    their keys. `merged` gives, by the id of each memory merged in this run, the memory that it was merged into.
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
    words: Mapping[str, str]
    merged: dict[UUID, Memory] = field(default_factory=dict)
    done: int = 0

    def memory(self, number: int) -> Memory | None:
        """Return the memory with this number, or the one that it was merged into; None if there is no such number."""
        memory = self.memories[number - 1] if 1 <= number <= len(self.memories) else None
        return self.merged.get(memory.pk, memory) if memory else None

    def goal(self, number: int) -> Pursuit | None:
        """Return the goal with this number, or None. The goals are numbered on from the last memory."""
        place = number - len(self.memories) - 1
        return self.goals[place] if 0 <= place < len(self.goals) else None

    def may_be_compared(self, memory: Memory, other: Memory) -> bool:
        """Return whether two memories may be compared: they differ, are near in meaning, and are not parted."""
        pair = frozenset((memory.pk, other.pk))
        return len(pair) == 2 and pair in self.pairs and pair not in self.parted

    def note(
        self, kind: Change.Kind, memory: Memory, others: Iterable[Memory], before: dict[str, Any]
    ) -> None:
        """Save a change of this kind, with what undoing it needs."""
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
        """Record that two memories contradict each other, for the person to settle, once only. Neither is closed."""
        self.parted.add(frozenset((memory.pk, other.pk)))
        self.note(Change.Kind.CONTRADICTION, memory, [other], {})


def load_parted(companion_id: UUID) -> set[Pair]:
    """Return the pairs whose merge was undone, and those that were brought up as contradictions before."""
    mine = Change.objects.filter(companion_id=companion_id, others__isnull=False)
    undone = mine.filter(kind=Change.Kind.MERGED, undone_at__isnull=False)
    rows = (undone | mine.filter(kind=Change.Kind.CONTRADICTION)).values_list("memory_id", "others")
    return {frozenset((one, other)) for one, other in rows if other}


def apply_answer(draft: Draft, answer: Answer) -> None:
    """Apply what the rules allow of the answer. Call it inside the transaction that ends the run, with the companion
    locked.

    Merges come first; after that, the number of a merged memory means the one that it was merged into.
    """
    for merge in answer.merges:
        _merge(draft, merge)
    for contradiction in answer.contradictions:
        memory, other = draft.memory(contradiction.a), draft.memory(contradiction.b)
        if not memory or not other or not draft.may_be_compared(memory, other):
            continue
        if is_about_the_same(memory, other, draft.zone, draft.names):
            draft.bring_up(memory, other)
    _keep_insights(draft, answer.insights)
    _review_goals(draft, answer.reviews)


# -- merges and contradictions


def _merge(draft: Draft, answered: Merge) -> None:
    """Merge memories into the one to be kept, which gets their evidence, sources and quotes; they are closed and linked
    to it.

    Only memories that are near in meaning and differ in no day, number or denial are merged; if only a number or a
    denial differs, they are brought up as a contradiction. A memory is not closed if the person pinned or corrected it,
    if it is pursued and the kept one is not, or if its thread is open and the kept one's is closed. An open thread
    moves to the kept memory if that has none.
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
    agreement = compare(kept, other, draft.zone, draft.names)
    if agreement is Agreement.AGAINST:
        draft.bring_up(kept, other)
    is_pursued = hasattr(other, "pursuit") and not hasattr(kept, "pursuit")
    is_open_alone = other.has_open_thread and hasattr(kept, "thread") and not kept.has_open_thread
    is_held = other.is_pinned or other.edited_at is not None or is_pursued or is_open_alone
    return agreement is Agreement.SAME and not is_held


def _join(draft: Draft, kept: Memory, others: Sequence[Memory]) -> None:
    added = sorted(_load_sources(others) - _load_sources([kept]))
    before: dict[str, Any] = {
        "evidence": kept.evidence,
        "quotes": len(kept.quotes),
        "sources": list(map(str, added)),
    }
    told = kept.quoted  # a message is evidence once, even if several memories were drawn from it
    for other in others:
        kept.evidence += max(other.evidence - len(other.quoted & told), 0)
        told |= other.quoted
    kept.quotes += [quote for other in others for quote in other.quotes if quote not in kept.quotes]
    kept.quotes = kept.quotes[:MAX_QUOTES]
    kept.save(update_fields=["evidence", "quotes"])
    kept.sources.add(*added)  # type: ignore[arg-type]  # their ids are UUIDs
    was_open = next((other for other in others if other.has_open_thread and move_thread(other, kept)), None)
    for other in others:
        retract(other, draft.now, replaced_by=kept)
        draft.merged[other.pk] = kept
    before["thread_of"] = str(was_open.pk) if was_open else None
    became = {"evidence": kept.evidence, "quotes": len(kept.quotes)}
    draft.note(Change.Kind.MERGED, kept, others, {**before, "became": became, "others": len(others)})


def _load_sources(memories: Sequence[Memory]) -> set[UUID]:
    """Return the ids of all messages that these memories of one companion come from."""
    companion_id, ids = memories[0].companion_id, [memory.pk for memory in memories]
    rows = Memory.sources.through.objects.filter(memory__companion_id=companion_id, memory__in=ids)
    return set(rows.values_list("message_id", flat=True))


# -- insights


def _keep_insights(draft: Draft, answered: Sequence[Insight]) -> None:
    """Save the insights that rules allow, and that a second reading was asked about and does not reject.

    An insight is unsure if the second reading's word is empty.
    """
    companion_id = draft.run.companion_id
    for drawn in select_insights(
        companion_id, answered, draft.memory, draft.memories, draft.zone, draft.names
    ):
        word = draft.words.get(drawn.key)
        if word is not None and stands(word):
            _keep_insight(draft, drawn, CONFIDENCE if word == YES else DOUBTFUL_CONFIDENCE)


def _keep_insight(draft: Draft, drawn: Drawn, confidence: float) -> None:
    insight = Memory.objects.create(
        companion_id=draft.run.companion_id,
        kind=Memory.Kind.INSIGHT,
        text=drawn.text,
        happened_at=draft.now,
        learnt_at=draft.now,
        call_id=draft.call_id,
        importance=drawn.importance,
        confidence=confidence,
        entry=entry_of(drawn.text, "", draft.now, draft.zone),
    )
    insight.drawn_from.set(drawn.memories)
    insight.sources.set(_load_sources(drawn.memories))  # type: ignore[arg-type]  # their ids are UUIDs
    draft.note(Change.Kind.INSIGHT, insight, drawn.memories, {})
    nudge(insight.companion_id)


# -- goals and ideas


def _review_goals(draft: Draft, answered: Sequence[Review]) -> None:
    """Update the status, progress and excitement of each goal at most once, and mark all that were shown as reviewed.

    A goal is ended only if another memory that was shown tells of it.
    """
    before = {goal.pk: _standing(goal) for goal in draft.goals}
    for review in answered:
        goal = draft.goal(review.of)
        if goal is None or goal.pk not in before:
            continue
        wanted = {**_standing(goal), **review.model_dump(include={*STANDING}, exclude_none=True)}
        wanted["progress"] = 100 if wanted["status"] == Pursuit.Status.DONE else wanted["progress"]
        if wanted["status"] in Pursuit.ENDED and not _is_told_of(draft, goal):
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
    """Return whether another memory that was shown shares a term with the goal, names aside."""
    names = {hash_term(term) for name in draft.names.values() for term in terms(name)}
    own = {*map(hash_term, terms(goal.memory.text))} - names
    others = (memory.text for memory in draft.memories if memory.pk != goal.memory_id)
    return any(own & {*map(hash_term, terms(text))} for text in others)
