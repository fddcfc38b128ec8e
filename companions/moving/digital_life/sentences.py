"""A text as sentences, and sentences as a text again: blanks between them are as each script has them."""

from collections.abc import Iterable, Iterator

import regex

from memory.models.revision import SENTENCE_CHARACTERS

END = regex.compile(r"(?<=[。！？])\s*|(?<=[.!?…])\s+|\s*\n\s*")
CLAUSE = regex.compile(r"(?<=[，；：、])|(?<=[,;:—–])\s+")
BLANK = regex.compile(r"\s+")
CLOSED = "。！？，；：、"


def parted(text: str) -> list[str]:
    """The sentences of the text, none empty; one of more than 400 characters is parted at clauses, else at blanks."""
    sentences = (one.strip() for one in END.split(text) if one and one.strip())
    return [part for one in sentences for part in _fitting(one)]


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


def joined(sentences: Iterable[str]) -> str:
    """The sentences one after the other, with a blank between two where the script has one."""
    text = ""
    for one in sentences:
        text += one if not text or text[-1] in CLOSED else f" {one}"
    return text
