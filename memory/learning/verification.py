"""Verification, or the second reading: a model is shown what it drafted once more, beside the lines that it comes from.

Rules see only words; a reader can tell whether a line is a joke, and whether it says what was made of it.
"""

from collections.abc import Collection, Sequence
from typing import Any

from pydantic import BaseModel, model_validator

from memory.learning.answers import MEANT_WORDS, Learnt
from memory.learning.requests import ANSWER_SHARE, Drafted, render_verification_request
from memory.learning.rules.evidence import YES, Supported, weigh
from memory.learning.rules.sincerity import find_sentence
from memory.learning.talk import Talk
from memory.models import Memory
from memory.recall.query import Names
from memory.recall.traits import DENIAL, terms
from providers.chat.structured import ask
from providers.errors import MalformedError
from providers.selection import Capability, get_provider
from providers.tokens import estimate_messages
from text.strings import folded

MAX_SAID = 400  # characters of a sentence that is shown beside what was drawn from it
REJECTIONS = ("joke", "irony", "if", "role_play", "quotation", "question", "taken_back", "not_said")
# They tell how a line is meant, and hold for all that is drawn from it.
MEANT_OTHERWISE = ("joke", "irony", "if", "role_play")
OVER = "over"  # of a known memory: it cannot be true any more
SAME = "same"  # of a known memory: what was said now says the same
WORDS = {
    **MEANT_WORDS, **{word: word for word in (YES, OVER, SAME, *REJECTIONS)},
    "true": YES, "said": YES, "serious": YES, "meant": YES, "correct": YES, "是": YES, "literal": YES, "sincere": YES,
    "asked": "question", "request": "question", "command": "question", "reminder": "question",
    "no": "not_said", "false": "not_said", "invented": "not_said", "wrong": "not_said", "not true": "not_said",
    "not meant": "joke", "taken back": "taken_back", "retracted": "taken_back", "corrected": "taken_back",
    "ended": OVER, "changed": OVER, "outdated": OVER, "no longer": OVER, "no longer true": OVER, "both": YES,
    "identical": SAME, "duplicate": SAME, "repeated": SAME, "the same": SAME, "一样": SAME, "相同": SAME,
    "hypothetical": "if", "否": "not_said", "不是": "not_said",
}  # fmt: skip


class Verification(BaseModel):
    """The answer of a second reading: by the number of each sentence one word."""

    answers: dict[str, str]

    @model_validator(mode="before")
    @classmethod
    def _find_answers(cls, answer: Any) -> Any:
        """Accept answers without the key "answers", as a list of objects, or as a list of words in the sentences' order;
        leave out those that are not strings, and empty those that are given twice in different ways.
        """
        given = answer.get("answers", answer) if isinstance(answer, dict) else answer
        if isinstance(given, list) and all(isinstance(word, str) for word in given):
            given = dict(enumerate(given, start=1))
        if isinstance(given, list):
            entries = [entry for entry in given if isinstance(entry, dict)]
            pairs = [(entry.get("number"), entry.get("answer", entry.get("word"))) for entry in entries]
        elif isinstance(given, dict):
            pairs = list(given.items())
        else:
            raise ValueError("holds no answers")
        answers: dict[str, str] = {}
        for key, word in pairs:
            number = str(key).strip(" .:#")
            if isinstance(word, str):
                answers[number] = word if answers.get(number, word) == word else ""  # said twice otherwise
        return {"answers": answers}

    def read(self, count: int) -> list[str]:
        """Return for each of `count` sentences "yes", or why it is rejected; "" if nothing readable is answered."""
        return [read_word(self.answers.get(str(number), "")) for number in range(1, count + 1)]


def read_word(word: str) -> str:
    """Return what a model means by a word: "yes", or the reason to reject a sentence; "" for an unknown word."""
    plain = word.strip(" .!\"'").lower()
    return WORDS.get(plain) or WORDS.get(plain.replace("-", "_").replace(" ", "_"), "")


def list_facts(
    entries: Sequence[Learnt],
    talk: Talk,
    names: Names,
    known: Sequence[Memory],
    whole: Talk | None = None,
    only: Collection[int] | None = None,
) -> list[Drafted]:
    """Return the entries that are not stopped by rules, for a second reading: all, or `only` those at these places.

    Their lines are numbered as in the `whole` talk, if that is given.
    """
    drafted = []
    for place, entry in enumerate(entries):
        if only is not None and place not in only:
            continue
        weighed = weigh(entry, talk, names, known)
        if isinstance(weighed, Supported):
            told = [*(quote.line for quote in weighed.quotes), *weighed.lines]
            lines = (whole or talk).numbers_of(line.message_id for line in told)
            said = dict.fromkeys(_show_sentence(quote.text, quote.line.text) for quote in weighed.quotes)
            drafted.append(Drafted(make_key("fact", place), "fact", entry.text, lines, tuple(said)))
    return drafted


def make_key(kind: str, place: int) -> str:
    """Return the key of a drafted sentence, from its kind and its place in its list."""
    return f"{kind} {place}"


def stands(word: str) -> bool:
    """Return whether a second reading's word lets stand what rules have let through: "yes", or nothing."""
    return word in {YES, ""}


def _show_sentence(quote: str, text: str) -> str:
    sentence = find_sentence(quote, text)
    return sentence if len(sentence) <= MAX_SAID else quote


def take_fitting(drafted: Sequence[Drafted], talk: Talk, names: Names) -> list[Drafted]:
    """Return as many of the sentences, from the first on, as fit into one request with their lines: at least one."""
    room = get_provider(Capability.BACKGROUND).context_tokens * (1 - ANSWER_SHARE)
    count = len(drafted)
    while count > 1:
        if estimate_messages(render_verification_request(drafted[:count], talk, names)) <= room:
            break
        count -= max(1, count // 4)
    return list(drafted[:count])


def ask_about(drafted: Sequence[Drafted], talk: Talk, names: Names) -> dict[str, str]:
    """Return, by the key of each sentence, a second reading's word on it: "yes", why not, or "" if it says nothing.

    An invalid answer says nothing. Raise ProviderUnavailable, ProviderRefused.
    """
    try:
        answer = ask("verification", render_verification_request(drafted, talk, names), Verification)
        words = answer.read(len(drafted))
    except MalformedError:
        words = [""] * len(drafted)
    read = [
        YES if word == SAME and sentence.kind != "earlier" else word
        for sentence, word in zip(drafted, words, strict=True)
    ]
    return dict(zip((sentence.key for sentence in drafted), _agree(drafted, read), strict=True))


def _agree(drafted: Sequence[Drafted], words: Sequence[str]) -> list[str]:
    """Return the words, with a "yes" replaced by the rejection of another sentence that comes from the same line and
    tells at least as much. Only facts and sentences of self-concept and profile are changed: a diary may tell a
    joke as a joke.
    """
    told = [
        (set(each.lines), frozenset(terms(each.text)), len(DENIAL.findall(folded(each.text))))
        for each in drafted
    ]
    agreed = list(words)
    for place, (lines, said, denials) in enumerate(told):
        if words[place] != YES or drafted[place].kind not in {"fact", "self", "profile"}:
            continue
        for word, (their_lines, theirs, their_denials) in zip(words, told, strict=True):
            if (
                word in MEANT_OTHERWISE
                and lines & their_lines
                and said <= theirs
                and denials == their_denials
            ):
                agreed[place] = word
    return agreed


def verify(drafted: Sequence[Drafted], talk: Talk, names: Names) -> dict[str, str]:
    """Return a second reading's words on all the sentences, in as many calls as necessary; without sentences, none."""
    words: dict[str, str] = {}
    while left := [sentence for sentence in drafted if sentence.key not in words]:
        words |= ask_about(take_fitting(left, talk, names), talk, names)
    return words
