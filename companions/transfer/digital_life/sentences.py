"""A text as sentences that are short enough for a revision."""

from collections.abc import Iterator

import regex

from memory.models.revision import SENTENCE_CHARACTERS
from text.sentences import split_sentences

CLAUSE = regex.compile(r"(?<=[，；：、])|(?<=[,;:—–])\s+")
BLANK = regex.compile(r"\s+")


def parted(text: str) -> list[str]:
    """The sentences of the text, none empty; one of more than 400 characters is parted at clauses, else at blanks."""
    return [part for sentence in split_sentences(text) for part in _fitting(sentence)]


def _fitting(sentence: str) -> Iterator[str]:
    while len(sentence) > SENTENCE_CHARACTERS:
        begin = _first(sentence)
        yield sentence[:begin].rstrip()
        sentence = sentence[begin:].lstrip()
    yield sentence


def _first(sentence: str) -> int:
    """Where the first part of a sentence that is too long ends."""
    for pattern in (CLAUSE, BLANK):
        places = [one.start() for one in pattern.finditer(sentence, 1, SENTENCE_CHARACTERS + 1)]
        if places:
            return places[-1]
    return SENTENCE_CHARACTERS
