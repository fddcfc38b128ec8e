"""Whether a message can only be understood with what was said before it: "and her sister?", "when was that?"."""

from functools import cache

import regex

from memory.cue import NOBODY, Names
from memory.small_talk import NAME, tells_something, words_of
from memory.terms import is_question, terms

MAX_TELLING_TERMS = 2  # of words; who says more than that says what it is about
MAX_TELLING_PAIRS = 5  # of overlapping pairs of characters, which are about as much
HAN = regex.compile(r"\p{Han}")


def leans_on_talk(text: str, names: Names = NOBODY) -> bool:
    """Return whether the message refers to what was said before, and says little else.

    `names` are those of the two who talk: by them the other is only addressed. Whoever is named besides is whom "her"
    means.
    """
    bare = _without_address(text, names)
    telling = list(filter(tells_something, terms(bare)))
    if len(telling) > (MAX_TELLING_PAIRS if HAN.search(bare) else MAX_TELLING_TERMS):
        return False
    if not NAME.search(bare) and _pattern("refers").search(bare):
        return True
    if not is_question(bare):
        return bool(_pattern("goes_on_at_the_end", "$").search(bare))
    if _pattern("goes_on", "^").search(bare):
        return True
    if not NAME.search(bare) and _pattern("refers_in_questions").search(bare):
        return True
    return bool(_pattern("asks_alone", "^$").search(bare))


def _without_address(text: str, names: Names) -> str:
    """Return the text without a name at its beginning or end by which somebody is addressed."""
    either = "|".join(regex.escape(name) for name in names.values() if name)
    if not either:
        return text
    return regex.sub(rf"(?i)^\W*(?:{either})\s*[,，:：]|[,，]\s*(?:{either})(?=\W*$)", "", text)


@cache
def _pattern(key: str, where: str = "") -> "regex.Pattern[str]":
    """Return a pattern of any of the words under that key: at the beginning ("^"), the end ("$"), alone or anywhere.

    Those of letters with spaces between words are found as whole words.
    """
    words = (
        regex.escape(word) if HAN.search(word) else rf"\b{regex.escape(word)}\b" for word in words_of(key)
    )
    any_of = f"(?:{'|'.join(words)})"
    places = {"^": rf"^\W*{any_of}", "$": rf"{any_of}\W*$", "^$": rf"^\W*{any_of}\W*$"}
    return regex.compile(places.get(where, any_of), regex.IGNORECASE)
