"""A companion's self-concept and its profile of its user, as numbered revisions; the highest number is the current one.

Whoever writes one locks the companion, so that no two revisions have the same number.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from memory.language import pattern_of
from memory.learning.answers import Edit, Sentence
from memory.learning.neighbours import find_holding
from memory.learning.rules.evidence import MIN_COVERED, is_meant_by_companion, without_echoes
from memory.learning.rules.grounding import select_grounded
from memory.learning.rules.sincerity import is_asked_to_be_forgotten
from memory.learning.rules.subjects import denies, may_be_about_the_same, subject
from memory.learning.talk import Talk
from memory.models import Change, Memory, Revision
from memory.models.revision import MAX_SENTENCES, SENTENCE_CHARACTERS
from memory.recall.query import Names
from text.dates import find_days, tells_future, tells_past
from text.strings import folded, shorten

Sentences = Sequence[Mapping[str, Any]]
RECURS_OR_LASTS = pattern_of("recurs_or_lasts")
BY_PERSON = {Revision.By.USER, Revision.By.OPERATOR, Revision.By.RESTORED}


def load_current(companion_id: UUID, about: str) -> Revision | None:
    """Return the current revision, or None if nothing has been written yet."""
    return Revision.objects.of(companion_id, about).first()


def add_revision(
    companion_id: UUID,
    about: str,
    sentences: Sentences,
    by: Revision.By,
    now: datetime,
    *,
    session_id: UUID | None = None,
    call_id: int | None = None,
) -> Revision:
    """Write and return a new current revision, or return the present one if its sentences have the same texts.

    `sentences` are [{"text", "sources": ids of messages}]. At most 20 are kept, with 400 characters each, since all of
    them stand in every prompt.
    """
    before = load_current(companion_id, about)
    sentences = [
        {**sentence, "text": shorten(sentence["text"], SENTENCE_CHARACTERS)}
        for sentence in _choose_most_important(companion_id, sentences)
    ]
    texts = [sentence["text"] for sentence in sentences]
    if before and [sentence["text"] for sentence in before.sentences] == texts:
        return before
    return Revision.objects.create(
        companion_id=companion_id,
        about=about,
        number=before.number + 1 if before else 1,
        sentences=sentences,
        by=by,
        session_id=session_id,
        call_id=call_id,
        made_at=now,
    )


def _choose_most_important(companion_id: UUID, sentences: Sentences) -> Sentences:
    """Return at most 20 of the sentences, in their order: those without a source, which the person wrote, then those of
    the most important memories that hold or were replaced (see `load_holding`), and of equal ones those told last. Two
    queries if there are more than 20.

    Otherwise, what was told in the first months would leave no room for what matters years later.
    """
    if len(sentences) <= MAX_SENTENCES:
        return sentences
    behind = [{UUID(str(id)) for id in sentence.get("sources") or ()} for sentence in sentences]
    counts = Q(closed_at=None) | Q(replaced_by__isnull=False)
    telling = Memory.objects.of(companion_id).learnt().filter(counts, sources__in=set().union(*behind))
    importances: dict[UUID, int] = {}
    for message_id, importance in telling.values_list("sources", "importance"):
        importances[message_id] = max(importance, importances.get(message_id, 0))
    told_at = load_told_at(companion_id, sentences)

    def rank(place: int) -> tuple[bool, int, float]:
        at = told_at.get(sentences[place]["text"])
        importance = max((importances.get(id, 0) for id in behind[place]), default=0)
        return not behind[place], importance, at.timestamp() if at else 0.0

    kept = sorted(sorted(range(len(sentences)), key=rank, reverse=True)[:MAX_SENTENCES])
    return [sentences[place] for place in kept]


def load_told_at(companion_id: UUID, sentences: Iterable[Mapping[str, Any]]) -> dict[str, datetime]:
    """Return, by its text, when each sentence was last told, i.e. when the newest of its messages was said. Left out are
    sentences without a message. One query.
    """
    behind = {said["text"]: {UUID(str(id)) for id in said.get("sources") or ()} for said in sentences}
    ids = {id for sources in behind.values() for id in sources}
    said = Memory.objects.of(companion_id).filter(message__in=ids).values_list("message", "happened_at")
    at = dict(said)
    return {
        text: max(at[id] for id in sources if id in at)
        for text, sources in behind.items()
        if sources & at.keys()
    }


def load_holding(revision: Revision) -> list[dict[str, Any]]:
    """Return the revision's sentences as they hold now: one that only tells what a memory told that is closed by now is
    replaced by the memory that holds instead, or left out if none does. Two queries, and more if there are such.

    A model that changes a fact often leaves the sentence as it is, which would stand in every prompt against the fact.
    What the person wrote or restored since the memory was closed stays.
    """
    sentences: list[dict[str, Any]] = [dict(sentence) for sentence in revision.sentences]
    behind = {id for sentence in sentences for id in sentence.get("sources") or ()}
    merged = Change.objects.filter(companion=revision.companion_id, kind=Change.Kind.MERGED, undone_at=None)
    learnt = Memory.objects.of(revision.companion_id).learnt().filter(closed_at__isnull=False)
    closed = learnt.filter(sources__in=behind).exclude(Exists(merged.filter(others=OuterRef("pk"))))
    found = list(closed.distinct().order_by("closed_at", "pk").defer("entry"))
    told_at = load_told_at(revision.companion_id, sentences) if found else {}
    holding = find_holding(revision.companion_id, filter(None, (memory.replaced_by_id for memory in found)))
    for memory in found:
        assert memory.closed_at is not None  # noqa: S101 (it is closed)
        names = revision.companion.names.values()
        is_by_person = revision.by in BY_PERSON and revision.made_at >= memory.closed_at
        for sentence in () if is_by_person else sentences:
            at = told_at.get(sentence["text"])
            if at and at < memory.closed_at and _tells_no_more(sentence["text"], memory.text, names, at):
                after = holding.get(memory.replaced_by_id) if memory.replaced_by_id else None
                # The memory is named as well: a prompt that shows its text must go with it.
                sources = [after.pk, *after.sources.values_list("pk", flat=True)] if after else []
                sentence |= {"text": after.text if after else "", "sources": [*map(str, sources)]}
    return list({sentence["text"]: sentence for sentence in sentences if sentence["text"]}.values())


def _tells_no_more(text: str, known: str, names: Collection[str], at: datetime) -> bool:
    """Return whether hardly any telling term of the text is missing in the known one, and both deny alike."""
    told, known_terms = subject(text, names, at), subject(known, names, at)
    is_covered = bool(told) and len(told & known_terms) >= MIN_COVERED * len(told)
    return is_covered and may_be_about_the_same(text, known, names) and denies(text, at) == denies(known, at)


def is_past_plan(text: str, told_on: date, today: date) -> bool:
    """Return whether the text tells as still to come what its day has made past: a day that it names with its year, or
    with a word such as "will", and that was ahead when it was told. What recurs or only begins on its day is none.
    """
    if RECURS_OR_LASTS.search(text):
        return False
    days = [day for day in find_days(text, told_on) if day >= told_on]
    is_plan = tells_future(text) or any(str(day.year) in text for day in days)
    return bool(days) and days[-1] < today and is_plan and not tells_past(text)


def weigh_edits(
    about: str,
    earlier: Sentences,
    edits: Sequence[Edit],
    talk: Talk,
    names: Names,
    outdated: Collection[str] = (),
) -> list[dict[str, Any]]:
    """Return the edits that the talk supports, as {"do": "add", "change" or "drop", "number", "text", "sources": ids of
    messages}.

    A sentence is dropped only if a line is given for that, or if its text is `outdated`, which no line need tell; a new
    text for the self-concept needs a line of the companion's own. Nothing is kept that the user asks to have forgotten.
    """
    weighed = []
    for edit in edits:
        number = edit.number if edit.number and 1 <= edit.number <= len(earlier) else None
        keeps = number if edit.do == "change" else None
        sentence = Sentence.model_construct(text=edit.text, sources=edit.sources, keeps=keeps)
        [sentence] = without_echoes([sentence], talk, names.values())
        lines = talk.lines_of(sentence.sources)
        is_outdated = number is not None and earlier[number - 1]["text"] in outdated
        if edit.do == "drop" and number and (lines or is_outdated):
            ids = [] if is_outdated else [str(line.message_id) for line in lines]
            weighed.append({"do": "drop", "number": number, "text": "", "sources": ids})
        if edit.do not in {"add", "change"} or (keeps and edit.text == earlier[keeps - 1]["text"]):
            continue
        is_own = about == Revision.About.SELF_CONCEPT
        is_meant = not is_own or is_meant_by_companion(edit.text, lines, talk, names.values())
        if is_meant and not is_asked_to_be_forgotten(edit.text, talk, names.values()):
            do = "change" if keeps else "add"
            found = select_grounded([sentence], talk, earlier, names)
            weighed += [{"do": do, "number": keeps, **told} for told in found]
    return weighed


def apply_edits(earlier: Sentences, edits: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the earlier sentences with the weighed edits applied; those not named stay. There may be too many:
    `add_revision` chooses among them.
    """
    kept: dict[int, dict[str, Any] | None] = {n: dict(one) for n, one in enumerate(earlier, start=1)}
    added: list[dict[str, Any]] = []
    for edit in edits:
        sentence = {"text": edit["text"], "sources": edit["sources"]}
        if edit["do"] == "add":
            added.append(sentence)
        else:
            kept[edit["number"]] = sentence if edit["do"] == "change" else None
    left = [sentence for sentence in kept.values() if sentence]
    texts = {folded(sentence["text"]) for sentence in left}
    new = [sentence for sentence in added if folded(sentence["text"]) not in texts]
    return [*left, *new]


def write_texts(companion_id: UUID, about: str, texts: Sequence[str], now: datetime) -> Revision:
    """Write a revision of the user's own texts; a sentence that stays as it was keeps its sources."""
    before = load_current(companion_id, about)
    known = {sentence["text"]: sentence["sources"] for sentence in before.sentences} if before else {}
    sentences = [{"text": text, "sources": known.get(text, [])} for text in texts]
    return add_revision(companion_id, about, sentences, Revision.By.USER, now)


def restore(revision: Revision, now: datetime) -> Revision:
    """Write a new current revision with the sentences of an earlier one.

    It is not stale even if that one is: what was deleted has been taken out of the sentences.
    """
    return add_revision(revision.companion_id, revision.about, revision.sentences, Revision.By.RESTORED, now)
