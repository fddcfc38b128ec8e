"""A second reading: what a model drafted of a talk is put before it once more, beside the lines that it comes from.

Rules read words, not minds: whether a line is a joke, and whether it says what was made of it, a reader can tell.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, model_validator

from memory.learning.answers import MEANT_WORDS, Learnt
from memory.learning.evidence import YES, Supported, weigh
from memory.learning.requests import ANSWER_SHARE, Drafted, render_verification_request
from memory.learning.sincerity import find_sentence
from memory.learning.talk import Talk
from memory.models import Memory
from memory.recall.traits import DENIAL, terms
from providers.chat.structured import ask
from providers.errors import MalformedError
from providers.selection import Capability, get_provider
from providers.tokens import estimate_messages
from text.strings import folded

MAX_SAID = 400  # characters of a sentence that stands beside what was drawn from it
REJECTIONS = ("joke", "irony", "if", "role_play", "quotation", "question", "taken_back", "not_said")
MEANT_OTHERWISE = (
    "joke",
    "irony",
    "if",
    "role_play",
)  # of how a line is meant, for all that is drawn from it
OVER = "over"  # of what was known: it cannot be true any more
SAME = "same"  # of what was known: what was said now says the same
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
        """Read answers also where they stand for themselves, or in a list of objects; leave out what is no word, and what
        is answered twice in two ways.
        """
        given = answer.get("answers", answer) if isinstance(answer, dict) else answer
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
        """Return for each of so many sentences "yes", or why it is rejected; "" where nothing readable is answered."""
        return [read_word(self.answers.get(str(number), "")) for number in range(1, count + 1)]


def read_word(word: str) -> str:
    """Return "yes", or the reason to reject a sentence, that a model means by a word; "" for any other."""
    plain = word.strip(" .!\"'").lower()
    return WORDS.get(plain) or WORDS.get(plain.replace("-", "_").replace(" ", "_"), "")


def list_facts(
    entries: Sequence[Learnt],
    talk: Talk,
    names: Mapping[str, str],
    known: Sequence[Memory],
    whole: Talk | None = None,
    only: Collection[int] | None = None,
) -> list[Drafted]:
    """Return those of the entries (`only` of these places) that a reader may judge; lines are numbered as in `whole`."""
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
    """Return by which key a drafted sentence is known: of which kind, at which place of its list."""
    return f"{kind} {place}"


def stands(word: str) -> bool:
    """Return whether a second reading leaves standing what rules have let through: it says yes, or nothing."""
    return word in {YES, ""}


def _show_sentence(quote: str, text: str) -> str:
    sentence = find_sentence(quote, text)
    return sentence if len(sentence) <= MAX_SAID else quote


def take_fitting(drafted: Sequence[Drafted], talk: Talk, names: Mapping[str, str]) -> list[Drafted]:
    """Return the first of the sentences that one request has room for with their lines, but one at least."""
    room = get_provider(Capability.BACKGROUND).context_tokens * (1 - ANSWER_SHARE)
    count = len(drafted)
    while count > 1:
        if estimate_messages(render_verification_request(drafted[:count], talk, names)) <= room:
            break
        count -= max(1, count // 4)
    return list(drafted[:count])


def ask_about(drafted: Sequence[Drafted], talk: Talk, names: Mapping[str, str]) -> dict[str, str]:
    """Return by the key of each sentence what a second reading says of it: "yes", why not, or "" where it says nothing.

    An answer out of form says nothing. ProviderUnavailable, ProviderRefused.
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
    """Return the words, but for a "yes" to what the same reading has rejected in a sentence of the same line that tells
    as much: rejected too. A diary may tell a joke as a joke.
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


def verify(drafted: Sequence[Drafted], talk: Talk, names: Mapping[str, str]) -> dict[str, str]:
    """Return what a second reading says of all the sentences, in as many calls as they need: none for none."""
    words: dict[str, str] = {}
    while left := [sentence for sentence in drafted if sentence.key not in words]:
        words |= ask_about(take_fitting(left, talk, names), talk, names)
    return words
