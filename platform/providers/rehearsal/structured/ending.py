"""The answer about a whole session as it ends: title, diary, self-concept, profile, and what is to be kept."""

import re
from collections.abc import Iterable
from typing import Any

from providers.rehearsal.structured import digest, feelings, reflection
from providers.rehearsal.structured.learning import CHANGE, SAME, changed, memories, statements
from providers.rehearsal.structured.reading import Known, Material, is_chinese
from providers.rehearsal.structured.sentences import MARKS, Sentence, about, cited, likeness, sentences

MOST_SENTENCES = 20
MOST_DIARY, MOST_EARLIER, MOST_OF_SELF, MOST_OF_USER = 5, 2, 2, 3
TITLE_WORDS, TITLE_CHARACTERS = 7, 16
OF_SELF = re.compile(
    r"(?i)^\W*I(?:'m| am| like| love| enjoy| believe| prefer| feel| think| want| hope| find| care)\b"
    r"|^\W*我(?:是|喜欢|觉得|相信|想|希望|认为|爱|很|一直)"
)
OWN = re.compile(r"\bI\b|我")
YOU = re.compile(r"(?i)\byou(?:r|rs)?\b|你|您")

Entry = dict[str, Any]


def answer(material: Material) -> dict[str, Any]:
    """The ending, in the form that is asked for."""
    emotion, intensity = feelings.emotion(" ".join(line.text for line in material.said if line.is_user))
    ending = {
        "summary": digest.summary(material),
        "memories": memories(material),
        "title": _title(material),
        "diary": _diary(material),
        "emotion": emotion,
        "intensity": intensity,
        "self_concept": _self_concept(material),
        "user_profile": _profile(material),
    }
    return ending | ({"inner_state": reflection.answer(material)} if material.inner else {})


def _title(material: Material) -> str:
    telling = digest.most_telling(material, 40)
    words = max(telling, key=_as_title).text if telling else material.summary
    if is_chinese(words):
        return words[:TITLE_CHARACTERS].strip(MARKS) or "…"
    return " ".join(words.split()[:TITLE_WORDS])[:100].strip(MARKS) or "…"


def _as_title(sentence: Sentence) -> tuple[bool, bool, float]:
    return sentence.line.is_user and sentence.is_statement, sentence.line.is_user, sentence.weight


def _diary(material: Material) -> list[Entry]:
    earlier = [_entry(text[:380]) for text in digest.earlier(material)[-MOST_EARLIER:]]
    telling = digest.most_telling(material, MOST_DIARY - len(earlier))
    own = [_entry(_noted(sentence), [sentence.line.number]) for sentence in telling]
    return earlier + own or [_entry("我们在一起。" if material.is_chinese else "We were together.")]


def _noted(sentence: Sentence) -> str:
    name, text, is_user = sentence.line.name, sentence.text, sentence.line.is_user
    if is_chinese(text):
        return f"{name}告诉我：{cited(text)}" if is_user else f"我说：{cited(text)}"
    return f"{name} told me: {cited(text)}" if is_user else f"I said: {cited(text)}"


def _self_concept(material: Material) -> list[Entry]:
    """The earlier sentences, and of what the companion said the two that tell most of itself; else what it was told."""
    own = [one.first for one in statements(material, is_user=False) if OWN.search(one.first.text)]
    new = [one for one in own if not _same(one, material.self_concept)]
    chosen = sorted(new, key=_of_self, reverse=True)[:MOST_OF_SELF]
    new_entries = [_entry(one.text, [one.line.number]) for one in chosen] or _heard(material)
    return _latest(_kept(material.self_concept), new_entries)


def _heard(material: Material) -> list[Entry]:
    """What tells most of all that the companion was told and has not written down yet, in its own words around it."""
    known = {one.text for one in material.self_concept}
    of_user = [one for line in material.said if line.is_user for one in sentences(line)]
    new = [one for one in of_user if _as_heard(one) not in known]
    ranked = sorted(new, key=lambda one: (one.is_statement, one.weight), reverse=True)
    return [_entry(_as_heard(one), [one.line.number]) for one in ranked[:1]]


def _as_heard(sentence: Sentence) -> str:
    name, text = sentence.line.name, sentence.text
    return (
        f"我记得{name}说：{cited(text)}"
        if is_chinese(text)
        else f"I keep in mind what {name} said: {cited(text)}"
    )


def _of_self(sentence: Sentence) -> tuple[bool, bool, float]:
    return bool(OF_SELF.search(sentence.text)), not YOU.search(sentence.text), sentence.weight


def _profile(material: Material) -> list[Entry]:
    said = [one.first for one in statements(material, is_user=True)]
    new = [one for one in said if not _same(one, material.profile)]
    ranked = sorted(new, key=lambda one: (not CHANGE.search(one.text), -one.weight))
    chosen = sorted(ranked[:MOST_OF_USER], key=lambda one: one.line.number)
    changes = [one for one in chosen if CHANGE.search(one.text)]
    instead = {before.number: one for one in changes if (before := changed(one, material.profile))}
    kept = [_known(instead.get(known.number), known) for known in material.profile]
    more = [one for one in chosen if one not in instead.values()]
    return _latest(kept, (_entry(_of_user(one), [one.line.number]) for one in more))


def _of_user(sentence: Sentence) -> str:
    name, text = sentence.line.name, sentence.text
    return f"{name}说自己：{cited(text)}" if is_chinese(text) else f"{name} says: {cited(text)}"


def _known(change: Sentence | None, known: Known) -> Entry:
    if change is None:
        return _entry(known.text, [], known.number)
    return _entry(_of_user(change), [change.line.number], known.number)


def _same(sentence: Sentence, known: list[Known]) -> bool:
    return any(likeness(sentence.terms, about(one.text, {sentence.line.name})) >= SAME for one in known)


def _kept(known: list[Known]) -> list[Entry]:
    return [_entry(one.text, [], one.number) for one in known]


def _latest(kept: list[Entry], new: Iterable[Entry]) -> list[Entry]:
    return [*kept, *new][-MOST_SENTENCES:]


def _entry(text: str, sources: list[int] | None = None, keeps: int | None = None) -> Entry:
    return {"text": text, "sources": sources or [], "keeps": keeps}
