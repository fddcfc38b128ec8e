"""The one tokeniser: what is said, in any script, as terms; a cue and a memory meet where they share some.

Words of scripts with spaces are stemmed; Chinese, Japanese, Korean, Thai and their like, which have none
that help, become overlapping pairs of characters; dates become terms of their own (`text.dates`).
"""

import threading
import unicodedata
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from itertools import pairwise

import regex
import snowballstemmer

from text.dates import read_dates
from text.storable import folded

LONGEST_TERM = 40
MOST_OF_ONE_TERM = 16  # more repetitions than that weigh nothing
MOST_TERMS = 32_768

PAIRED = r"[\p{Han}\p{Hiragana}\p{Katakana}ー\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}\p{Bopomofo}\p{Yi}]"
RUN = regex.compile(
    rf"(?P<paired>(?:{PAIRED}\p{{M}}*)+)|(?P<word>(?:(?!{PAIRED})[\p{{L}}\p{{N}}]\p{{M}}*)+)(?:'(?:s|t|d|ll|re|ve|m)\b)?"
)
CHARACTER = regex.compile(r"\X")
LATIN = regex.compile(r"[\p{Latin}\p{N}\p{M}]+")
CYRILLIC = regex.compile(r"\p{Cyrillic}+")

STOP_WORDS = frozenset(
    """
    a about am an and any are aren as at be been but by can could couldn did didn do does doesn don for from had
    hadn has hasn have haven he her him his how i if in into is isn it its just me my no nor not of on or our s
    she should shouldn so some t than that the their them then there these they this those to too us was wasn we
    were weren what when where which who whom whose why will with would wouldn you your yours
    """.split()  # noqa: SIM905 (a list of them fills a page)
)
STOP_CHARACTERS = frozenset(
    "的了着过吗呢吧啊呀哦嘛么在是和与或就都也还又很把被对从到于之其这那此个些什我你您他她它们"
)

_stemmers = threading.local()  # a stemmer keeps its word while it works


def terms(text: str, when: datetime | None = None) -> list[str]:
    """The terms of `text` in its order, repetitions kept (at most 16 of one, 32,768 in all).

    `when` is the time of speaking in the speaker's zone: "yesterday" counts from it. Function words are
    left out, unless there is nothing else.
    """
    dates, rest = read_dates(folded(text), when)
    every = list(_read(rest))
    return _bounded(dates + [term for term in every if not is_function_word(term)] or every)


def is_question(text: str) -> bool:
    """Whether `text` ends in a question mark of any script."""
    return text.rstrip().rstrip("\"'”’」』)）").endswith(("?", "？", "؟", ";", "՞"))


def _read(text: str) -> Iterator[str]:
    for match in RUN.finditer(text):
        if match["word"]:
            yield _stem(match["word"][:LONGEST_TERM])
        else:
            characters = CHARACTER.findall(match["paired"])
            yield from map("".join, pairwise(characters)) if characters[1:] else characters


def is_function_word(term: str) -> bool:
    """Return whether the term says nothing by itself: "the", "you", "的"."""
    return term in STOP_WORDS or all(character in STOP_CHARACTERS for character in term)


def _bounded(every: list[str]) -> list[str]:
    seen: Counter[str] = Counter()
    kept = []
    for term in every:
        seen[term] += 1
        if seen[term] <= MOST_OF_ONE_TERM:
            kept.append(term)
    return kept[:MOST_TERMS]


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    """The Snowball stem: English for Latin letters without their accents, Russian for Cyrillic ones."""
    if word in STOP_WORDS:
        return word
    if LATIN.fullmatch(word):
        bare = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
        return _stemmed("english", bare)
    return _stemmed("russian", word) if CYRILLIC.fullmatch(word) else word


def _stemmed(language: str, word: str) -> str:
    stemmer = getattr(_stemmers, language, None)
    if stemmer is None:
        stemmer = snowballstemmer.stemmer(language)
        setattr(_stemmers, language, stemmer)
    return str(stemmer.stemWord(word))
