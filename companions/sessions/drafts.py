"""What a session holds as it ends, and the drafts that are made of it, each kept until something of its own changes.

A draft is thrown away only where what it was made from is gone or says something else; a digest, a reflection or a waking
that landed meanwhile changes nothing of it.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar
from uuid import UUID
from zlib import crc32

from companions.life.inner_state import get_newest
from companions.life.reflection import shorten_state
from companions.models import Closing, Companion, InnerState, Message, Session
from companions.sessions.transcript import (
    fingerprint_words,
    measure_room,
    select_messages,
    select_visible,
)
from memory.learning.answers import Learnt
from memory.learning.diary import Sentences
from memory.learning.neighbours import may_be_shown
from memory.learning.revisions import current
from memory.learning.talk import Talk
from memory.learning.verification import fact_key
from memory.models import DiaryEntry, Learning, Memory, Revision
from memory.recall.traits import tells_nothing
from providers.tokens import beginning

PERSONA_SHARE, BEFORE_SHARE = 4, 8  # a quarter and an eighth of the room for what was said
Draft = TypeVar("Draft", "DiaryDraft", "FactsDraft", "VerificationDraft", "UnderstandingDraft")
CHANGES = {"added", "reinforced", "revised", "retracted"}


@dataclass(frozen=True, slots=True)
class Material:
    """What a session holds as it ends, with the diary entry before it."""

    companion: Companion
    session: Session
    messages: list[Message]
    self_concept: Revision | None = None
    user_profile: Revision | None = None
    inner_state: InnerState | None = None
    before: DiaryEntry | None = None

    @property
    def unlearnt(self) -> list[Message]:
        return [message for message in self.messages if not message.is_learnt]

    @property
    def is_worth_telling(self) -> bool:
        """Whether the user has said something that may be told."""
        return any(message.role == Message.Role.USER for message in self.messages)

    @property
    def has_facts(self) -> bool:
        """Whether the user has told something that nobody has learnt from yet."""
        users = (message for message in self.unlearnt if message.role == Message.Role.USER)
        return any(not tells_nothing(message.text) for message in users)

    @property
    def state_before(self) -> str:
        """The inner state, cut where it is long, if something was said since; empty where it may stay as it is."""
        state = self.inner_state
        if state is None:
            return ""
        since = state.until_at
        has_moved = any(since is None or message.said_at > since for message in self.messages)
        return shorten_state(state) if has_moved else ""

    @property
    def persona(self) -> str:
        return beginning(self.companion.expand(self.companion.persona), measure_room() // PERSONA_SHARE)

    @property
    def entry_before(self) -> str:
        return beginning(self.before.summary, measure_room() // BEFORE_SHARE) if self.before else ""

    @property
    def room(self) -> int:
        earlier = [revision.text for revision in (self.self_concept, self.user_profile) if revision]
        beside = max(
            (self.persona, self.entry_before, self.state_before), earlier, key=lambda it: sum(map(len, it))
        )
        return measure_room(self.session.summary, *beside)


def gather(closing: Closing) -> Material:
    """Return what the closing closes, as it stands."""
    companion, session = closing.companion, closing.session
    return Material(
        companion=companion,
        session=session,
        messages=list(select_visible(select_messages(session, closing.until_at))),
        self_concept=current(companion.pk, Revision.About.SELF_CONCEPT),
        user_profile=current(companion.pk, Revision.About.USER_PROFILE),
        inner_state=get_newest(companion.pk),
        before=find_entry_before(companion, session),
    )


def find_entry_before(companion: Companion, session: Session) -> DiaryEntry | None:
    """Return the newest diary entry of an earlier session; none that is to be written anew."""
    earlier = DiaryEntry.objects.filter(
        companion=companion, started_at__lt=session.started_at, is_stale=False
    )
    return earlier.exclude(session=session).first()


# -- the parts


@dataclass(frozen=True, slots=True, kw_only=True)
class DiaryDraft:
    """What is written of a session: `lines` are the messages that the model was shown, by their numbers.

    Each sentence of the `diary` has a "doubt", true where rules say that it tells what nobody said. `inner_state` goes on
    from the one whose id is `felt_before`; it is None where that stays as it was.
    """

    title: str
    diary: Sentences
    emotion: str
    intensity: float
    lines: list[str]
    call_id: int | None
    seen: list[str]
    inner_state: dict[str, Any] | None = None
    felt_before: str | None = None

    def holds(self, material: Material) -> bool:
        return self.seen == see_diary(material)


@dataclass(frozen=True, slots=True, kw_only=True)
class FactsDraft:
    """What is to be learnt of a session: of the messages `lines`, beside the memories `known`, by their numbers."""

    memories: list[dict[str, Any]]
    unreadable: int
    lines: list[str]
    known: list[str]
    call_id: int | None
    seen: list[str]

    @property
    def learnt(self) -> list[Learnt]:
        return [Learnt.model_validate(memory) for memory in self.memories]

    def holds(self, material: Material) -> bool:
        """Whether its lines stand as they did, and nothing else is to be learnt from."""
        there, unlearnt = set(fingerprint_words(material.messages)), set(fingerprint_words(material.unlearnt))
        is_whole = unlearnt <= {*self.seen} <= there
        return is_whole and load_known(material.companion.pk, self.known) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationDraft:
    """What a second reading says of the facts and the sentences of the diary: words by their keys, as far as it has come,
    and at its end (`is_whole`) the places of those facts that stand.
    """

    words: dict[str, str]
    is_whole: bool
    facts: list[int]
    seen: list[str]

    def holds(self, material: Material, diary: DiaryDraft | None, facts: FactsDraft | None) -> bool:
        return self.seen == see_verification(material, diary, facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderstandingDraft:
    """What the two are thought to be from now on, and which memories the facts contradict, as [place, fingerprint]."""

    self_concept: Sentences
    user_profile: Sentences
    contradicted: list[tuple[int, str]]
    call_id: int | None
    seen: list[str]

    def holds(self, material: Material, facts: FactsDraft | None) -> bool:
        return self.seen == see_understanding(material, facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafts:
    """The parts that there are so far; None for what is not drafted yet."""

    diary: DiaryDraft | None = None
    facts: FactsDraft | None = None
    verification: VerificationDraft | None = None
    understanding: UnderstandingDraft | None = None

    @classmethod
    def load(cls, closing: Closing, material: Material) -> "Drafts":
        """Return those of its drafts that still hold."""
        diary = _read_draft(DiaryDraft, closing.drafts.get("diary"))
        facts = _read_draft(FactsDraft, closing.drafts.get("facts"))
        verification = _read_draft(VerificationDraft, closing.drafts.get("verification"))
        understanding = _read_draft(UnderstandingDraft, closing.drafts.get("understanding"))
        diary = diary if diary and diary.holds(material) else None
        facts = facts if facts and facts.holds(material) else None
        is_verified = verification and verification.holds(material, diary, facts)
        is_understood = understanding and understanding.holds(material, facts)
        return cls(
            diary=diary,
            facts=facts,
            verification=verification if is_verified else None,
            understanding=understanding if is_understood else None,
        )

    def dump(self) -> dict[str, Any]:
        """Return them as they are kept."""
        return {name: part for name, part in asdict(self).items() if part is not None}

    @property
    def words(self) -> dict[str, str]:
        """What a second reading says, by the keys of what it has read."""
        return self.verification.words if self.verification else {}

    @property
    def words_of_facts(self) -> dict[int, str]:
        """What it says of the facts, by their places."""
        places = range(len(self.facts.memories)) if self.facts else ()
        return {place: self.words[key] for place in places if (key := fact_key(place)) in self.words}

    def find_missing(self, material: Material) -> str:
        """Return which part is to be drafted next; empty where all that the session needs are there."""
        if self.diary is None:
            return "diary"
        if self.facts is None and material.has_facts:
            return "facts"
        if self.verification is None or not self.verification.is_whole:
            return "verification"
        has_learnt = bool(self.verification.facts) or has_learnt_in(material.session)
        return "understanding" if self.understanding is None and has_learnt else ""


def _read_draft(kind: type[Draft], kept: Any) -> Draft | None:
    """Return a draft as it was kept; None for none, and for one of an earlier version."""
    names = {field.name for field in fields(kind)}
    return kind(**kept) if isinstance(kept, dict) and kept.keys() == names else None


def has_learnt_in(session: Session) -> bool:
    """Return whether something was learnt of the session while it lasted."""
    learnings = Learning.objects.filter(session=session).values_list("verdicts", flat=True)
    return any(verdict["outcome"] in CHANGES for verdicts in learnings for verdict in verdicts)


# -- what each is made from


def see_diary(material: Material) -> list[str]:
    """Return what the diary is written from, so that a change of it is seen."""
    before, summary = material.before, material.session.summary
    told = f"{before.pk} {crc32(before.summary.encode()):08x}" if before else ""
    return [*fingerprint_words(material.messages), told, "summed up" if summary else ""]


def see_verification(material: Material, diary: DiaryDraft | None, facts: FactsDraft | None) -> list[str]:
    """Return what is read again, and beside what, so that a change of it is seen."""
    calls = [str(draft.call_id) if draft else "" for draft in (diary, facts)]
    return [*fingerprint_words(material.messages), *calls]


def see_understanding(material: Material, facts: FactsDraft | None) -> list[str]:
    """Return what the edits are made from, so that a change of it is seen."""
    revisions = [str(row.pk) if row else "" for row in (material.self_concept, material.user_profile)]
    return [*fingerprint_words(material.messages), *revisions, str(facts.call_id if facts else "")]


def fingerprint_memory(memory: Memory) -> str:
    """Return which memory it is, and what it says."""
    return f"{memory.pk} {crc32(memory.text.encode()):08x}"


def load_known(companion_id: UUID, known: Sequence[str]) -> list[Memory] | None:
    """Return what the model was shown beside the talk, by its numbers; None where some may not be shown any more.

    What was closed meanwhile may: it can only not be closed again.
    """
    memories = may_be_shown(companion_id).filter(pk__in=[one.split()[0] for one in known])
    there = {fingerprint_memory(memory): memory for memory in memories}
    return [there[one] for one in known] if there.keys() >= {*known} else None


def is_new(learnt: Learnt, whole: Talk, before: set[UUID]) -> bool:
    """Whether it comes from something that was not learnt from yet."""
    numbers = [number for number in learnt.sources if 1 <= number <= len(whole.lines)]
    return any(whole[number].message_id not in before for number in numbers)
