"""The one sentence splitter, for any script. Pure."""

from collections.abc import Iterable
from itertools import pairwise

import regex

# A narrow mark ends a sentence where a space follows, and not after a title or an initial; a wide one at once.
END = regex.compile(
    r"(?:(?<![.!?…؟]|\b(?:Mr|Mrs|Ms|Dr|St|[A-HJ-Z]))[.!?…؟]++[”’»\"')\]]*+(?=\s|$)"
    r"|(?<![。！？])[。！？]++[”’」』）]*+|\n)\s*+"
)
WIDE = "。！？，；：、”’」』）"


def cut_sentences(text: str) -> list[str]:
    """Return the sentences with the blanks that follow them; joined they are the text. A line's end ends one."""
    ends = (match.end() for match in END.finditer(text))
    return [text[start:end] for start, end in pairwise([0, *ends, len(text)]) if start < end]


def split_sentences(text: str) -> list[str]:
    """Return the sentences without the blanks around them, none empty."""
    return [sentence for part in cut_sentences(text) if (sentence := part.strip())]


def join_sentences(sentences: Iterable[str]) -> str:
    """Return the sentences one after the other, with a blank between two where the script has one."""
    text = ""
    for sentence in sentences:
        text += sentence if not text or text[-1] in WIDE else f" {sentence}"
    return text
