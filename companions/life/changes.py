"""What one inner state says anew, beside the one before it. Pure."""

import regex

from companions.comparing import Piece, compare

SENTENCE = regex.compile(r".+?(?:[.!?…]+[”’\"')]*(?=\s|$)|[。！？…]+[”’」）]*|(?=\n)|$)", regex.DOTALL)


def changed(before: str, after: str) -> list[list[Piece]]:
    """The sentences of both in their order, each as its pieces."""
    return compare(_sentences(before), _sentences(after))


def _sentences(text: str) -> list[str]:
    return [one.strip() for one in SENTENCE.findall(text) if one.strip()]
