"""The answer about what is known, by night: what says the same, what contradicts, what comes back, how goals stand."""

import re
from collections import defaultdict
from itertools import combinations
from typing import Any

from providers.rehearsal.structured import feelings
from providers.rehearsal.structured.reading import Known, Material, is_chinese
from providers.rehearsal.structured.sentences import QUESTION, about, likeness

NEAR, AGAINST, RELATED = 0.75, 0.4, 0.2
MOST_COMPARED = 200
MOST_INSIGHTS, LEAST_MEMORIES = 3, 3
TOLD = re.compile(r"^(?P<who>.{1,60}?)(?: said: |说：)“(?P<text>.*)”$", re.DOTALL)
NOT = re.compile(
    r"(?i)\b(?:do|does|did|is|are|was|were|can|could|will|would|have|has)(?:n't|n’t| not)\b|\bcan't\b|\bnot\b|\bnever\b"
    r"|\bno longer\b|\bany ?more\b|不再|不|没有|没|从不"
)
DISLIKE = re.compile(r"(?i)\b(?:hate|dislike|can't stand)s?\b|讨厌")
STANDS = [
    (
        "given_up",
        0,
        re.compile(r"(?i)\b(?:gave up|given up|no longer want|cancel+ed|dropped)\b|放弃|取消|不想再"),
    ),
    (
        "done",
        100,
        re.compile(
            r"(?i)\b(?:finished|completed|achieved|done with|passed|graduated)\b|完成|做完|实现|毕业|通过了"
        ),
    ),
    (
        "under_way",
        30,
        re.compile(r"(?i)\b(?:started|began|begun|working on|signed up|practi[sc]ing)\b|开始|正在|报名|着手"),
    ),
]


class _Memory:
    """A known memory, with what it is about."""

    def __init__(self, known: Known) -> None:
        told = TOLD.match(known.text)
        self.number, self.kind = known.number, known.kind
        self.who, self.text = (told["who"], told["text"]) if told else ("", known.text)
        self.is_denied = bool(NOT.search(self.text)) != bool(DISLIKE.search(self.text))
        self.terms = about(DISLIKE.sub("", NOT.sub("", self.text)), {self.who})
        self.digits = set(re.findall(r"\d+", self.text))


def answer(material: Material) -> dict[str, Any]:
    """The night's work, in the form that is asked for."""
    known = [_Memory(one) for one in material.known[:MOST_COMPARED]]
    told = [one for one in known if not QUESTION.search(one.text)]
    return {
        "merges": _merges(told),
        "contradictions": _contradictions(told),
        "insights": _insights(told),
        "reviews": _reviews(material.pursuits, told),
    }


def _merges(known: list[_Memory]) -> list[dict[str, Any]]:
    merges: dict[int, list[int]] = defaultdict(list)
    merged: set[int] = set()
    for one, other in combinations(known, 2):
        is_same = one.who == other.who and one.is_denied == other.is_denied and one.digits == other.digits
        if is_same and not merged & {one.number, other.number} and likeness(one.terms, other.terms) >= NEAR:
            merges[one.number].append(other.number)
            merged.add(other.number)
    return [{"keep": keep, "others": others} for keep, others in merges.items()]


def _contradictions(known: list[_Memory]) -> list[dict[str, int]]:
    return [
        {"a": one.number, "b": other.number}
        for one, other in combinations(known, 2)
        if one.who == other.who
        and one.is_denied != other.is_denied
        and likeness(one.terms, other.terms) >= AGAINST
    ]


def _insights(known: list[_Memory]) -> list[dict[str, Any]]:
    """What three memories or more come back to, each of them in one insight at most."""
    drawn = [one for one in known if one.kind == "insight"]
    of: dict[str, list[_Memory]] = defaultdict(list)
    for one in known:
        for term in one.terms if one.kind != "insight" else ():
            of[term].append(one)
    insights: list[dict[str, Any]] = []
    used: set[int] = set()
    for term, memories in sorted(of.items(), key=lambda pair: (-len(pair[1]), -len(pair[0]), pair[0])):
        word, numbers = _word(term, memories[0].text), {one.number for one in memories}
        is_new = word and not used & numbers and not any(word in one.text for one in drawn)
        if is_new and len(memories) >= LEAST_MEMORIES and len(insights) < MOST_INSIGHTS:
            insights.append({"text": _insight(word, memories), "from": [one.number for one in memories]})
            used |= numbers
    return insights


def _word(term: str, text: str) -> str:
    """The term as it stands in the text; empty for one of a feeling, which tells nothing of its own."""
    found = re.search(rf"{re.escape(term)}[a-z]*", text, re.IGNORECASE)
    is_feeling = found and (feelings.JOYS.search(found[0]) or feelings.AVERSIONS.search(found[0]))
    return found[0] if found and not is_feeling and len(found[0]) > 1 else ""


def _insight(word: str, memories: list[_Memory]) -> str:
    speakers = {one.who for one in memories}
    who = speakers.pop() if len(speakers) == 1 else ""
    if is_chinese(memories[0].text):
        return f"{who}一再说到“{word}”。" if who else f"“{word}”一再被说到。"
    return (
        f"{who} comes back to “{word}” again and again." if who else f"“{word}” comes back again and again."
    )


def _reviews(pursuits: list[Known], known: list[_Memory]) -> list[dict[str, Any]]:
    reviews = []
    for pursuit in pursuits:
        goal = _Memory(pursuit)
        told = [
            one.text for one in known if one.text != goal.text and likeness(one.terms, goal.terms) >= RELATED
        ]
        stands = next(
            ((status, share) for status, share, words in STANDS if words.search(" ".join(told))), None
        )
        if stands:
            reviews.append({"of": pursuit.number, "status": stands[0], "progress": stands[1]})
    return reviews
