"""What a session holds as it ends, and the drafts that are made of it, each kept until something of its own changes.

A draft is thrown away only where what it was made from is gone or says something else; a digest, a reflection or a waking
that landed meanwhile changes nothing of it.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID
from zlib import crc32

from companions.life.inner_state import get_newest
from companions.life.reflection import shorten_state
from companions.models import Closing, Companion, InnerState, Message, PastImport, Session
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
from memory.learning.verification import make_key
from memory.models import DiaryEntry, Learning, Memory, Revision
from memory.recall.traits import tells_nothing
from providers.tokens import beginning

PERSONA_SHARE, BEFORE_SHARE = 4, 8  # a quarter and an eighth of the room for what was said
Draft = TypeVar("Draft", "DiaryDraft", "FactsDraft", "VerificationDraft", "UnderstandingDraft")
MIN_UNDERSTOOD = 20  # messages of the user's after which self-concept and profile are looked through again
UNDERSTANDING_INTERVAL = timedelta(days=7)  # or after so long
CHANGES = {"added", "reinforced", "revised", "retracted"}


@dataclass(frozen=True, slots=True)
class Material:
    """What a session holds as it ends, with the diary entry before it.

    `earlier` was said before it, since self-concept and profile were last looked through. Where it belongs to an imported
    `past`, that alone is looked at, and how the companion feels today is none of its business.
    """

    companion: Companion
    session: Session
    messages: list[Message]
    self_concept: Revision | None = None
    user_profile: Revision | None = None
    inner_state: InnerState | None = None
    before: DiaryEntry | None = None
    earlier: list[Message] = field(default_factory=list)
    past: PastImport | None = None

    @property
    def understood_until(self) -> datetime | None:
        """Until when self-concept and profile were looked through, of the talk or of the past that it belongs to."""
        return self.past.understood_until if self.past else self.companion.understood_until

    @property
    def is_older(self) -> bool:
        """Whether self-concept and profile know of later talk already."""
        known = self.companion.understood_until
        return bool(self.past and known and self.messages[-1].said_at < known)

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
    def is_understanding_due(self) -> bool:
        """Whether enough was said to look through self-concept and profile, or nobody did for long, or ever."""
        since = self.understood_until
        said = [*self.earlier, *self.messages]
        count = sum(message.role == Message.Role.USER for message in said)
        return (
            since is None
            or count >= MIN_UNDERSTOOD
            or self.messages[-1].said_at - since >= UNDERSTANDING_INTERVAL
        )

    @property
    def has_learnt(self) -> bool:
        """Whether something was learnt of what was said since self-concept and profile were last looked through."""
        sessions = {self.session.pk, *(message.session_id for message in self.earlier)}
        learnings = Learning.objects.filter(session__in=sessions).values_list("verdicts", flat=True)
        return any(verdict["outcome"] in CHANGES for verdicts in learnings for verdict in verdicts)

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
        inner_state=None if closing.past else get_newest(companion.pk),
        before=find_entry_before(companion, session),
        earlier=_load_earlier(companion, session, closing.past),
        past=closing.past,
    )


def _load_earlier(companion: Companion, session: Session, past: PastImport | None) -> list[Message]:
    since = past.understood_until if past else companion.understood_until
    if since is None:
        return []
    if past:
        said = Message.objects.filter(job=past.job_id, said_at__gt=since, said_at__lt=session.started_at)
        return list(select_visible(said.exclude(session=session)).order_by("said_at", "id"))
    said = Message.objects.filter(companion=companion, said_at__gt=since, session__ended_at__isnull=False)
    return list(select_visible(said.exclude(session=session)).order_by("said_at", "id"))


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
class UnderstandingDraft:
    """What changes in what the two are thought to be: edits as `memory.learning.revisions` weighs them. `known` are the
    facts of before that the model was shown.
    """

    self_concept: list[dict[str, Any]]
    user_profile: list[dict[str, Any]]
    known: list[str]
    call_id: int | None
    seen: list[str]

    def holds(self, material: Material, facts: FactsDraft | None) -> bool:
        is_whole = self.seen == see_understanding(material, facts)
        return is_whole and load_known(material.companion.pk, self.known) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationDraft:
    """What a second reading says of all that was drafted: words by their keys, as far as it has come, at its end
    (`is_whole`) of everything; and which memories the facts contradict, or say again, as [place, fingerprint].
    """

    words: dict[str, str]
    is_whole: bool
    contradicted: list[tuple[int, str]]
    repeated: list[tuple[int, str]]
    seen: list[str]

    def holds(self, material: Material, drafts: "Drafts") -> bool:
        return self.seen == see_verification(material, drafts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafts:
    """The parts that there are so far; None for what is not drafted yet."""

    diary: DiaryDraft | None = None
    facts: FactsDraft | None = None
    understanding: UnderstandingDraft | None = None
    verification: VerificationDraft | None = None

    @classmethod
    def load(cls, closing: Closing, material: Material) -> "Drafts":
        """Return those of its drafts that still hold."""
        diary = _read_draft(DiaryDraft, closing.drafts.get("diary"))
        facts = _read_draft(FactsDraft, closing.drafts.get("facts"))
        verification = _read_draft(VerificationDraft, closing.drafts.get("verification"))
        understanding = _read_draft(UnderstandingDraft, closing.drafts.get("understanding"))
        facts = facts if facts and facts.holds(material) else None
        drafts = cls(
            diary=diary if diary and diary.holds(material) else None,
            facts=facts,
            understanding=understanding if understanding and understanding.holds(material, facts) else None,
        )
        is_verified = verification and verification.holds(material, drafts)
        return replace(drafts, verification=verification if is_verified else None)

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
        return {place: self.words[key] for place in places if (key := make_key("fact", place)) in self.words}

    def find_missing(self, material: Material) -> str:
        """Return which part is to be drafted next; empty where all that the session needs are there."""
        if self.diary is None:
            return "diary"
        if self.facts is None and material.has_facts:
            return "facts"
        if self.understanding is None and material.is_understanding_due:
            has_learnt = bool(self.facts and self.facts.memories) or material.has_learnt
            if has_learnt:
                return "understanding"
        return "" if self.verification and self.verification.is_whole else "verification"


def _read_draft(kind: type[Draft], kept: Any) -> Draft | None:
    """Return a draft as it was kept; None for none, and for one of an earlier version."""
    names = {field.name for field in fields(kind)}
    return kind(**kept) if isinstance(kept, dict) and kept.keys() == names else None


# -- what each is made from


def see_diary(material: Material) -> list[str]:
    """Return what the diary is written from, so that a change of it is seen."""
    before, summary = material.before, material.session.summary
    told = f"{before.pk} {crc32(before.summary.encode()):08x}" if before else ""
    return [*fingerprint_words(material.messages), told, "summed up" if summary else ""]


def see_verification(material: Material, drafts: Drafts) -> list[str]:
    """Return what is read again, and beside what, so that a change of it is seen."""
    parts = (drafts.diary, drafts.facts, drafts.understanding)
    calls = [str(draft.call_id) if draft else "" for draft in parts]
    return [*fingerprint_words([*material.earlier, *material.messages]), *calls]


def see_understanding(material: Material, facts: FactsDraft | None) -> list[str]:
    """Return what the edits are made from, so that a change of it is seen."""
    revisions = [str(row.pk) if row else "" for row in (material.self_concept, material.user_profile)]
    said = fingerprint_words([*material.earlier, *material.messages])
    return [*said, *revisions, str(facts.call_id if facts else "")]


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
