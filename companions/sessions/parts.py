"""Drafts of the parts of a session's closing, one model call each: its diary, its facts, the changes to self-concept
and user profile, and the verification of all that.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any
from uuid import UUID

from accounts.limits.usage import charged
from accounts.models import ModelCall
from companions.life.reflection import keep_grounded
from companions.models import Message
from companions.sessions.drafts import (
    DiaryDraft,
    Drafts,
    FactsDraft,
    Material,
    UnderstandingDraft,
    VerificationDraft,
    fingerprint_diary,
    fingerprint_memory,
    fingerprint_understanding,
    fingerprint_verification,
    load_known,
)
from companions.sessions.transcript import fingerprint_words, measure
from memory.learning.answers import MAX_TITLE_FROM_TEXT, Diary, Edit, Facts, Sentence, Understanding
from memory.learning.contradictions import CONTRADICTS, Pair, find_contradicted, find_pairs, find_repeated
from memory.learning.diary import Sentences
from memory.learning.neighbours import find_neighbours, select_known
from memory.learning.requests import (
    DAY_PAST,
    NO_LONGER_TRUE,
    Drafted,
    render_diary_request,
    render_facts_request,
    render_understanding_request,
)
from memory.learning.revisions import apply_edits, is_past_plan, load_holding, load_told_at, weigh_edits
from memory.learning.rules.boilerplate import is_boilerplate
from memory.learning.rules.evidence import YES, is_parroted, without_echoes
from memory.learning.rules.grounding import is_made_up, is_unmentioned, select_grounded, tells_what_was_said
from memory.learning.rules.secrets import redacted, secrets_in
from memory.learning.rules.sincerity import is_asked_to_be_forgotten
from memory.learning.talk import Talk
from memory.learning.verification import ask_about, list_facts, make_key, stands, take_fitting
from memory.models import Revision
from memory.recall.traits import terms
from providers.chat.structured import ask
from providers.errors import MalformedError
from text.strings import folded, one_line, shorten

MAX_LEARNT = 40  # earlier facts that are shown beside the messages
MAX_SOURCES = 5  # of a sentence that was written from a summary
TITLE = "title"
MAX_FELT_SOURCES = 50  # of a sentence about the companion's feelings, which rests on all messages


def draft_diary(material: Material) -> DiaryDraft:
    """Ask the model for the diary and return its draft, without refusals and what only copies rules or persona.

    Raise ProviderUnavailable, ProviderRefused, and MalformedError, also if no sentence rests on a message.
    """
    companion, names = material.companion, material.names
    shown, others = split_at_room(material.messages, material.room)
    talk, zone = material.build_talk(shown), companion.user.zone
    inner = material.state_before
    request = render_diary_request(
        talk,
        material.session.summary if others else "",
        names,
        persona=material.persona,
        before=material.entry_before,
        before_on=material.before.get_day(zone) if material.before else None,
        inner=inner,
    )
    with charged(companion.payer, ModelCall.Purpose.CLOSING) as calls:
        answer = ask("diary", request, Diary)
    whole = Talk([*talk.lines, *material.build_talk(others).lines])
    rules = f"{request[0]['content']}\n{material.persona}"
    written = [sentence for sentence in answer.diary if not is_boilerplate(sentence.text, rules)]
    diary = _weigh_sentences(written, whole, len(shown), material)
    if not diary:
        raise MalformedError("No sentence of the diary stands on what was said")
    title = "" if is_boilerplate(answer.title, rules) else _keep_title(answer.title, whole, material)
    felt = answer.inner_state if inner else None  # not asked for without a previous one
    kept = f"{inner}\n{material.persona}"
    text = keep_grounded(felt.text, whole, kept, names.values(), request[0]["content"]) if felt else ""
    return DiaryDraft(
        title=one_line(redacted(title, secrets_in(line.text for line in whole.lines))),
        diary=diary,
        emotion=answer.emotion,
        intensity=answer.intensity,
        lines=[str(message.pk) for message in shown],
        call_id=calls[-1].pk,
        seen=fingerprint_diary(material),
        inner_state=felt.model_dump(mode="json") | {"text": text} if felt and text else None,
        felt_before=str(material.inner_state.pk) if material.inner_state else None,
    )


def _weigh_sentences(sentences: Sequence[Sentence], whole: Talk, shown: int, material: Material) -> Sentences:
    """Return the diary's sentences with their sources, and "doubt" if they may tell something that nobody said.

    Sentences that rest only on echoes, are obviously made up, repeat the person's "I …", or tell what the person asked
    to forget are left out.
    """
    names = material.names
    known, called = [material.persona], list(names.values())
    sourced = without_echoes(find_sources(sentences, whole, shown), whole, called)
    weighed: dict[str, dict[str, Any]] = {}
    for sentence in sourced:
        lines, text = whole.lines_of(sentence.sources), redacted(sentence.text, whole.secrets)
        is_left_out = is_asked_to_be_forgotten(text, whole, called) or is_made_up(text, whole, known, called)
        is_left_out = is_left_out or is_parroted(text, whole)
        if lines and not is_left_out:
            is_told = tells_what_was_said(sentence.text, whole, known, called)
            is_grounded = bool(select_grounded([sentence], whole, [], names, known))
            ids = [str(line.message_id) for line in lines]
            entry = {"text": text, "sources": ids, "doubt": not (is_told and is_grounded)}
            weighed.setdefault(folded(text), entry)
    return list(weighed.values())


def _keep_title(title: str, whole: Talk, material: Material) -> str:
    """Return the diary's title, or "" if it names or tells what nobody said, or what the person asked to forget. It may
    use words of its own, unlike a sentence.
    """
    names, known = material.names, [material.persona]
    called = list(names.values())
    if is_asked_to_be_forgotten(title, whole, called) or is_unmentioned(title, whole, known, called):
        return ""
    every = [number for number, _line in enumerate(whole.lines, start=1)]
    named = [Sentence(text=title, sources=every)] if title else []
    return title if select_grounded(named, whole, [], names, known) else ""


def keep_verified(draft: DiaryDraft, words: Mapping[str, str]) -> DiaryDraft:
    """Return the diary without the sentences that the verification rejects, or that are doubtful and have no verdict.

    If that would leave no sentence, keep all that are not doubtful. If there is no title or it is rejected, the
    beginning of the diary replaces it.
    """
    read = [(sentence, words.get(make_key("diary", place), "")) for place, sentence in enumerate(draft.diary)]
    kept = [sentence for sentence, word in read if word == YES or not (word or sentence["doubt"])]
    kept = kept or [sentence for sentence in draft.diary if not sentence["doubt"]]
    diary = [{"text": sentence["text"], "sources": sentence["sources"]} for sentence in kept]
    is_title_kept = (draft.title and stands(words.get(TITLE, ""))) or not diary
    title = draft.title if is_title_kept else shorten(diary[0]["text"], MAX_TITLE_FROM_TEXT)
    return replace(draft, title=title, diary=diary)


def draft_facts(material: Material, now: datetime) -> FactsDraft:
    """Ask the model for the facts in the messages not learnt from yet, and return their draft.

    Raise ProviderUnavailable, ProviderRefused, MalformedError.
    """
    companion, names = material.companion, material.names
    zone, payer = companion.user.zone, companion.payer
    messages = material.unlearnt
    talk = material.build_talk(messages)
    users, own = talk.texts("user"), talk.texts("companion")
    known = find_neighbours(companion.pk, users, answers=own, now=now, zone=zone, payer=payer, names=names)
    with charged(payer, ModelCall.Purpose.CLOSING) as calls:
        answer = ask("facts", render_facts_request(talk, known, names, zone=zone), Facts)
    return FactsDraft(
        memories=[memory.model_dump(mode="json") for memory in answer.memories],
        unreadable=answer.unreadable,
        lines=[str(message.pk) for message in messages],
        known=[fingerprint_memory(memory) for memory in known],
        call_id=calls[-1].pk,
        seen=fingerprint_words(messages),
    )


def build_learnt(material: Material, facts: FactsDraft) -> Talk:
    """Return the messages that the facts were drawn from, as a talk."""
    by_id = {str(message.pk): message for message in material.messages}
    return material.build_talk([by_id[id] for id in facts.lines if id in by_id])


def draft_understanding(material: Material, drafts: Drafts) -> UnderstandingDraft:
    """Ask the model how all that was said since the last review changes self-concept and user profile.

    Raise ProviderUnavailable, ProviderRefused, MalformedError.
    """
    companion, names = material.companion, material.names
    zone = companion.user.zone
    shown, _others = split_at_room([*material.earlier, *material.messages], material.room)
    talk = material.build_talk(shown)
    own, theirs = (
        revision.sentences if revision else [] for revision in (material.self_concept, material.user_profile)
    )
    from_shown = select_known(companion.pk).filter(sources__in=[message.pk for message in shown]).distinct()
    known = list(from_shown.defer("entry")[:MAX_LEARNT])
    learnt = list(dict.fromkeys(memory.text for memory in known))
    told_on = {
        text: at.astimezone(zone).date() for text, at in load_told_at(companion.pk, [*own, *theirs]).items()
    }
    today = max((line.said_at.date() for line in talk.lines), default=date.min)
    marks = {text: DAY_PAST for text, day in told_on.items() if is_past_plan(text, day, today)}
    marks |= dict.fromkeys(_find_untrue(material), NO_LONGER_TRUE)
    request = render_understanding_request(
        talk,
        learnt,
        [fact.text for fact in _list_facts(material, drafts) if fact.text not in learnt],
        [sentence["text"] for sentence in own],
        [sentence["text"] for sentence in theirs],
        names,
        told_on=told_on,
        marks=marks,
    )
    with charged(companion.payer, ModelCall.Purpose.CLOSING) as calls:
        answer = ask("understanding", request, Understanding)
    rules = request[0]["content"]

    def counts(edit: Edit) -> bool:
        """Return whether the edit does not only copy the rules, nor changes present knowledge by an older talk."""
        return (edit.do == "add" or not material.is_older) and (
            edit.do == "drop" or not is_boilerplate(edit.text, rules)
        )

    of_self, of_user = filter(counts, answer.self_concept), filter(counts, answer.user_profile)
    return UnderstandingDraft(
        self_concept=weigh_edits(Revision.About.SELF_CONCEPT, own, [*of_self], talk, names, marks),
        user_profile=weigh_edits(Revision.About.USER_PROFILE, theirs, [*of_user], talk, names, marks),
        known=[fingerprint_memory(memory) for memory in known],
        call_id=calls[-1].pk,
        seen=fingerprint_understanding(material, drafts.facts),
    )


def _find_untrue(material: Material) -> set[str]:
    """Return the texts of the sentences of self-concept and profile that do not hold any more."""
    revisions = [revision for revision in (material.self_concept, material.user_profile) if revision]
    texts = {sentence["text"] for revision in revisions for sentence in revision.sentences}
    return texts - {sentence["text"] for revision in revisions for sentence in load_holding(revision)}


def keep_edits(
    revision: Revision | None, edits: Sequence[Mapping[str, Any]], kind: str, words: Mapping[str, str]
) -> Sentences:
    """Return the revision's sentences after those edits that the verification does not reject.

    If it was asked about an edit that drops a sentence, its verdict must be that the sentence no longer holds.
    """
    kept = []
    for place, edit in enumerate(edits):
        word = words.get(make_key(kind, place), "")
        holds = word in ("", *CONTRADICTS) if edit["do"] == "drop" else stands(word)
        kept += [edit] if holds else []
    return apply_edits(revision.sentences if revision else [], kept)


def draft_verification(material: Material, drafts: Drafts, now: datetime) -> VerificationDraft:
    """Ask the model whether the drafts were said and meant, and which memories the facts contradict or repeat.

    One call reads as many of the unread sentences as fit into a request, so it may take several calls until `is_whole`.
    Raise ProviderUnavailable, ProviderRefused.
    """
    companion, names, facts = material.companion, material.names, drafts.facts
    zone, payer = companion.user.zone, companion.payer
    whole = material.build_talk([*material.earlier, *material.messages])
    pairs: list[Pair] = []
    if facts:
        pairs = find_pairs(
            companion.pk,
            facts.learnt,
            build_learnt(material, facts),
            load_known(companion.pk, facts.known) or [],
            now=now,
            zone=zone,
            names=names,
            payer=payer,
        )
    drafted = [
        *_list_facts(material, drafts, whole),
        *_list_diary(drafts, whole),
        *_list_edits(material, drafts, whole),
        *(pair.drafted for pair in pairs),
    ]
    words = dict(drafts.words)
    left = [sentence for sentence in drafted if sentence.key not in words]
    if left:
        with charged(payer, ModelCall.Purpose.CLOSING):
            words |= ask_about(take_fitting(left, whole, names), whole, names)
    return VerificationDraft(
        words=words,
        is_whole=all(sentence.key in words for sentence in drafted),
        contradicted=_fingerprint_pairs(find_contradicted(pairs, words)),
        repeated=_fingerprint_pairs(find_repeated(pairs, words)),
        seen=fingerprint_verification(material, drafts),
    )


def _fingerprint_pairs(pairs: Sequence[Pair]) -> list[tuple[int, str]]:
    return [(pair.place, fingerprint_memory(pair.memory)) for pair in pairs]


def _list_facts(material: Material, drafts: Drafts, whole: Talk | None = None) -> list[Drafted]:
    """Return the drafted facts that the verification may judge."""
    companion, facts = material.companion, drafts.facts
    if facts is None:
        return []
    known = load_known(companion.pk, facts.known) or []
    return list_facts(facts.learnt, build_learnt(material, facts), material.names, known, whole)


def _list_diary(drafts: Drafts, whole: Talk) -> list[Drafted]:
    """Return the diary's sentences, and its title if it has one, whose sources are those of all sentences."""
    if drafts.diary is None:
        return []
    listed = [
        Drafted(
            make_key("diary", place),
            "diary",
            sentence["text"],
            whole.numbers_of(map(UUID, sentence["sources"])),
        )
        for place, sentence in enumerate(drafts.diary.diary)
    ]
    lines = sorted({line for sentence in listed for line in sentence.lines})
    title = drafts.diary.title
    return [*listed, *([Drafted(TITLE, "diary", title, lines)] if title else [])]


def _list_edits(material: Material, drafts: Drafts, whole: Talk) -> list[Drafted]:
    """Return the sentences that the edits add, change or drop; not those dropped because they are outdated, which have no
    sources, or because the person asked to forget them: these need no verification.
    """
    understanding = drafts.understanding
    if understanding is None:
        return []
    parts = (
        ("self", material.self_concept, understanding.self_concept),
        ("profile", material.user_profile, understanding.user_profile),
    )
    listed = []
    for kind, revision, edits in parts:
        for place, edit in enumerate(edits):
            key, lines = make_key(kind, place), whole.numbers_of(map(UUID, edit["sources"]))
            before = revision.sentences[edit["number"] - 1]["text"] if revision and edit["number"] else ""
            if edit["do"] != "drop":
                listed.append(Drafted(key, kind, edit["text"], lines, before=before))
            elif lines and not is_asked_to_be_forgotten(before, whole, material.names.values()):
                listed.append(Drafted(key, "earlier", before, lines))
    return listed


def split_at_room(messages: Sequence[Message], tokens: int) -> tuple[list[Message], list[Message]]:
    """Return the messages that a model is shown (all unlearnt ones, and the newest others that fit), and the rest."""
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
    """Return the sentences, each with lines of `whole` as its sources.

    A sentence without a source, written from a summary, gets those lines after the first `shown` that have most of its
    words: the line with the most, then the one with the most of the remaining words, and so on. A sentence that shares
    no word with any of them tells what the companion feels: its sources are all lines, up to MAX_FELT_SOURCES.
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
