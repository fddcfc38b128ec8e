"""What is to be kept of a talk, with a verdict on each thing against what is known already."""

import re
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from providers.rehearsal.structured import feelings
from providers.rehearsal.structured.reading import Known, Material, is_chinese
from providers.rehearsal.structured.sentences import (
    Sentence,
    about,
    cited,
    likeness,
    sentences,
    shared,
    subject,
)

MOST_KEPT = 6
SAME, RELATED = 0.6, 0.3
CHANGE = re.compile(
    r"(?i)\b(?:any ?more|no longer|now (?:prefer|like|love|live|work|want)\w*|instead|used to|changed my mind|switched)\b"
    r"|不再|现在(?:更|喜欢|住|想)|改(?:成|为|变|主意)|以前|换成|而不是"
)
WRONG = re.compile(
    r"(?i)\b(?:forget (?:that|what|about)|(?:is|was)(?:n't| not) true|I was wrong)\b|忘掉|忘了我说|不是真的|我说错了"
)
UNSURE = re.compile(r"(?i)\b(?:maybe|might|perhaps|probably|not sure|I guess)\b|可能|也许|大概|或许|说不定")
STRONG = re.compile(
    r"(?i)\b(?:very|really|so much|always|never|most|best|important)\b|非常|特别|最|一直|从来|重要"
)
IMPORTANCE = {"promise": 7, "relationship": 7, "goal": 6, "preference": 6, "event": 5, "fact": 5}
DAYS_AGO = [
    (re.compile(r"(?i)\b(?:yesterday|last night)\b|昨天|昨晚"), 1),
    (re.compile(r"(?i)\bthe day before yesterday\b|前天"), 2),
]
ISO = re.compile(r"\b(\d{4}-\d\d-\d\d)\b")


@dataclass
class Kept:
    """Sentences that say the same, of one speaker."""

    said: list[Sentence] = field(default_factory=list)

    @property
    def first(self) -> Sentence:
        return self.said[0]


def statements(material: Material, *, is_user: bool) -> list[Kept]:
    """What one side says of itself, what says the same together, in the order of the talk."""
    kept: list[Kept] = []
    for line in material.said:
        for sentence in sentences(line) if line.is_user == is_user else []:
            if not sentence.is_statement:
                continue
            same = next((one for one in kept if likeness(one.first.terms, sentence.terms) >= SAME), None)
            same.said.append(sentence) if same else kept.append(Kept([sentence]))
    return kept


def memories(material: Material) -> list[dict[str, Any]]:
    """What is to be kept, at most six things, in the order of the talk."""
    own = [one for one in statements(material, is_user=False) if one.first.kind]
    ranked = sorted(statements(material, is_user=True) + own, key=lambda one: -one.first.weight)
    chosen = sorted(ranked[:MOST_KEPT], key=lambda one: one.first.line.number)
    return [_learnt(one, material.known) for one in chosen]


def told(sentence: Sentence) -> str:
    """The sentence with who said it."""
    return said_by(sentence.line.name, sentence.text)


def said_by(name: str, text: str) -> str:
    """The text as a quotation of that speaker."""
    return f"{name}说：{cited(text)}" if is_chinese(text) else f"{name} said: {cited(text)}"


def _learnt(one: Kept, known: list[Known]) -> dict[str, Any]:
    sentence, text = one.first, one.first.text
    verdict, of = _verdict(sentence, known)
    importance = IMPORTANCE[sentence.kind] + len(STRONG.findall(text)[:2]) + len(one.said[1:3])
    return {
        "verdict": verdict,
        "of": of,
        "kind": sentence.kind,
        "text": told(sentence),
        "sources": list(dict.fromkeys(said.line.number for said in one.said))[:20],
        "quotes": list(dict.fromkeys(said.text for said in one.said))[:5],
        "happened_on": happened_on(sentence),
        "importance": min(importance, 10),
        "joy": feelings.joy(text),
        "aversion": feelings.aversion(text),
        "confidence": 0.5 if UNSURE.search(text) else 0.9,
    }


def _verdict(sentence: Sentence, known: list[Known]) -> tuple[str, int | None]:
    changes = "retract" if WRONG.search(sentence.text) else "revise" if CHANGE.search(sentence.text) else ""
    if changes:
        before = changed(sentence, known)
        return (changes, before.number) if before else ("add", None)
    name = sentence.line.name
    same = next((one for one in known if likeness(sentence.terms, about(one.text, {name})) >= SAME), None)
    return ("reinforce", same.number) if same else ("add", None)


def changed(sentence: Sentence, known: list[Known]) -> Known | None:
    """What is known of the subject that a sentence speaks of, that with most in common; None where there is none."""
    name = sentence.line.name
    mine = subject(sentence.text, {name})
    ranked = [(shared(mine, subject(one.text, {name})), one) for one in known]
    share, best = max(ranked, key=lambda pair: pair[0], default=(0.0, None))
    return best if share >= RELATED else None


def happened_on(sentence: Sentence) -> str | None:
    """The day that a sentence tells of, in ISO; None for what is not of a day."""
    dated = ISO.search(sentence.text)
    if dated:
        try:
            return date.fromisoformat(dated[1]).isoformat()
        except ValueError:
            return None
    ago = next((days for words, days in DAYS_AGO if words.search(sentence.text)), 0)
    return (sentence.line.on - timedelta(days=ago)).isoformat() if sentence.kind == "event" else None
