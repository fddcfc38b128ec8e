"""Echoes: what a companion repeats of its memories is not said, and no sentence stands on it. Pure."""

from collections.abc import Collection, Sequence

from memory.learning.answers import Sentence
from memory.learning.subjects import is_echo
from memory.learning.talk import Talk


def without_echoes(sentences: Sequence[Sentence], talk: Talk, names: Collection[str]) -> list[Sentence]:
    """The sentences without those sources in which the companion only repeats what it was given to remember."""
    return [one.model_copy(update={"sources": _own(one, talk, names)}) for one in sentences]


def _own(sentence: Sentence, talk: Talk, names: Collection[str]) -> list[int]:
    numbers = [number for number in sentence.sources if 1 <= number <= len(talk.lines)]
    return [one for one in numbers if not is_echo(talk[one], sentence.text, sentence.text, names)]
