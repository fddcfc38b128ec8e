"""Where a sentence comes from that was written from a summary: the lines that hold its words. Pure."""

from memory.learning.answers import Sentence
from memory.learning.talk import Talk
from memory.recall.terms import terms

MOST_SOURCES = 5


def traced(sentences: list[Sentence], whole: Talk, shown: int) -> list[Sentence]:
    """The sentences, those without a source with the lines after the first `shown` that hold most of their words.

    Whether these truly hold what the sentence says is for the guards to see.
    """
    held = {number: set(terms(whole[number].text)) for number in range(shown + 1, len(whole.lines) + 1)}
    return [
        one if one.sources else one.model_copy(update={"sources": _sources(set(terms(one.text)), held)})
        for one in sentences
    ]


def _sources(wanted: set[str], held: dict[int, set[str]]) -> list[int]:
    """The line that holds most of the words, then the one that holds most of what is left, and so on."""
    found: list[int] = []
    while held and len(found) < MOST_SOURCES:
        best = max(held, key=lambda number: len(wanted & held[number]))
        if not wanted & held[best]:
            break
        found.append(best)
        wanted = wanted - held[best]
    return sorted(found)
