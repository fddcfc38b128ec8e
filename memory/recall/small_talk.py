"""Words that alone ask for no memory: greetings, thanks, assent, passing the time; listed as data, by language."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import regex

from memory.recall.terms import is_function_word, terms

NAME = regex.compile(
    r"(?<=[\p{L}\p{N},;:'’]\s)(?!I\b)\p{Lu}\p{L}+"
)  # but for "I", and what begins a sentence
FOLDER = Path(__file__).parents[1] / "language"


@cache
def languages() -> dict[str, dict[str, Any]]:
    """Return what each file of words says, by the file's name."""
    return {
        path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.toml"))
    }


def words_of(key: str) -> list[str]:
    """Return the words that the languages list under this key."""
    return [word for language in languages().values() for word in language.get(key, ())]


def tells_something(term: str) -> bool:
    """Return whether a term says what a text is about: it is no function word and no small talk."""
    return term not in _small_talk_terms() and not is_function_word(term)


def names_in(text: str) -> frozenset[str]:
    """Return the terms of the words that begin with a capital within a sentence: "hope" is a wish, "Hope" a person."""
    return frozenset(term for name in NAME.findall(text) for term in terms(name))


def is_small_talk(text: str) -> bool:
    """Return whether no word of the text says what it is about."""
    return not names_in(text) and not any(map(tells_something, terms(text)))


@cache
def _small_talk_terms() -> frozenset[str]:
    return frozenset(term for phrase in words_of("small_talk") for term in terms(phrase))
