"""What is read from a text in advance, before any cue: its terms, whether it is small talk, its traits and facts.

A cue matches a memory by shared terms. Words of scripts with spaces are stemmed; Chinese, Japanese, Korean, Thai and
the like, whose spaces do not help, become overlapping pairs of characters; dates become terms of their own
(`text.dates`). Which words say what is data (`memory.language`).
"""

import threading
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import IntFlag
from functools import lru_cache
from itertools import pairwise

import regex
import Stemmer

from memory.language import any_word_of, pattern_of, words_of
from text.dates import read_dates
from text.strings import folded, split_sentences

MAX_TERM_CHARACTERS = 40
MAX_REPETITIONS = 16  # of a term in one text; further ones are dropped
MAX_TERMS = 32_768

PAIRED = r"[\p{Han}\p{Hiragana}\p{Katakana}ー\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}\p{Bopomofo}\p{Yi}]"
RUN = regex.compile(
    rf"(?P<paired>(?:{PAIRED}\p{{M}}*)+)|(?P<word>(?:(?!{PAIRED})[\p{{L}}\p{{N}}]\p{{M}}*)+)(?:'(?:s|t|d|ll|re|ve|m)\b)?"
)
CHARACTER = regex.compile(r"\X")
LATIN = regex.compile(r"[\p{Latin}\p{N}\p{M}]+")
CYRILLIC = regex.compile(r"\p{Cyrillic}+")
# A word with a capital within a sentence, except "I".
NAME = regex.compile(r"(?<=[\p{L}\p{N},;:'’]\s)(?!I\b)\p{Lu}\p{L}+")
FIGURE = regex.compile(r"\d+(?:[.,:]\d+)*")
# A semicolon asks in Greek alone: elsewhere it may be a wink. Closing marks, "!" and emoji may come after it.
ASKS = regex.compile(r"(?:[?？؟՞\u037e]|(?<=\p{Greek});)[\"'”’」』)）!！\p{So}\p{Sk}\u200d\ufe0f\s]*+$")

STOP_WORDS = frozenset(words_of("stop_words"))
STOP_CHARACTERS = frozenset(words_of("stop_characters"))
FIRST_PERSON = any_word_of("first_person")
NUMBER, TIME, DENIAL = pattern_of("number"), pattern_of("time"), pattern_of("denial")


class _Stemmers(threading.local):
    """The stemmers of one thread: they keep a state while they work, so threads cannot share them."""

    def __init__(self) -> None:
        self.english = Stemmer.Stemmer("english")
        self.russian = Stemmer.Stemmer("russian")


_stemmers = _Stemmers()


def terms(text: str, when: datetime | None = None) -> list[str]:
    """Return the terms of `text`, dates first, then in order; with repetitions (at most 16 of one, 32,768 in all).

    `when` is the time of speaking in the speaker's zone: "yesterday" counts from it. Function words are
    left out, unless there is nothing else.
    """
    dates, rest = read_dates(folded(text), when)
    every = list(_read_terms(rest))
    telling = dates + [term for term in every if not is_function_word(term)] or every
    seen: Counter[str] = Counter()
    kept = []
    for term in telling:
        seen[term] += 1
        if seen[term] <= MAX_REPETITIONS:
            kept.append(term)
    return kept[:MAX_TERMS]


def _read_terms(text: str) -> Iterator[str]:
    for match in RUN.finditer(text):
        if match["word"]:
            yield _stem(match["word"][:MAX_TERM_CHARACTERS])
        else:
            characters = CHARACTER.findall(match["paired"])
            yield from map("".join, pairwise(characters)) if characters[1:] else characters


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    """Return the Snowball stem: English for Latin letters, without their accents, and Russian for Cyrillic ones."""
    if word in STOP_WORDS:
        return word
    if LATIN.fullmatch(word):
        bare = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
        return str(_stemmers.english.stemWord(bare))
    return str(_stemmers.russian.stemWord(word)) if CYRILLIC.fullmatch(word) else word


def is_function_word(term: str) -> bool:
    """Return whether the term says nothing by itself: "the", "you", "的"."""
    return term in STOP_WORDS or all(character in STOP_CHARACTERS for character in term)


def is_question(text: str) -> bool:
    """Return whether the text ends in a question mark of any script, maybe with an exclamation mark or emoji after it."""
    return bool(ASKS.search(text))


SMALL_TALK = frozenset(term for phrase in words_of("small_talk") for term in terms(phrase))


def tells_something(term: str) -> bool:
    """Return whether a term says what a text is about: it is no function word and no small talk."""
    return term not in SMALL_TALK and not is_function_word(term)


def find_name_terms(text: str) -> frozenset[str]:
    """Return the terms of the words that begin with a capital within a sentence: "hope" is a wish, "Hope" a person."""
    return frozenset(term for name in NAME.findall(text) for term in terms(name))


def is_small_talk(text: str) -> bool:
    """Return whether no word of the text says what it is about: greetings, thanks, assent, passing the time."""
    return not find_name_terms(text) and not any(map(tells_something, terms(text)))


def tells_nothing(text: str) -> bool:
    """Return whether all that the text says is questions and small talk."""
    return all(is_question(sentence) or is_small_talk(sentence) for sentence in split_sentences(text))


class Trait(IntFlag):
    """The traits of a text, as bits; `ANY` is always set, so that the number is never 0."""

    ANY = 1
    OF_USER = 2
    OF_COMPANION = 4
    QUESTION = 8
    FIRST_PERSON = 16
    NUMBER = 32
    TIME = 64
    TELLS_NOTHING = 128


SPEAKERS = {"user": Trait.OF_USER, "companion": Trait.OF_COMPANION}


def traits(text: str, speaker: str) -> Trait:
    """Return the traits of a text by this speaker ("user", "companion" or "")."""
    found = Trait.ANY | SPEAKERS.get(speaker, Trait.ANY)
    text = text.replace("’", "'")
    if any(is_question(line) for line in text.splitlines()):
        found |= Trait.QUESTION
    if tells_nothing(text):
        found |= Trait.TELLS_NOTHING
    for trait, pattern in ((Trait.FIRST_PERSON, FIRST_PERSON), (Trait.NUMBER, NUMBER), (Trait.TIME, TIME)):
        if pattern.search(text):
            found |= trait
    return found


@dataclass(frozen=True, slots=True)
class FactSignature:
    """The facts of a text that its vector hardly shows: the days that it names, as terms, the numbers in the rest of
    it, and how often it denies something.

    "The rent is 900" and "The rent is 950" have a cosine of 0.97, and so have "I am allergic" and "I am not allergic"
    (all-MiniLM-L6-v2).
    """

    days: frozenset[str]
    numbers: frozenset[str]
    denials: int


def sign_facts(text: str, when: datetime) -> FactSignature:
    """Return the fact signature of a text said at `when`, in the speaker's zone. Texts in which it differs tell
    different things.
    """
    days, rest = read_dates(folded(text), when)
    return FactSignature(frozenset(days), frozenset(FIGURE.findall(rest)), len(DENIAL.findall(rest)))
