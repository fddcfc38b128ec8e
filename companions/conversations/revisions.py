"""Texts that a companion revises: the messages that each sentence comes from, and the differences of two revisions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any
from uuid import UUID

import regex

from companions.models import Message
from memory.learning.diary import sources_of

MAX_SOURCES = 5
WORD = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]|\w+|\s+|.", regex.DOTALL)
MIN_LIKENESS = 0.5  # sentences less alike count as different ones, not as one that was changed
MAX_CHARACTERS = 400  # of a sentence compared word by word, which takes time in the square of its length
SAME, GONE, NEW = "same", "gone", "new"


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence with the oldest messages it comes from (`said`), and how many there are in all (`count`)."""

    text: str
    said: Sequence[Message]
    count: int

    @property
    def more(self) -> int:
        return self.count - len(self.said)


def load_citations(companion_id: UUID, sentences: Sequence[Mapping[str, Any]]) -> list[CitedSentence]:
    """Return the sentences with their messages, without those deleted or on other branches: one query."""
    mine = Message.objects.filter(companion=companion_id).select_related("session__diary_entry")
    messages = mine.in_bulk(sources_of(sentences))
    cited = []
    for sentence in sentences:
        sources = {UUID(source) for source in sentence["sources"]} & messages.keys()
        said = sorted((messages[id] for id in sources), key=lambda message: (message.said_at, message.pk))
        cited.append(CitedSentence(sentence["text"], said[:MAX_SOURCES], len(said)))
    return cited


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a sentence, and whether it is the "same" in both texts, "gone" or "new"."""

    text: str
    how: str


def compare(before: Sequence[str], after: Sequence[str]) -> list[list[Piece]]:
    """Return a diff of two lists of sentences: the sentences of both in order, each split into pieces."""
    lines: list[list[Piece]] = []
    for how, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if how == "equal":
            lines += [[Piece(sentence, SAME)] for sentence in before[a:b]]
        else:
            for old, new in zip_longest(before[a:b], after[c:d]):
                lines += _compare_sentences(old, new)
    return lines


def _compare_sentences(old: str | None, new: str | None) -> Iterator[list[Piece]]:
    """Yield one line of pieces if the two sentences are alike, or else one for each. Long ones never count as alike."""
    if old is not None and new is not None and max(len(old), len(new)) <= MAX_CHARACTERS:
        old_words, new_words = WORD.findall(old), WORD.findall(new)
        matcher = SequenceMatcher(None, old_words, new_words, autojunk=False)
        if matcher.ratio() >= MIN_LIKENESS:
            pieces = []
            for how, a, b, c, d in matcher.get_opcodes():
                gone, added = "".join(old_words[a:b]), "".join(new_words[c:d])
                if how == "equal":
                    pieces.append(Piece(gone, SAME))
                else:
                    pieces += [Piece(text, kind) for text, kind in ((gone, GONE), (added, NEW)) if text]
            yield pieces
            return
    if old is not None:
        yield [Piece(old, GONE)]
    if new is not None:
        yield [Piece(new, NEW)]
