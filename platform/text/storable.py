"""Text that a database and a tokeniser can take, and no more of it than tells something."""

import re
import unicodedata
from typing import TypeVar

import regex

# No language has more on one letter (Unicode's Stream-Safe Text), and sorting them takes the square of their number.
MANY_MARKS = regex.compile(r"(\p{M}{30})\p{M}+")

Part = TypeVar("Part")
SURROGATE = re.compile("[\ud800-\udfff]")
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def is_storable(text: str) -> bool:
    """Return whether PostgreSQL can keep it: no NUL, no lone surrogate."""
    return not UNSTORABLE.search(text)


def storable(text: str) -> str:
    """Return the text without what PostgreSQL cannot keep: NULs are left out, lone surrogates become U+FFFD."""
    return text if is_storable(text) else SURROGATE.sub("\ufffd", text.replace("\x00", ""))


def folded(text: str) -> str:
    """Return the text as it is compared: in NFKC, case folded, with a plain apostrophe."""
    return unicodedata.normalize("NFKC", MANY_MARKS.sub(r"\1", text)).replace("’", "'").casefold()


def ends(parts: list[Part], most: int) -> list[Part]:
    """Return all parts where they are not too many, else the first and the last, half of each."""
    return parts if len(parts) <= most else parts[: most // 2] + parts[-(most // 2) :]


def shorten(text: str, limit: int) -> str:
    """Return the text, or as much of its beginning as fits into `limit` characters with "…" for the rest."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"
