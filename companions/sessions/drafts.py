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
from companions.sessions.transcript import (
    build_talk,
    fingerprint,
    measure,
    measure_room,
    select_messages,
    select_visible,
)
from memory.learning.answers import Ending, Learnt, Sentence
from memory.learning.diary import Sentences, Written
from memory.learning.evidence import without_echoes
from memory.learning.grounding import grounded
from memory.learning.neighbours import find_neighbours, known_to
from memory.learning.requests import render_ending_request
from memory.learning.revisions import current
from memory.learning.secrets import redacted, secrets_in
from memory.learning.talk import Talk
from memory.models import Memory, Revision
from memory.recall.traits import terms
from providers.chat.structured import ask
from providers.errors import MalformedError
from text.strings import one_line

MAX_SOURCES = 5  # of a sentence that was written from a summary


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
        return [message for message in self.messages if not message.is_learnt]

    @property
    def is_worth_telling(self) -> bool:
        """Whether the user has said something that may be told."""
        return any(message.role == Message.Role.USER for message in self.messages)

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
    def seen(self) -> list[str]:
        rows = (self.self_concept, self.user_profile, self.inner_state)
        summary = f"{crc32(self.session.summary.encode()):08x}"
        return [*fingerprint(self.messages), *(str(row.pk) for row in rows if row), summary]

    @property
    def room(self) -> int:
        earlier = [revision.text for revision in (self.self_concept, self.user_profile) if revision]
        return measure_room(self.session.summary, self.state_before, *earlier)


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


def write_draft(material: Material, now: datetime) -> Draft:
    """Ask the model. ProviderUnavailable, ProviderRefused; MalformedError, also where nothing in it has a source."""
    companion = material.companion
    zone, names, payer = companion.user.zone, companion.names, Payer(companion.user_id, companion.pk)
    shown, others = split_at_room(material.messages, material.room)
    talk = build_talk(companion.pk, shown, zone, material.room)
    known = find_neighbours(
        companion.pk,
        talk.texts("user"),
        answers=talk.texts("companion"),
        now=now,
        zone=zone,
        payer=payer,
        names=names,
    )
    own, theirs = (
        [sentence["text"] for sentence in revision.sentences] if revision else []
        for revision in (material.self_concept, material.user_profile)
    )
    summary, inner = material.session.summary if others else "", material.state_before
    request = render_ending_request(talk, known, summary, own, theirs, names, zone=zone, inner=inner)
    with charged(payer, ModelCall.Purpose.CLOSING) as charge:
        ending = ask("ending", request, Ending)
    whole = Talk([*talk.lines, *build_talk(companion.pk, others, zone, material.room).lines])
    return _keep_supported(material, ending, whole, len(shown), known, charge.calls[-1].pk)


def split_at_room(messages: Sequence[Message], tokens: int) -> tuple[list[Message], list[Message]]:
    """Return what is shown of a session, all that is not learnt from and the newest of the rest; and what is not."""
    left = tokens - measure([message for message in messages if not message.is_learnt])
    older: set[UUID] = set()
    for message in reversed(messages):
        if message.is_learnt:
            left -= measure([message])
            if left < 0:
                older.add(message.pk)
    shown = [message for message in messages if message.pk not in older]
    return shown, [message for message in messages if message.pk in older]


def _keep_supported(
    material: Material, ending: Ending, whole: Talk, shown: int, known: Sequence[Memory], call_id: int
) -> Draft:
    """Return as a draft what of the answer stands on what was said."""
    names = material.companion.names

    def keep(sentences: list[Sentence], earlier: Revision | None) -> Sentences:
        own = without_echoes(find_sources(sentences, whole, shown), whole, names.values())
        return grounded(own, whole, earlier.sentences if earlier else [], names)

    diary = keep(ending.diary, None)
    if not diary:
        raise MalformedError("No sentence of the diary stands on what was said")
    before = material.state_before
    inner_state: dict[str, Any] | None = None
    if ending.inner_state and before:  # it was asked for, and given
        text = keep_grounded(ending.inner_state.text, whole, before, names.values())
        inner_state = ending.inner_state.model_dump(mode="json") | {"text": text} if text else None
    own, theirs = material.self_concept, material.user_profile
    learnt = {message.pk for message in material.messages if message.is_learnt}
    return Draft(
        title=one_line(redacted(ending.title, secrets_in(line.text for line in whole.lines))),
        diary=diary,
        emotion=ending.emotion,
        intensity=ending.intensity,
        self_concept=keep(ending.self_concept, own) or (own.sentences if own else []),
        user_profile=keep(ending.user_profile, theirs) or (theirs.sentences if theirs else []),
        memories=[
            memory.model_dump(mode="json") for memory in ending.memories if is_new(memory, whole, learnt)
        ],
        lines=[str(line.message_id) for line in whole.lines[:shown]],
        known=[fingerprint_memory(memory) for memory in known],
        call_id=call_id,
        inner_state=inner_state,
    )


def find_sources(sentences: list[Sentence], whole: Talk, shown: int) -> list[Sentence]:
    """Return the sentences; one without a source, as it was written from a summary, gets lines after the first `shown`
    that hold most of its words: the line with most of them, then the one with most of what is left, and so on.

    Whether these truly hold what the sentence says is for the guards to see.
    """
    words_of = {number: set(terms(whole[number].text)) for number in range(shown + 1, len(whole.lines) + 1)}

    def find(wanted: set[str]) -> list[int]:
        found: list[int] = []
        while words_of and len(found) < MAX_SOURCES:
            best = max(words_of, key=lambda number: len(wanted & words_of[number]))
            if not wanted & words_of[best]:
                break
            found.append(best)
            wanted = wanted - words_of[best]
        return sorted(found)

    return [
        sentence
        if sentence.sources
        else sentence.model_copy(update={"sources": find(set(terms(sentence.text)))})
        for sentence in sentences
    ]


def fingerprint_memory(memory: Memory) -> str:
    """Return which memory it is, and what it says."""
    return f"{memory.pk} {crc32(memory.text.encode()):08x}"


def load_known(companion_id: UUID, draft: Draft) -> list[Memory] | None:
    """Return what the model was shown beside the talk, by its numbers; None where some may not be shown any more."""
    memories = known_to(companion_id).filter(pk__in=[known.split()[0] for known in draft.known])
    there = {fingerprint_memory(memory): memory for memory in memories}
    return [there[known] for known in draft.known] if there.keys() >= {*draft.known} else None


def is_new(learnt: Learnt, whole: Talk, before: set[UUID]) -> bool:
    """Whether it comes from something that was not learnt from yet."""
    numbers = [number for number in learnt.sources if 1 <= number <= len(whole.lines)]
    return any(whole[number].message_id not in before for number in numbers)
