"""Applying what was learnt: add, reinforce, revise, retract. Rows only; no model is asked."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, tzinfo
from typing import Any
from uuid import UUID

from memory.learning.answers import Learnt
from memory.learning.evidence import Stopped, Supported, find_support, is_same_text
from memory.learning.neighbours import NOT_LEARNT
from memory.learning.subjects import denies, is_same_subject, tells_the_same
from memory.learning.talk import Line, Talk
from memory.models import Learning, Memory, Pursuit
from memory.models.memory import MemoryQuerySet
from memory.store import entry_of, nudge

PURSUED = (Memory.Kind.GOAL, Memory.Kind.IDEA)
NOON = time(12)
GAIN = 0.3  # of what is missing to certainty, for each time that it is told again
MAX_QUOTES = 50
CHANGES = {"added", "reinforced", "revised", "retracted"}


def learn(
    companion_id: UUID,
    talk: Talk,
    learnt: Sequence[Learnt],
    known: Sequence[Memory],
    *,
    now: datetime,
    zone: tzinfo,
    names: Mapping[str, str],
    session_id: UUID | None = None,
    call_id: int | None = None,
) -> Learning:
    """What became of each verdict on the talk, and the memories kept, in the caller's transaction.

    Call it with the companion locked and every message of the talk still there. `known` are the memories in the order
    in which they were put before the model, as they were then: what was closed, corrected, hidden or deleted meanwhile
    can no longer be meant. `names` are what "user" and "companion" are called. The same batch applied twice changes
    nothing the second time; then the learning comes back unsaved.
    """
    applying = _Applying(companion_id, known, now, zone, list(names.values()), call_id)
    verdicts = [applying.apply(find_support(entry, talk, names.values())) for entry in learnt]
    learning = Learning(
        companion_id=companion_id,
        session_id=session_id,
        call_id=call_id,
        messages=len(talk.lines),
        verdicts=verdicts,
        at=now,
    )
    became = {one["outcome"] for one in verdicts}
    if became & CHANGES or "already" not in became:
        learning.save()
    if became & CHANGES:
        nudge(companion_id)
    return learning


@dataclass
class _Applying:
    """One batch as it is applied."""

    companion_id: UUID
    known: Sequence[Memory]
    now: datetime
    zone: tzinfo
    names: Collection[str]
    call_id: int | None

    def apply(self, one: Supported | Stopped) -> dict[str, Any]:
        """The verdict's record: what became of it, and why, without words."""
        if isinstance(one, Stopped):
            return self._record(one.learnt, None, None, "stopped", one.reason)
        if before := self._kept(one):
            return self._record(one.learnt, before, None, "already")
        if self._is_private(one.learnt.text):
            return self._record(one.learnt, None, None, "stopped", "private")
        if one.learnt.verdict == "add":
            return self._add(one)
        of = self._meant(one.learnt)
        if of is None and (before := self._taken_back(one)):
            return self._record(one.learnt, None, before, "already")
        if of is None:
            return self._stand_alone(one, None, "unknown_memory")
        return {"reinforce": self._reinforce, "revise": self._revise, "retract": self._retract}[
            one.learnt.verdict
        ](one, of)

    # -- verdicts

    def _add(self, one: Supported, of: Memory | None = None, reason: str = "") -> dict[str, Any]:
        """A new memory; one that says the same already is told again instead."""
        if same := self._same_text(one.learnt.text):
            return self._told_again(one, same, reason)
        return self._record(one.learnt, self._create(one), of, "added", reason)

    def _reinforce(self, one: Supported, of: Memory) -> dict[str, Any]:
        if not self._is_about(one, of):
            return self._add(one, of, "another_subject")
        if not tells_the_same(one.learnt.text, self._happened_at(one), of.text, self._local(of)):
            return self._add(one, of, "another_telling")
        return self._told_again(one, of, "")

    def _revise(self, one: Supported, of: Memory) -> dict[str, Any]:
        if is_same_text(one.learnt.text, of.text):
            return self._told_again(one, of, "")
        if reason := self._cannot_close(one, of):
            return self._add(one, of, reason)
        at = self._happened_at(one) if self._happened_at(one) > of.happened_at else one.tellings[0].said_at
        same = self._same_text(one.learnt.text)
        new = same if same and same.pk != of.pk else self._create(one, at)
        self._close(of, max(at, new.happened_at), new)
        return self._record(one.learnt, new, of, "revised")

    def _retract(self, one: Supported, of: Memory) -> dict[str, Any]:
        reason = self._cannot_close(one, of)
        if not reason and not any(denies(quote.line.text, quote.line.said_at) for quote in one.quotes):
            reason = "not_denied"
        if reason:
            return self._record(one.learnt, None, of, "stopped", reason)
        self._close(of, one.tellings[0].said_at, None)
        return self._record(one.learnt, None, of, "retracted")

    def _stand_alone(self, one: Supported, of: Memory | None, reason: str) -> dict[str, Any]:
        """A verdict about nothing: what it says stands by itself, but nothing can be taken back."""
        if one.learnt.verdict == "retract":
            return self._record(one.learnt, None, of, "stopped", reason)
        return self._add(one, of, reason)

    # -- guards that look at rows

    def _meant(self, learnt: Learnt) -> Memory | None:
        """The memory whose number is named, where it is still as the model saw it."""
        if learnt.of is None or not 1 <= learnt.of <= len(self.known):
            return None
        seen = self.known[learnt.of - 1]
        there = self._open().filter(pk=seen.pk, text=seen.text, is_private=False)
        return there.defer("entry").first()

    def _cannot_close(self, one: Supported, of: Memory) -> str:
        """Why the memory must stay open; nothing where it may be closed."""
        if not self._is_about(one, of):
            return "another_subject"
        if not one.is_users and self._is_told_by_user(of):
            return "not_theirs"
        return "older" if one.tellings[0].said_at <= of.happened_at else ""

    def _is_about(self, one: Supported, of: Memory) -> bool:
        quotes = [quote.text for quote in one.quotes]
        earlier = [str(quote["text"]) for quote in of.quotes]
        when = one.tellings[0].said_at.astimezone(self.zone)
        return is_same_subject(one.learnt.text, quotes, of.text, earlier, self.names, when)

    def _is_told_by_user(self, of: Memory) -> bool:
        """Whether the user told it, or wrote it down themselves."""
        said = Memory.objects.of(self.companion_id).filter(message__in=of.sources.values("pk"))
        return said.by_speaker("user").exists() or not of.sources.exists()

    def _is_private(self, text: str) -> bool:
        mine = Memory.objects.of(self.companion_id).filter(is_private=True)
        return mine.filter(text__iexact=text).exists()

    def _kept(self, one: Supported) -> Memory | None:
        """A memory of the same words that comes from one of these messages already, closed or not."""
        told = [line.message_id for line in one.tellings]
        mine = Memory.objects.of(self.companion_id).exclude(kind__in=NOT_LEARNT)
        return mine.filter(text__iexact=one.learnt.text, sources__in=told).defer("entry").first()

    def _taken_back(self, one: Supported) -> Memory | None:
        """The memory that this very line has closed already."""
        if one.learnt.verdict != "retract" or not 1 <= (one.learnt.of or 0) <= len(self.known):
            return None
        seen, at = self.known[(one.learnt.of or 0) - 1], one.tellings[0].said_at
        mine = Memory.objects.of(self.companion_id).filter(pk=seen.pk, closed_at=at, replaced_by=None)
        return mine.defer("entry").first()

    def _same_text(self, text: str) -> Memory | None:
        return self._open().filter(text__iexact=text, is_private=False).defer("entry").first()

    def _open(self) -> MemoryQuerySet:
        return Memory.objects.of(self.companion_id).open().exclude(kind__in=NOT_LEARNT)

    # -- rows

    def _create(self, one: Supported, at: datetime | None = None) -> Memory:
        learnt, happened_at = one.learnt, at or self._happened_at(one)
        memory = Memory.objects.create(
            companion_id=self.companion_id,
            kind=learnt.kind,
            text=learnt.text,
            happened_at=happened_at,
            learnt_at=self.now,
            call_id=self.call_id,
            quotes=_quotes(one),
            importance=learnt.importance,
            joy=learnt.joy,
            aversion=learnt.aversion,
            confidence=learnt.confidence,
            evidence=len(one.tellings),
            entry=entry_of(learnt.text, "", happened_at, self.zone),
        )
        self._link(memory, one.lines)
        if learnt.kind in PURSUED:
            Pursuit.objects.create(
                companion_id=self.companion_id, memory=memory, excitement=learnt.importance
            )
        return memory

    def _told_again(self, one: Supported, of: Memory, reason: str) -> dict[str, Any]:
        """Evidence, sources and quotes of the memory grow by those messages that it does not come from yet."""
        before = set(of.sources.values_list("pk", flat=True))
        new = [line for line in one.tellings if line.message_id not in before]
        if not new:
            return self._record(one.learnt, of, of, "already", reason)
        if not one.is_users and self._is_told_by_user(of):
            return self._record(one.learnt, of, of, "stopped", "echo")
        of.evidence += len(new)
        of.confidence = round(1 - (1 - of.confidence) * (1 - GAIN * one.learnt.confidence) ** len(new), 6)
        of.quotes = [*of.quotes, *(quote for quote in _quotes(one) if quote not in of.quotes)][:MAX_QUOTES]
        of.save(update_fields=["evidence", "confidence", "quotes"])
        self._link(of, one.lines)
        return self._record(one.learnt, of, of, "reinforced", reason)

    def _close(self, of: Memory, at: datetime, by: Memory | None) -> None:
        of.closed_at, of.replaced_by = at, by
        of.save(update_fields=["closed_at", "replaced_by"])
        if by and by.kind in PURSUED and of.kind in PURSUED:
            mine = Pursuit.objects.filter(companion_id=self.companion_id)
            for before in mine.filter(memory=of):
                mine.filter(memory=by).update(
                    status=before.status, progress=before.progress, parent=before.parent
                )

    def _link(self, memory: Memory, lines: Sequence[Line]) -> None:
        Source = Memory.sources.through
        rows = [Source(memory_id=memory.pk, message_id=line.message_id) for line in lines]
        Source.objects.bulk_create(rows, ignore_conflicts=True)

    # -- times and records

    def _happened_at(self, one: Supported) -> datetime:
        """When it was said, or at noon of the earlier day that is named, in the user's zone."""
        said_at = one.tellings[0].said_at
        day = one.learnt.happened_on
        if day is None or not date(1900, 1, 1) <= day < said_at.astimezone(self.zone).date():
            return said_at
        return datetime.combine(day, NOON, self.zone)

    def _local(self, of: Memory) -> datetime:
        return of.happened_at.astimezone(self.zone)

    def _record(
        self, learnt: Learnt, memory: Memory | None, of: Memory | None, outcome: str, reason: str = ""
    ) -> dict[str, Any]:
        return {
            "verdict": learnt.verdict,
            "kind": learnt.kind,
            "memory": str(memory.pk) if memory else None,
            "of": str(of.pk) if of else None,
            "outcome": outcome,
            "reason": reason,
        }


def _quotes(one: Supported) -> list[dict[str, str]]:
    return [{"message": str(quote.line.message_id), "text": quote.text} for quote in one.quotes]
