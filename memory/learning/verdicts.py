"""Applying what was learnt to the database: add, reinforce, revise, retract. No model is asked."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, tzinfo
from types import MappingProxyType
from typing import Any
from uuid import UUID

from memory.forgotten import ForgottenStatements, load_forgotten
from memory.goals import PURSUED
from memory.language import HAN
from memory.learning.answers import LEARNT_CHARACTERS, Learnt
from memory.learning.rules.evidence import Stopped, Supported, find_support, is_same_text
from memory.learning.rules.grounding import names_in
from memory.learning.rules.subjects import denies, is_own, is_same_subject, tells_the_same
from memory.learning.talk import Talk
from memory.models import Learning, Memory, Pursuit
from memory.models.memory import MemoryQuerySet
from memory.recall.query import Names
from memory.store import entry_of, link_sources, nudge, retract
from memory.threads import update_threads
from text.dates import find_relative_days
from text.strings import folded

NOON = time(12)
GAIN = 0.3  # of what a confidence lacks to 1, each time that the memory is told again
MAX_QUOTES = 50
UNREADABLE = {
    "verdict": "",
    "kind": "",
    "memory": None,
    "of": None,
    "outcome": "stopped",
    "reason": "unreadable",
}
CHANGES = {"added", "reinforced", "revised", "retracted"}


def learn(
    companion_id: UUID,
    talk: Talk,
    learnt: Sequence[Learnt],
    known: Sequence[Memory],
    *,
    now: datetime,
    zone: tzinfo,
    names: Names,
    session_id: UUID | None = None,
    call_id: int | None = None,
    contradicted: Mapping[int, Sequence[Memory]] = MappingProxyType({}),
    repeated: Mapping[int, Sequence[Memory]] = MappingProxyType({}),
    read: Mapping[int, str] = MappingProxyType({}),
    unreadable: int = 0,
    only: Collection[int] | None = None,
) -> Learning:
    """Apply the verdicts on a talk, in the caller's transaction, and return what became of each.

    Call it with the companion locked and every message of the talk still there. `known` are the memories in the order
    in which the model was shown them, as they were then: one that was closed, corrected, hidden or deleted meanwhile is
    left alone. `names` are what "user" and "companion" are called. By the place of an entry, `contradicted` are the
    memories that it makes untrue, `repeated` those that say the same, and `read` a second reading's word on it
    (`find_support`). `only` are the places of the entries to apply, if not all; `unreadable` is how many invalid
    entries the model gave. Applying a batch again changes nothing; then the Learning is returned unsaved.
    """
    learnt = [_write_out_day(entry, talk, zone) for entry in learnt]
    forgotten = load_forgotten(companion_id)
    batch = _Batch(companion_id, known, now, zone, names, call_id, forgotten)
    verdicts: list[dict[str, Any]] = []
    entries: dict[str, Learnt] = {}
    for place, entry in enumerate(learnt):
        if only is None or place in only:
            supported = find_support(entry, talk, names, known, read.get(place))
            verdict = batch.apply(supported, repeated.get(place, ()))
            verdicts += [verdict, *batch.close_contradicted(supported, verdict, contradicted.get(place, ()))]
            if verdict["memory"]:
                entries.setdefault(verdict["memory"], supported.learnt)
    verdicts += [dict(UNREADABLE) for _ in range(unreadable)]
    learning = Learning(
        companion_id=companion_id,
        session_id=session_id,
        call_id=call_id,
        messages=len(talk.lines),
        verdicts=verdicts,
        at=now,
    )
    outcomes = {verdict["outcome"] for verdict in verdicts}
    if outcomes & CHANGES or "already" not in outcomes:
        learning.save()
    if outcomes & CHANGES:
        nudge(companion_id)
    update_threads(learning, entries, known, talk, now=now, zone=zone, names=names)
    return learning


def _write_out_day(entry: Learnt, talk: Talk, zone: tzinfo) -> Learnt:
    """Return the entry with its day as a date behind its text, if that names the day only by the one on which it was
    said ("yesterday"), and the model and Kith read it alike. Without the date, nobody could tell the day later.
    """
    on, lines = entry.happened_on, talk.lines_of(entry.sources)
    if on is None or not lines or on not in find_relative_days(entry.text, lines[0].said_at.astimezone(zone)):
        return entry
    text = entry.text.rstrip(" .。")
    date_behind = f"（{on}）" if HAN.search(text) else f" ({on})"
    dated = f"{text}{date_behind}{entry.text[len(text) :]}"
    return entry.model_copy(update={"text": dated}) if len(dated) <= LEARNT_CHARACTERS else entry


@dataclass
class _Batch:
    """A batch that is being applied; each verdict leaves a record of its outcome and the reason, without words.

    A model's verdict may turn out to be another one: what is told again is reinforced instead of added; what is about
    something else, or tells more, is added instead of reinforced; what is not theirs to revise is added. `shown` are the
    memories as the model saw them; the one that an entry is about is called `known`, and is the `of` of its record.
    """

    companion_id: UUID
    shown: Sequence[Memory]
    now: datetime
    zone: tzinfo
    names: Names
    call_id: int | None
    forgotten: ForgottenStatements

    def apply(self, entry: Supported | Stopped, repeated: Sequence[Memory] = ()) -> dict[str, Any]:
        """Apply the entry's verdict if nothing speaks against it; return its record. `repeated` say the same as it."""
        if isinstance(entry, Stopped):
            return self._record(entry.learnt, None, None, "stopped", entry.reason)
        learnt = entry.learnt
        tellings = [(line.text, line.said_at) for line in entry.tellings]
        if self.forgotten.forbid(learnt.text, tellings):
            return self._record(learnt, None, None, "stopped", "forgotten")
        if before := self._find_kept(entry):
            return self._record(learnt, before, None, "already")
        if self._mine.filter(is_private=True, text__iexact=learnt.text).exists():
            return self._record(learnt, None, None, "stopped", "private")
        said_before = next(filter(None, map(self._find_unchanged, repeated)), None)
        if said_before and learnt.verdict in {"add", "reinforce"}:
            return self._repeat(entry, said_before)
        if learnt.verdict == "add":
            return self._add(entry)
        seen = learnt.find_known(self.shown)
        known = self._find_unchanged(seen) if seen else None
        if known:
            by_verdict = {"reinforce": self._reinforce, "revise": self._revise, "retract": self._retract}
            return by_verdict[learnt.verdict](entry, known)
        if learnt.verdict != "retract":
            return self._add(entry, None, "unknown_memory")
        # The same line may have closed the memory already.
        closed = self._mine.filter(closed_at=entry.tellings[0].said_at, replaced_by=None)
        if seen and (before := closed.filter(pk=seen.pk).defer("entry").first()):
            return self._record(learnt, None, before, "already")
        return self._refuse_to_retract(entry, None, "unknown_memory")

    def close_contradicted(
        self, entry: Supported | Stopped, applied: dict[str, Any], memories: Sequence[Memory]
    ) -> list[dict[str, Any]]:
        """Close the memories that the entry, as it was kept, makes untrue, unless rules forbid it; return records."""
        new = self._open.filter(pk=applied["memory"]).first() if applied["memory"] else None
        if isinstance(entry, Stopped) or new is None:
            return []
        records = []
        for memory in memories:
            known = self._find_unchanged(memory)
            if known and known.pk != new.pk and not why_not_theirs(entry, known):
                self._close(known, max(entry.tellings[0].said_at, new.happened_at), new)
                records.append(self._record(entry.learnt, new, known, "revised", "contradiction"))
        return records

    # -- verdicts

    def _add(self, entry: Supported, known: Memory | None = None, reason: str = "") -> dict[str, Any]:
        """Save a new memory, or reinforce an existing one with the same text instead."""
        if same := self._find_same_text(entry.learnt.text):
            return self._tell_again(entry, same, reason)
        return self._record(entry.learnt, self._create(entry), known, "added", reason)

    def _reinforce(self, entry: Supported, known: Memory) -> dict[str, Any]:
        """Reinforce the memory if the entry is about the same and tells no more; otherwise add the entry.

        An entry that settles a thread is always added, so that it is told apart from the memory.
        """
        if entry.learnt.thread == "settled":
            return self._add(entry, known, "settled")
        if not self._is_about(entry, known):
            return self._add(entry, known, "another_subject")
        known_at = known.happened_at.astimezone(self.zone)
        if not tells_the_same(entry.learnt.text, self._happened_at(entry), known.text, known_at):
            return self._add(entry, known, "another_telling")
        return self._tell_again(entry, known, "")

    def _repeat(self, entry: Supported, known: Memory) -> dict[str, Any]:
        """Reinforce a memory that says the same; replace it if the entry names more people, days or numbers.

        A memory that is pinned or was corrected by hand is not replaced, nor a goal or an idea by anything else. If
        it is not replaced, or each names what the other does not, the entry is added.
        """
        new = entry.learnt.text, self._happened_at(entry)
        old = known.text, known.happened_at.astimezone(self.zone)
        if self._names_no_more(*new, *old):
            return self._reinforce(entry, known)
        is_pursued = known.kind in PURSUED and entry.learnt.kind not in PURSUED
        is_held = known.is_pinned or known.edited_at is not None or is_pursued
        if not is_held and self._names_no_more(*old, *new):
            return self._revise(entry, known)
        return self._add(entry, known, "another_telling")

    def _names_no_more(self, text: str, at: datetime, other: str, other_at: datetime) -> bool:
        """Return whether a text names nobody, no day and no number that the other does not, and denies alike."""
        called = names_in(other) | {folded(name) for name in self.names.values()}
        return names_in(text) <= called and tells_the_same(text, at, other, other_at)

    def _revise(self, entry: Supported, known: Memory) -> dict[str, Any]:
        if is_same_text(entry.learnt.text, known.text):
            return self._tell_again(entry, known, "")
        if reason := self._why_open(entry, known):
            return self._add(entry, known, reason)
        at = self._happened_at(entry)
        at = at if at > known.happened_at else entry.tellings[0].said_at
        same = self._find_same_text(entry.learnt.text)
        new = same if same and same.pk != known.pk else self._create(entry, at)
        self._close(known, max(at, new.happened_at), new)
        return self._record(entry.learnt, new, known, "revised")

    def _retract(self, entry: Supported, known: Memory) -> dict[str, Any]:
        reason = self._why_open(entry, known)
        if not reason and not any(denies(quote.line.text, quote.line.said_at) for quote in entry.quotes):
            reason = "not_denied"
        if reason:
            return self._refuse_to_retract(entry, known, reason)
        self._close(known, entry.tellings[0].said_at, None)
        return self._record(entry.learnt, None, known, "retracted")

    def _refuse_to_retract(self, entry: Supported, known: Memory | None, reason: str) -> dict[str, Any]:
        """Save the entry as a memory of its own if a second reading approves it; otherwise stop it."""
        if entry.is_read:
            return self._add(entry, known, reason)
        return self._record(entry.learnt, None, known, "stopped", reason)

    # -- guards that look at rows

    @property
    def _mine(self) -> MemoryQuerySet:
        return Memory.objects.of(self.companion_id)

    @property
    def _open(self) -> MemoryQuerySet:
        return self._mine.open().learnt()

    def _find_unchanged(self, memory: Memory) -> Memory | None:
        """Return the memory if it is still as the model saw it, else None."""
        same = self._open.filter(pk=memory.pk, text=memory.text, is_private=False)
        return same.defer("entry").first()

    def _find_kept(self, entry: Supported) -> Memory | None:
        """Return a memory with the same text, closed or not, that already comes from one of the entry's messages."""
        told = [line.message_id for line in entry.tellings]
        learnt = self._mine.learnt()
        return learnt.same_text(entry.learnt.text).filter(sources__in=told).defer("entry").first()

    def _find_same_text(self, text: str) -> Memory | None:
        return self._open.same_text(text).filter(is_private=False).defer("entry").first()

    def _why_open(self, entry: Supported, known: Memory) -> str:
        """Return why the memory must stay open, or an empty string if the entry may close it."""
        if not self._is_about(entry, known):
            return "another_subject"
        return why_not_theirs(entry, known)

    def _is_about(self, entry: Supported, known: Memory) -> bool:
        quotes = [quote.text for quote in entry.quotes]
        earlier = [str(quote["text"]) for quote in known.quotes]
        when = entry.tellings[0].said_at.astimezone(self.zone)
        return is_same_subject(entry.learnt.text, quotes, known.text, earlier, self.names.values(), when)

    # -- rows

    def _create(self, entry: Supported, at: datetime | None = None) -> Memory:
        learnt, happened_at = entry.learnt, at or self._happened_at(entry)
        memory = Memory.objects.create(
            companion_id=self.companion_id,
            kind=learnt.kind,
            text=learnt.text,
            happened_at=happened_at,
            learnt_at=self.now,
            call_id=self.call_id,
            quotes=_quotes(entry),
            importance=learnt.importance,
            joy=learnt.joy,
            aversion=learnt.aversion,
            confidence=learnt.confidence,
            evidence=len(entry.tellings),
            entry=entry_of(learnt.text, "", happened_at, self.zone),
        )
        link_sources(memory, [line.message_id for line in entry.lines])
        if learnt.kind in PURSUED and is_own(learnt.text, self.names["companion"]):
            Pursuit.objects.create(
                companion_id=self.companion_id, memory=memory, excitement=learnt.importance
            )
        return memory

    def _tell_again(self, entry: Supported, known: Memory, reason: str) -> dict[str, Any]:
        """Reinforce the memory: messages that are new to it raise its evidence and confidence, and add quotes."""
        before = set(known.sources.values_list("pk", flat=True))
        new = [line for line in entry.tellings if line.message_id not in before]
        if not new:
            return self._record(entry.learnt, known, known, "already", reason)
        if not entry.is_users and is_told_by_user(known):
            return self._record(entry.learnt, known, known, "stopped", "echo")
        known.evidence += len(new)
        lacking = (1 - known.confidence) * (1 - GAIN * entry.learnt.confidence) ** len(new)
        known.confidence = round(1 - lacking, 6)
        quotes = [*known.quotes, *(quote for quote in _quotes(entry) if quote not in known.quotes)]
        known.quotes = quotes[:MAX_QUOTES]
        known.save(update_fields=["evidence", "confidence", "quotes"])
        link_sources(known, [line.message_id for line in entry.lines])
        return self._record(entry.learnt, known, known, "reinforced", reason)

    def _close(self, known: Memory, at: datetime, by: Memory | None) -> None:
        retract(known, at, replaced_by=by)
        if by and by.kind in PURSUED and known.kind in PURSUED:
            mine = Pursuit.objects.filter(companion_id=self.companion_id)
            for before in mine.filter(memory=known):
                mine.filter(memory=by).update(
                    status=before.status, progress=before.progress, parent=before.parent
                )

    # -- times and records

    def _happened_at(self, entry: Supported) -> datetime:
        """Return when the entry was said, or noon of the earlier day that it names, in the user's zone."""
        said_at = entry.tellings[0].said_at
        day = entry.learnt.happened_on
        if day is None or not date(1900, 1, 1) <= day < said_at.astimezone(self.zone).date():
            return said_at
        return datetime.combine(day, NOON, self.zone)

    def _record(
        self, learnt: Learnt, memory: Memory | None, known: Memory | None, outcome: str, reason: str = ""
    ) -> dict[str, Any]:
        return {
            "verdict": learnt.verdict,
            "kind": learnt.kind,
            "memory": str(memory.pk) if memory else None,
            "of": str(known.pk) if known else None,
            "outcome": outcome,
            "reason": reason,
        }


def why_not_theirs(entry: Supported, known: Memory) -> str:
    """Return why the one who tells the entry cannot close the memory, or an empty string if they can."""
    if not entry.is_users and is_told_by_user(known):
        return "not_theirs"
    return "older" if entry.tellings[0].said_at <= known.happened_at else ""


def is_told_by_user(memory: Memory) -> bool:
    """Return whether the user told the memory, or wrote it down themselves."""
    said = Memory.objects.of(memory.companion_id).filter(message__in=memory.sources.values("pk"))
    return said.by_speaker("user").exists() or not memory.sources.exists()


def _quotes(entry: Supported) -> list[dict[str, str]]:
    return [{"message": str(quote.line.message_id), "text": quote.text} for quote in entry.quotes]
