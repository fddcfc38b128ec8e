"""What comes of the answer: rows, and of each thing done what it takes to undo it."""

from memory.consolidating.answers import Night
from memory.consolidating.insights import draw
from memory.consolidating.merging import contradict, merge
from memory.consolidating.reviewing import review
from memory.consolidating.work import Work


def apply(work: Work, answer: Night) -> None:
    """Do of the answer what may be done. Call it inside the transaction that ends the night, with the companion held.

    Merges come first: what was merged is told of as what it became.
    """
    merge(work, answer.merges)
    contradict(work, answer.contradictions)
    draw(work, answer.insights)
    review(work, answer.reviews)
