"""Drafting the parts of a session's end, one model call each: its diary, its facts, what the two are thought to be."""

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from accounts.models import ModelCall
from accounts.usage import Payer, charged
from companions.life.reflection import keep_grounded
from companions.models import Message
from companions.sessions.drafts import (
    DiaryDraft,
    FactsDraft,
    Material,
    UnderstandingDraft,
    fingerprint_memory,
    load_known,
    see_diary,
    see_understanding,
)
from companions.sessions.transcript import build_talk, fingerprint_words, measure
from memory.learning.answers import Diary, Facts, Sentence, Understanding
from memory.learning.contradictions import find_pairs
from memory.learning.diary import Sentences
from memory.learning.evidence import without_echoes
from memory.learning.grounding import grounded, tells_what_was_said
from memory.learning.neighbours import find_neighbours
from memory.learning.requests import (
    render_diary_request,
    render_facts_request,
    render_understanding_request,
)
from memory.learning.revisions import apply_edits
from memory.learning.secrets import redacted, secrets_in
from memory.learning.sincerity import is_asked_to_be_forgotten
from memory.learning.talk import Talk
from memory.models import Revision
from memory.recall.traits import terms
from providers.chat.structured import ask
from providers.errors import MalformedError
from text.strings import one_line

MAX_SOURCES = 5  # of a sentence that was written from a summary
MAX_FELT_SOURCES = 50  # of a sentence that tells what the companion feels, and rests on all that was said


def draft_diary(material: Material, now: datetime) -> DiaryDraft:
    """Ask for the diary. ProviderUnavailable, ProviderRefused; MalformedError, also where nothing in it was said."""
    companion, names = material.companion, material.companion.names
    shown, others = split_at_room(material.messages, material.room)
    zone, room = companion.user.zone, material.room
    talk = build_talk(companion.pk, shown, zone, room)
    inner = material.state_before
    request = render_diary_request(
        talk,
        material.session.summary if others else "",
        names,
        persona=material.persona,
        before=material.entry_before,
        inner=inner,
    )
    with charged(Payer(companion.user_id, companion.pk), ModelCall.Purpose.CLOSING) as charge:
        answer = ask("diary", request, Diary)
    whole = Talk([*talk.lines, *build_talk(companion.pk, others, zone, room).lines])
    diary = _keep_told(answer.diary, whole, len(shown), material)
    if not diary:
        raise MalformedError("No sentence of the diary stands on what was said")
    felt = answer.inner_state if inner else None  # else it was not asked for
    text = keep_grounded(felt.text, whole, f"{inner}\n{material.persona}", names.values()) if felt else ""
    return DiaryDraft(
        title=one_line(redacted(answer.title, secrets_in(line.text for line in whole.lines))),
        diary=diary,
        emotion=answer.emotion,
        intensity=answer.intensity,
        lines=[str(message.pk) for message in shown],
        call_id=charge.calls[-1].pk,
        seen=see_diary(material),
        inner_state=felt.model_dump(mode="json") | {"text": text} if felt and text else None,
        felt_before=str(material.inner_state.pk) if material.inner_state else None,
    )


def _keep_told(sentences: Sequence[Sentence], whole: Talk, shown: int, material: Material) -> Sentences:
    """Return those sentences of the diary that name nothing that was not said, each with what it rests on."""
    names = material.companion.names
    sourced = find_sources(sentences, whole, shown)
    own = without_echoes(sourced, whole, names.values())
    known, called = [material.persona], list(names.values())
    told = [
        sentence
        for sentence in own
        if tells_what_was_said(sentence.text, whole, known, called)
        and not is_asked_to_be_forgotten(sentence.text, whole, called)
    ]
    return grounded(told, whole, [], names, known)


def draft_facts(material: Material, now: datetime) -> FactsDraft:
    """Ask for the facts of what nobody has learnt from yet. ProviderUnavailable, ProviderRefused, MalformedError."""
    companion, names = material.companion, material.companion.names
    zone, payer = companion.user.zone, Payer(companion.user_id, companion.pk)
    messages = material.unlearnt
    talk = build_talk(companion.pk, messages, zone, material.room)
    users, own = talk.texts("user"), talk.texts("companion")
    known = find_neighbours(companion.pk, users, answers=own, now=now, zone=zone, payer=payer, names=names)
    with charged(payer, ModelCall.Purpose.CLOSING) as charge:
        answer = ask("facts", render_facts_request(talk, known, names, zone=zone), Facts)
    return FactsDraft(
        memories=[memory.model_dump(mode="json") for memory in answer.memories],
        unreadable=answer.unreadable,
        lines=[str(message.pk) for message in messages],
        known=[fingerprint_memory(memory) for memory in known],
        call_id=charge.calls[-1].pk,
        seen=fingerprint_words(messages),
    )


def draft_understanding(material: Material, facts: FactsDraft | None, now: datetime) -> UnderstandingDraft:
    """Ask what changes in what the two are thought to be, and what the facts contradict, where that is in question.

    ProviderUnavailable, ProviderRefused, MalformedError.
    """
    companion, names = material.companion, material.companion.names
    zone, payer = companion.user.zone, Payer(companion.user_id, companion.pk)
    shown, _others = split_at_room(material.messages, material.room)
    talk = build_talk(companion.pk, shown, zone, material.room)
    learnt = facts.learnt if facts else []
    known = (load_known(companion.pk, facts.known) if facts else None) or []
    by_id = {str(message.pk): message for message in material.messages}
    told = [by_id[id] for id in facts.lines if id in by_id] if facts else []
    learnt_from = build_talk(companion.pk, told, zone, material.room)
    pairs = find_pairs(companion.pk, learnt, learnt_from, known, now=now, zone=zone, names=names, payer=payer)
    own, theirs = material.self_concept, material.user_profile
    request = render_understanding_request(
        talk,
        [memory.text for memory in learnt],
        _texts(own),
        _texts(theirs),
        names,
        pairs=[(pair.memory, pair.text) for pair in pairs],
        zone=zone,
    )
    with charged(payer, ModelCall.Purpose.CLOSING) as charge:
        answer = ask("understanding", request, Understanding)
    contradicted = [pairs[number - 1] for number in answer.contradictions if 1 <= number <= len(pairs)]
    return UnderstandingDraft(
        self_concept=apply_edits(own.sentences if own else [], answer.self_concept, talk, names),
        user_profile=apply_edits(theirs.sentences if theirs else [], answer.user_profile, talk, names),
        doubted=[number - 1 for number in answer.doubted if 1 <= number <= len(learnt)],
        contradicted=[(pair.place, fingerprint_memory(pair.memory)) for pair in contradicted],
        call_id=charge.calls[-1].pk,
        seen=see_understanding(material, facts),
    )


def _texts(revision: Revision | None) -> list[str]:
    return [sentence["text"] for sentence in revision.sentences] if revision else []


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


def find_sources(sentences: Collection[Sentence], whole: Talk, shown: int) -> list[Sentence]:
    """Return the sentences, each with lines that it rests on.

    One without a source, as it was written from a summary, gets lines after the first `shown` that hold most of its
    words: the line with most of them, then the one with most of what is left, and so on. One that shares no word with
    any line tells what the companion feels: it rests on all that it was shown, and goes with any of it.
    """
    words_of = {number: set(terms(whole[number].text)) for number in range(shown + 1, len(whole.lines) + 1)}
    every = list(range(1, min(len(whole.lines), MAX_FELT_SOURCES) + 1))

    def find(wanted: set[str]) -> list[int]:
        found: list[int] = []
        while words_of and len(found) < MAX_SOURCES:
            best = max(words_of, key=lambda number: len(wanted & words_of[number]))
            if not wanted & words_of[best]:
                break
            found.append(best)
            wanted = wanted - words_of[best]
        return sorted(found) or every

    return [
        sentence
        if whole.lines_of(sentence.sources)
        else sentence.model_copy(update={"sources": find(set(terms(sentence.text)))})
        for sentence in sentences
    ]
