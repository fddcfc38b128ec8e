"""The material of a session's closing, and the drafts made from it, each valid until something that it used changes.

A draft is dropped only if something that it was made from is gone or has other words. A digest, a reflection or a
waking in the meantime does not invalidate it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from companions.life.inner_state import get_newest
from companions.life.reflection import shorten_state
from companions.models import Closing, Companion, InnerState, Message, PastImport, Session
from companions.sessions.transcript import (
    build_talk,
    find_names,
    fingerprint_words,
    measure_room,
    select_messages,
    select_visible,
    stamp,
)
from memory.emotion import Emotion
from memory.learning.answers import Learnt
from memory.learning.diary import UNTITLED, Sentences
from memory.learning.neighbours import select_showable
from memory.learning.revisions import load_current
from memory.learning.talk import Talk
from memory.learning.verdicts import CHANGES
from memory.learning.verification import make_key
from memory.models import DiaryEntry, Learning, Memory, Revision
from memory.recall.traits import tells_nothing
from providers.tokens import beginning

PERSONA_SHARE, BEFORE_SHARE = 4, 8  # a quarter and an eighth of the room for messages
Draft = TypeVar("Draft", "DiaryDraft", "FactsDraft", "VerificationDraft", "UnderstandingDraft")
MIN_UNDERSTOOD = 20  # messages of the user's after which self-concept and profile are reviewed again
UNDERSTANDING_INTERVAL = timedelta(days=7)  # or after this time


@dataclass(frozen=True, slots=True)
class Material:
    """What the drafts of a session's closing are made from.

    `names` are what "user" and "companion" are called. `before` is the previous diary entry. `earlier` are messages of
    earlier sessions, since self-concept and profile were last reviewed. If the session belongs to an imported `past`,
    `earlier` are only messages of that past, and `inner_state` is None.
    """

    companion: Companion
    session: Session
    messages: list[Message]
    names: Mapping[str, str]
    self_concept: Revision | None = None
    user_profile: Revision | None = None
    inner_state: InnerState | None = None
    before: DiaryEntry | None = None
    earlier: list[Message] = field(default_factory=list)
    past: PastImport | None = None

    @property
    def understood_until(self) -> datetime | None:
        """Return until when self-concept and profile were reviewed: by the past's messages, or by the companion's."""
        return self.past.understood_until if self.past else self.companion.understood_until

    @property
    def is_older(self) -> bool:
        """Return whether the session is of a past, and self-concept and profile cover later messages already."""
        known = self.companion.understood_until
        return bool(self.past and known and self.messages[-1].said_at < known)

    @property
    def unlearnt(self) -> list[Message]:
        return [message for message in self.messages if not message.is_learnt]

    @property
    def is_worth_telling(self) -> bool:
        """Return whether the user has said anything that is visible to a model."""
        return any(message.role == Message.Role.USER for message in self.messages)

    @property
    def has_facts(self) -> bool:
        """Return whether a message of the user's that is not learnt from yet tells something."""
        users = (message for message in self.unlearnt if message.role == Message.Role.USER)
        return any(not tells_nothing(message.text) for message in users)

    @property
    def is_understanding_due(self) -> bool:
        """Return whether self-concept and profile are due for review: after many messages, after long, or initially."""
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
        """Return whether anything was learnt from the sessions since self-concept and profile were last reviewed."""
        sessions = {self.session.pk, *(message.session_id for message in self.earlier)}
        learnings = Learning.objects.filter(session__in=sessions).values_list("verdicts", flat=True)
        return any(verdict["outcome"] in CHANGES for verdicts in learnings for verdict in verdicts)

    @property
    def state_before(self) -> str:
        """Return the inner state, shortened, if anything was said since; otherwise an empty string."""
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
        """Return how many tokens the messages may take, in the request for the diary and that for the understanding."""
        for_diary = (self.persona, self.entry_before, self.state_before)
        for_understanding = [revision.text for revision in (self.self_concept, self.user_profile) if revision]
        return min(measure_room(self.session.summary, *texts) for texts in (for_diary, for_understanding))

    def build_talk(self, messages: Sequence[Message]) -> Talk:
        """Return these messages as a model is shown them."""
        companion = self.companion
        return build_talk(companion.pk, messages, companion.user.zone, self.room, self.names)


def gather(closing: Closing) -> Material:
    """Load the material of the closing as it is now."""
    companion, session = closing.companion, closing.session
    return Material(
        companion=companion,
        session=session,
        messages=list(select_visible(select_messages(session, closing.until_at))),
        names=find_names(companion),
        self_concept=load_current(companion.pk, Revision.About.SELF_CONCEPT),
        user_profile=load_current(companion.pk, Revision.About.USER_PROFILE),
        inner_state=None if closing.past else get_newest(companion.pk),
        before=find_entry_before(companion, session, None if closing.past else closing.asked_at),
        earlier=_load_earlier(companion, session, closing.past),
        past=closing.past,
    )


def _load_earlier(companion: Companion, session: Session, past: PastImport | None) -> list[Message]:
    since = past.understood_until if past else companion.understood_until
    if past:
        said = Message.objects.filter(job=past.job_id, said_at__lt=session.started_at)
    else:
        said = Message.objects.filter(companion=companion, session__ended_at__isnull=False)
    # Before the first review, what was said to the companion itself; each past is reviewed by its own closings.
    earlier = said.filter(said_at__gt=since) if since else said.filter(job=past.job_id if past else None)
    return list(select_visible(earlier).exclude(session=session).order_by("said_at", "id"))


def find_entry_before(
    companion: Companion, session: Session, until: datetime | None = None
) -> DiaryEntry | None:
    """Return the newest diary entry before the session that is neither stale nor kept from models, or None; if `until`
    is given, before that time: a page of an evening during the session counts, which tells of the same talk.
    """
    before = until or session.started_at
    earlier = DiaryEntry.objects.filter(companion=companion, started_at__lt=before).visible_to_models()
    return earlier.exclude(session=session).first()


# -- the parts


@dataclass(frozen=True, slots=True, kw_only=True)
class DiaryDraft:
    """The draft of a diary entry. `lines` are the ids of the messages that the model was shown.

    Each sentence of the `diary` has a "doubt", true if rules find that it tells something that nobody said.
    `inner_state` revises the one whose id is `felt_before`, or is None if that stays as it is. `seen` is what
    `fingerprint_diary` returned. `call_id` is None for a diary that was left out.
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
        return self.seen == fingerprint_diary(material)


@dataclass(frozen=True, slots=True, kw_only=True)
class FactsDraft:
    """The draft of the facts learnt from a session: from the messages with the ids `lines`, beside `known` memories.

    `known` and `seen` are fingerprints, of these memories and of the messages.
    """

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
        """Return whether the draft's messages and known memories are unchanged and no unlearnt message is missing."""
        there, unlearnt = set(fingerprint_words(material.messages)), set(fingerprint_words(material.unlearnt))
        is_whole = unlearnt <= {*self.seen} <= there
        return is_whole and load_known(material.companion.pk, self.known) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderstandingDraft:
    """The draft of the changes to self-concept and user profile: edits as `weigh_edits` returns them. `known` are
    fingerprints of the earlier facts that the model was shown. `call_id` is None if the understanding was left out.
    """

    self_concept: list[dict[str, Any]]
    user_profile: list[dict[str, Any]]
    known: list[str]
    call_id: int | None
    seen: list[str]

    def holds(self, material: Material, facts: FactsDraft | None) -> bool:
        is_whole = self.seen == fingerprint_understanding(material, facts)
        return is_whole and load_known(material.companion.pk, self.known) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationDraft:
    """The verdicts of the verification, by the keys of the sentences that were read so far: `is_whole` once it has read
    all; and the memories that the facts contradict or repeat, as [index of the fact, fingerprint].
    """

    words: dict[str, str]
    is_whole: bool
    contradicted: list[tuple[int, str]]
    repeated: list[tuple[int, str]]
    seen: list[str]

    def holds(self, material: Material, drafts: "Drafts") -> bool:
        return self.seen == fingerprint_verification(material, drafts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafts:
    """The parts drafted so far; None for each that is not drafted yet."""

    diary: DiaryDraft | None = None
    facts: FactsDraft | None = None
    understanding: UnderstandingDraft | None = None
    verification: VerificationDraft | None = None

    @classmethod
    def load(cls, closing: Closing, material: Material) -> "Drafts":
        """Return the closing's saved drafts, without those that are no longer valid for the material."""
        saved = closing.drafts
        facts = _read_draft(FactsDraft, saved.get("facts"), material)
        drafts = cls(
            diary=_read_draft(DiaryDraft, saved.get("diary"), material),
            facts=facts,
            understanding=_read_draft(UnderstandingDraft, saved.get("understanding"), material, facts),
        )
        verification = _read_draft(VerificationDraft, saved.get("verification"), material, drafts)
        return replace(drafts, verification=verification)

    def dump(self) -> dict[str, Any]:
        """Return the drafts as they are saved in `Closing.drafts`."""
        return {name: part for name, part in asdict(self).items() if part is not None}

    @property
    def words(self) -> dict[str, str]:
        """Return the verification's verdicts, by the keys of the sentences."""
        return self.verification.words if self.verification else {}

    @property
    def words_of_facts(self) -> dict[int, str]:
        """Return the verification's verdicts on the facts, by their indexes."""
        places = range(len(self.facts.memories)) if self.facts else ()
        return {place: self.words[key] for place in places if (key := make_key("fact", place)) in self.words}

    def find_missing(self, material: Material) -> str:
        """Return the name of the part to draft next; empty if the session needs no more."""
        if self.diary is None:
            return "diary"
        if self.facts is None and material.has_facts:
            return "facts"
        if self.understanding is None and material.is_understanding_due:
            has_learnt = bool(self.facts and self.facts.memories) or material.has_learnt
            if has_learnt:
                return "understanding"
        return "" if self.verification and self.verification.is_whole else "verification"


def leave_out(part: str, material: Material, drafts: Drafts) -> dict[str, Any]:
    """Return an empty draft of the diary or of the understanding, by its name, for one that the model never got right."""
    if part == "diary":
        diary = DiaryDraft(
            title=UNTITLED,
            diary=[],
            emotion=Emotion.NEUTRAL,
            intensity=0.0,
            lines=[],
            call_id=None,
            seen=fingerprint_diary(material),
        )
        return {part: diary}
    seen = fingerprint_understanding(material, drafts.facts)
    return {part: UnderstandingDraft(self_concept=[], user_profile=[], known=[], call_id=None, seen=seen)}


def _read_draft(kind: type[Draft], kept: Any, *made_from: Any) -> Draft | None:
    """Return the saved draft; None if there is none, if an earlier version of Kith saved other fields, or if what it
    was made from has changed.
    """
    if not isinstance(kept, dict) or kept.keys() != {field.name for field in fields(kind)}:
        return None
    draft = kind(**kept)
    return draft if draft.holds(*made_from) else None


# -- fingerprints of what each is made from


def fingerprint_diary(material: Material) -> list[str]:
    """Return fingerprints of what the diary is written from, to detect changes."""
    before, summary = material.before, material.session.summary
    entry = stamp(before.pk, before.summary) if before else ""
    return [*fingerprint_words(material.messages), entry, "summed up" if summary else ""]


def fingerprint_verification(material: Material, drafts: Drafts) -> list[str]:
    """Return fingerprints of the drafts and messages that the verification reads, to detect changes."""
    parts = (drafts.diary, drafts.facts, drafts.understanding)
    calls = [str(draft.call_id) if draft else "" for draft in parts]
    return [*fingerprint_words([*material.earlier, *material.messages]), *calls]


def fingerprint_understanding(material: Material, facts: FactsDraft | None) -> list[str]:
    """Return fingerprints of what the edits are made from, to detect changes."""
    revisions = [str(row.pk) if row else "" for row in (material.self_concept, material.user_profile)]
    said = fingerprint_words([*material.earlier, *material.messages])
    return [*said, *revisions, str(facts.call_id if facts else "")]


def fingerprint_memory(memory: Memory) -> str:
    """Return a fingerprint of the memory's id and text."""
    return stamp(memory.pk, memory.text)


def load_known(companion_id: UUID, known: Sequence[str]) -> list[Memory] | None:
    """Return the memories with these fingerprints; None if one of them has changed or may not be shown any more.

    Memories that were closed meanwhile may still be shown.
    """
    memories = select_showable(companion_id).filter(pk__in=[fingerprint.split()[0] for fingerprint in known])
    there = {fingerprint_memory(memory): memory for memory in memories}
    return [there[fingerprint] for fingerprint in known] if there.keys() >= {*known} else None


def is_new(learnt: Learnt, whole: Talk, before: set[UUID]) -> bool:
    """Return whether a source of the fact is not among the messages `before`, which were learnt from already."""
    numbers = [number for number in learnt.sources if 1 <= number <= len(whole.lines)]
    return any(whole[number].message_id not in before for number in numbers)
