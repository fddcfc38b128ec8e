"""How much of a text was heard, where its sound was broken off: whole words, and nothing added."""

import re
import unicodedata

# Words end at a space or a dash. Some scripts put nothing between them: there one sign is as near to a word as one comes
# without a dictionary.
END = r"\s\u2013\u2014\u2026"
UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u312f\u31a0-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef"
    r"\U0001f000-\U0001faff\U00020000-\U0003ffff"
)
BETWEEN = re.compile(f"[{END}{UNSPACED}]")
GOES_ON = re.compile(f"[^{END}{UNSPACED}\\W_]")
JOINS = ("\u200d", "\ufe0f")  # what makes one sign of several
OPENING = ("Ps", "Pi")


def words_heard(text: str, until: int) -> str:
    """The beginning of the text up to that place; a word that it cuts in two is left out.

    What is left of a text of which no word was heard is empty.
    """
    if until >= len(text):
        return text
    place = _between(text, max(until, 0))
    while place and _is_joined(text[place - 1], text[place]):
        place -= 1
    kept = text[:place].rstrip()
    while kept and unicodedata.category(kept[-1]) in OPENING:
        kept = kept[:-1].rstrip()
    return kept if any(map(str.isalnum, kept)) else ""


def _between(text: str, place: int) -> int:
    """The place, or the end of the word before it where more of a word follows at once."""
    follows, ends = GOES_ON.search(text, place), BETWEEN.search(text, place)
    if follows is None or (ends and ends.start() < follows.start()):
        return place
    while place and not BETWEEN.match(text[place - 1]):
        place -= 1
    return place


def _is_joined(before: str, after: str) -> bool:
    return unicodedata.category(after).startswith("M") or after in JOINS or before in JOINS
