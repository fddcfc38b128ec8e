"""Two revisions of a text, sentence by sentence and within a changed sentence word by word: pure functions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

import regex

WORD = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]|\w+|\s+|.", regex.DOTALL)
MIN_LIKENESS = 0.5  # a sentence that is less like another is another sentence
MAX_CHARACTERS = 400  # of a sentence that is compared word by word, which takes the square of its length
SAME, GONE, NEW = "same", "gone", "new"


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a sentence, and whether it is the "same" in both, "gone" or "new"."""

    text: str
    how: str


def compare(before: Sequence[str], after: Sequence[str]) -> list[list[Piece]]:
    """The sentences of both in their order, each as its pieces."""
    lines: list[list[Piece]] = []
    for how, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if how == "equal":
            lines += [[Piece(sentence, SAME)] for sentence in before[a:b]]
        else:
            for old, new in zip_longest(before[a:b], after[c:d]):
                lines += _changed(old, new)
    return lines


def _changed(old: str | None, new: str | None) -> Iterator[list[Piece]]:
    """One line where the two are alike, else one for each that there is; long ones are not looked into."""
    if old is not None and new is not None and max(len(old), len(new)) <= MAX_CHARACTERS:
        words = WORD.findall(old), WORD.findall(new)
        matcher = SequenceMatcher(None, *words, autojunk=False)
        if matcher.ratio() >= MIN_LIKENESS:
            yield list(_pieces(matcher, *words))
            return
    if old is not None:
        yield [Piece(old, GONE)]
    if new is not None:
        yield [Piece(new, NEW)]


def _pieces(matcher: "SequenceMatcher[str]", old: Sequence[str], new: Sequence[str]) -> Iterator[Piece]:
    for how, a, b, c, d in matcher.get_opcodes():
        if how == "equal":
            yield Piece("".join(old[a:b]), SAME)
            continue
        if b > a:
            yield Piece("".join(old[a:b]), GONE)
        if d > c:
            yield Piece("".join(new[c:d]), NEW)
