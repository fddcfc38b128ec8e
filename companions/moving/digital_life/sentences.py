"""A text as sentences, and sentences as a text again: blanks between them are as each script has them."""

from collections.abc import Iterable

import regex

END = regex.compile(r"(?<=[。！？])\s*|(?<=[.!?…])\s+|\s*\n\s*")
CLOSED = "。！？"


def parted(text: str) -> list[str]:
    """The sentences of the text, none of them empty."""
    return [one.strip() for one in END.split(text) if one and one.strip()]


def joined(sentences: Iterable[str]) -> str:
    """The sentences one after the other, with a blank between two where the script has one."""
    text = ""
    for one in sentences:
        text += one if not text or text[-1] in CLOSED else f" {one}"
    return text
