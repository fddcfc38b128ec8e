"""What is asked of the model as a session ends, and the draft that is made of its answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self
from uuid import UUID
from zlib import crc32

from accounts.models import ModelCall
from accounts.usage import Payer, charged
from companions.life.inner_state import get_newest
from companions.life.reflection import keep_grounded, shorten_state
from companions.models import Closing, Companion, InnerState, Message, Session
from companions.sessions.transcript import marks, room, said, size, talk_of, told
from memory.learning.answers import Ending, Learnt, Sentence
from memory.learning.diary import Sentences, Written
from memory.learning.evidence import without_echoes
from memory.learning.grounding import grounded
from memory.learning.neighbours import neighbours
from memory.learning.requests import ending_request
from memory.learning.revisions import current
from memory.learning.secrets import redacted, secrets_in
from memory.learning.talk import Talk
from memory.models import Memory, Revision
from memory.recall.traits import terms
from providers.chat.structured import ask
from providers.errors import MalformedError
from text.quoting import one_line


@dataclass(frozen=True, slots=True)
class Material:
    """What a session holds as it ends; `seen` names all of it, so that a change of any of it is seen."""

    companion: Companion
    session: Session
    messages: list[Message]
    self_concept: Revision | None
    user_profile: Revision | None
    inner_state: InnerState | None = None

    @property
    def unlearnt(self) -> list[Message]:
        return [one for one in self.messages if not one.is_learnt]

    @property
    def is_worth_telling(self) -> bool:
        """Whether the user has said something that may be told."""
        return any(one.role == Message.Role.USER for one in self.messages)

    @property
    def felt_before(self) -> str:
        """The inner state, cut where it is long, if something was said since; empty where it may stay as it is."""
        before, since = self.inner_state, self.inner_state.until_at if self.inner_state else None
        is_moved = any(since is None or one.said_at > since for one in self.messages)
        return shorten_state(before) if before and is_moved else ""

    @property
    def seen(self) -> list[str]:
        revisions = [str(one.pk) for one in (self.self_concept, self.user_profile, self.inner_state) if one]
        return [*marks(self.messages), *revisions, f"{crc32(self.session.summary.encode()):08x}"]

    @property
    def room(self) -> int:
        earlier = [one.text for one in (self.self_concept, self.user_profile) if one]
        return room(self.session.summary, self.felt_before, *earlier)


def gather(closing: Closing) -> Material:
    """What the closing closes, as it stands."""
    companion, session = closing.companion, closing.session
    return Material(
        companion=companion,
        session=session,
        messages=list(told(said(session, closing.until_at))),
        self_concept=current(companion.pk, Revision.About.SELF_CONCEPT),
        user_profile=current(companion.pk, Revision.About.USER_PROFILE),
        inner_state=get_newest(companion.pk),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft(Written):
    """What is to be kept of a session, as long as it holds what it held when the model was asked.

    `lines` are the messages that the model was shown, by their numbers, `known` the memories beside them. The inner
    state is None where it stays as it was.
    """

    memories: list[dict[str, Any]]
    lines: list[str]
    known: list[str]
    inner_state: dict[str, Any] | None = None

    @classmethod
    def of(cls, closing: Closing) -> Self | None:
        return cls(**closing.drafts) if closing.drafts else None


def draft(material: Material, now: datetime) -> Draft:
    """Ask the model. ProviderUnavailable, ProviderRefused; MalformedError, also where nothing in it has a source."""
    companion = material.companion
    zone, names, payer = companion.user.zone, companion.names, Payer(companion.user_id, companion.pk)
    shown, others = parted(material.messages, material.room)
    talk = talk_of(companion.pk, shown, zone, material.room)
    users, own = talk.texts("user"), talk.texts("companion")
    known = neighbours(companion.pk, users, answers=own, now=now, zone=zone, payer=payer, names=names)
    summary = material.session.summary if others else ""
    own_texts, their_texts = _texts(material.self_concept), _texts(material.user_profile)
    inner = material.felt_before
    request = ending_request(talk, known, summary, own_texts, their_texts, names, zone=zone, inner=inner)
    with charged(payer, ModelCall.Purpose.CLOSING) as charge:
        ending = ask("ending", request, Ending)
    whole = Talk([*talk.lines, *talk_of(companion.pk, others, zone, material.room).lines])
    return _checked(material, ending, whole, len(shown), known, charge.calls[-1].pk)


def parted(messages: Sequence[Message], tokens: int) -> tuple[list[Message], list[Message]]:
    """What is shown of a session: all that is not learnt from, and the newest of the rest; and what is not."""
    left = tokens - size([one for one in messages if not one.is_learnt])
    older: set[UUID] = set()
    for one in (one for one in reversed(messages) if one.is_learnt):
        left -= size([one])
        if left < 0:
            older.add(one.pk)
    return [one for one in messages if one.pk not in older], [one for one in messages if one.pk in older]


def _checked(
    material: Material, ending: Ending, whole: Talk, shown: int, known: Sequence[Memory], call_id: int
) -> Draft:
    """What of the answer stands on what was said."""
    names = material.companion.names

    def sound(sentences: list[Sentence], earlier: Revision | None) -> Sentences:
        told = without_echoes(traced(sentences, whole, shown), whole, names.values())
        return grounded(told, whole, earlier.sentences if earlier else [], names)

    diary = sound(ending.diary, None)
    if not diary:
        raise MalformedError("No sentence of the diary stands on what was said")
    own, theirs = material.self_concept, material.user_profile
    learnt = {one.pk for one in material.messages if one.is_learnt}
    return Draft(
        title=one_line(redacted(ending.title, secrets_in(line.text for line in whole.lines))),
        diary=diary,
        emotion=ending.emotion,
        intensity=ending.intensity,
        self_concept=sound(ending.self_concept, own) or (own.sentences if own else []),
        user_profile=sound(ending.user_profile, theirs) or (theirs.sentences if theirs else []),
        memories=[one.model_dump(mode="json") for one in ending.memories if is_new(one, whole, learnt)],
        lines=[str(line.message_id) for line in whole.lines[:shown]],
        known=[mark(one) for one in known],
        call_id=call_id,
        inner_state=_felt(material, ending, whole),
    )


def _felt(material: Material, ending: Ending, whole: Talk) -> dict[str, Any] | None:
    """The inner state, if one was asked for and given, and some of it stands on what was said."""
    answer, before = ending.inner_state, material.felt_before
    if answer is None or not before:
        return None
    text = keep_grounded(answer.text, whole, before, material.companion.names.values())
    return answer.model_dump(mode="json") | {"text": text} if text else None


def mark(memory: Memory) -> str:
    """Which memory it is, and what it says."""
    return f"{memory.pk} {crc32(memory.text.encode()):08x}"


def is_new(learnt: Learnt, whole: Talk, before: set[UUID]) -> bool:
    """Whether it comes from something that was not learnt from yet."""
    numbers = [number for number in learnt.sources if 1 <= number <= len(whole.lines)]
    return any(whole[number].message_id not in before for number in numbers)


def _texts(revision: Revision | None) -> list[str]:
    return [one["text"] for one in revision.sentences] if revision else []


MOST_SOURCES = 5


def traced(sentences: list[Sentence], whole: Talk, shown: int) -> list[Sentence]:
    """The sentences, those without a source with the lines after the first `shown` that hold most of their words.

    Whether these truly hold what the sentence says is for the guards to see.
    """
    held = {number: set(terms(whole[number].text)) for number in range(shown + 1, len(whole.lines) + 1)}
    return [
        one if one.sources else one.model_copy(update={"sources": _sources(set(terms(one.text)), held)})
        for one in sentences
    ]


def _sources(wanted: set[str], held: dict[int, set[str]]) -> list[int]:
    """The line that holds most of the words, then the one that holds most of what is left, and so on."""
    found: list[int] = []
    while held and len(found) < MOST_SOURCES:
        best = max(held, key=lambda number: len(wanted & held[number]))
        if not wanted & held[best]:
            break
        found.append(best)
        wanted = wanted - held[best]
    return sorted(found)
