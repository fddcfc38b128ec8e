"""Drafting the parts of a session's end, one model call each: its diary, its facts, a second reading of both, and what
the two are thought to be.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from accounts.models import ModelCall
from accounts.usage import Payer, charged
from companions.life.reflection import keep_grounded
from companions.models import Message
from companions.sessions.drafts import (
    DiaryDraft,
    Drafts,
    FactsDraft,
    Material,
    UnderstandingDraft,
    VerificationDraft,
    fingerprint_memory,
    load_known,
    see_diary,
    see_understanding,
    see_verification,
)
from companions.sessions.transcript import build_talk, fingerprint_words, measure
from memory.learning.answers import Diary, Edit, Facts, Sentence, Understanding
from memory.learning.contradictions import find_pairs
from memory.learning.diary import Sentences
from memory.learning.evidence import YES, Supported, find_support, without_echoes
from memory.learning.grounding import grounded, is_made_up, tells_what_was_said
from memory.learning.neighbours import find_neighbours
from memory.learning.requests import (
    Drafted,
    render_diary_request,
    render_facts_request,
    render_understanding_request,
)
from memory.learning.revisions import apply_edits
from memory.learning.secrets import redacted, secrets_in
from memory.learning.sincerity import is_asked_to_be_forgotten
from memory.learning.talk import Talk
from memory.learning.verification import ask_about, diary_key, fact_key, list_facts, retells, take_fitting
from memory.models import Revision
from memory.recall.traits import terms
from providers.chat.structured import ask
from providers.errors import MalformedError
from text.strings import folded, one_line

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
    diary = _weigh_told(answer.diary, whole, len(shown), material)
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


def _weigh_told(sentences: Sequence[Sentence], whole: Talk, shown: int, material: Material) -> Sentences:
    """Return the sentences of the diary with what they rest on, and the "doubt" whether they tell what nobody said.

    What rests on echoes alone, what is made up for all to see, and what the person asked to have forgotten, is left out.
    """
    names = material.companion.names
    known, called = [material.persona], list(names.values())
    sourced = without_echoes(find_sources(sentences, whole, shown), whole, called)
    weighed: dict[str, dict[str, Any]] = {}
    for sentence in sourced:
        lines, text = whole.lines_of(sentence.sources), redacted(sentence.text, whole.secrets)
        is_left_out = is_asked_to_be_forgotten(text, whole, called) or is_made_up(text, whole, known, called)
        if lines and not is_left_out:
            is_told = tells_what_was_said(sentence.text, whole, known, called)
            is_grounded = bool(grounded([sentence], whole, [], names, known))
            ids = [str(line.message_id) for line in lines]
            told = {"text": text, "sources": ids, "doubt": not (is_told and is_grounded)}
            weighed.setdefault(folded(text), told)
    return list(weighed.values())


def keep_told(diary: Sentences, words: Mapping[str, str]) -> Sentences:
    """Return the sentences of a diary that stand by what a second reading says, or rules where it says nothing.

    One that rejects every sentence is not believed.
    """
    read = [(sentence, words.get(diary_key(place), "")) for place, sentence in enumerate(diary)]
    told = [sentence for sentence, word in read if word == YES or not (word or sentence["doubt"])]
    told = told or [sentence for sentence in diary if not sentence["doubt"]]
    return [{"text": sentence["text"], "sources": sentence["sources"]} for sentence in told]


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


def _build_learnt(material: Material, facts: FactsDraft) -> Talk:
    """Return the talk that the facts were drawn from, by its numbers."""
    companion, by_id = material.companion, {str(message.pk): message for message in material.messages}
    told = [by_id[id] for id in facts.lines if id in by_id]
    return build_talk(companion.pk, told, companion.user.zone, material.room)


def draft_verification(material: Material, drafts: Drafts) -> VerificationDraft:
    """Ask whether facts and sentences of the diary were said and meant: of as many as one request holds, after those that
    were read before. Nobody is asked where there are none.

    ProviderUnavailable, ProviderRefused; MalformedError where nothing is left of the diary.
    """
    companion, names, facts, diary = (
        material.companion,
        material.companion.names,
        drafts.facts,
        drafts.diary,
    )
    payer = Payer(companion.user_id, companion.pk)
    known = (load_known(companion.pk, facts.known) if facts else None) or []
    learnt, learnt_from = (facts.learnt, _build_learnt(material, facts)) if facts else ([], Talk([]))
    whole = build_talk(companion.pk, material.messages, companion.user.zone, material.room)
    drafted = list_facts(learnt, learnt_from, names, known, whole)
    for place, sentence in enumerate(diary.diary if diary else []):
        lines = whole.numbers_of(map(UUID, sentence["sources"]))
        drafted.append(Drafted(diary_key(place), "diary", sentence["text"], lines))
    words = dict(drafts.verification.words) if drafts.verification else {}
    left = [sentence for sentence in drafted if sentence.key not in words]
    if left:
        with charged(payer, ModelCall.Purpose.CLOSING):
            words |= ask_about(take_fitting(left, whole, names), whole, names)
    is_whole = all(sentence.key in words for sentence in drafted)
    supports = [
        find_support(entry, learnt_from, names, known, words.get(fact_key(place)))
        for place, entry in enumerate(learnt)
    ]
    return VerificationDraft(
        words=words,
        is_whole=is_whole,
        facts=[place for place, support in enumerate(supports) if isinstance(support, Supported)],
        seen=see_verification(material, diary, facts),
    )


def draft_understanding(material: Material, drafts: Drafts, now: datetime) -> UnderstandingDraft:
    """Ask what changes in what the two are thought to be, and what the facts contradict, where that is in question.

    ProviderUnavailable, ProviderRefused, MalformedError.
    """
    companion, names, facts = material.companion, material.companion.names, drafts.facts
    zone, payer = companion.user.zone, Payer(companion.user_id, companion.pk)
    shown, _others = split_at_room(material.messages, material.room)
    talk = build_talk(companion.pk, shown, zone, material.room)
    learnt, learnt_from = (facts.learnt, _build_learnt(material, facts)) if facts else ([], Talk([]))
    known = (load_known(companion.pk, facts.known) if facts else None) or []
    pairs = find_pairs(
        companion.pk,
        learnt,
        learnt_from,
        known,
        now=now,
        zone=zone,
        names=names,
        payer=payer,
        read=drafts.words_of_facts,
    )
    own, theirs = material.self_concept, material.user_profile
    standing = drafts.verification.facts if drafts.verification else []
    request = render_understanding_request(
        talk,
        [learnt[place].text for place in standing],
        _texts(own),
        _texts(theirs),
        names,
        pairs=[(pair.memory, pair.text) for pair in pairs],
        zone=zone,
    )
    with charged(payer, ModelCall.Purpose.CLOSING) as charge:
        answer = ask("understanding", request, Understanding)
    contradicted = [pairs[number - 1] for number in answer.contradictions if 1 <= number <= len(pairs)]
    rejected = _find_rejected(drafts)

    def apply(revision: Revision | None, edits: Sequence[Edit]) -> Sentences:
        kept = [edit for edit in edits if not retells(edit.text, rejected, names.values())]
        return apply_edits(revision.sentences if revision else [], kept, talk, names)

    return UnderstandingDraft(
        self_concept=apply(own, answer.self_concept),
        user_profile=apply(theirs, answer.user_profile),
        contradicted=[(pair.place, fingerprint_memory(pair.memory)) for pair in contradicted],
        call_id=charge.calls[-1].pk,
        seen=see_understanding(material, facts),
    )


def _find_rejected(drafts: Drafts) -> list[str]:
    """Return the facts and sentences of the diary of which a second reading says that they do not stand."""
    facts = {
        fact_key(place): fact.text for place, fact in enumerate(drafts.facts.learnt if drafts.facts else [])
    }
    diary = drafts.diary.diary if drafts.diary else []
    texts = facts | {diary_key(place): str(sentence["text"]) for place, sentence in enumerate(diary)}
    return [texts[key] for key, word in drafts.words.items() if word not in {"", YES} and key in texts]


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
