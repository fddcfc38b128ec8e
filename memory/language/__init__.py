"""Rules about languages, as data: a TOML file for each, with lists of words and regular expressions by purpose."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import regex

FOLDER = Path(__file__).parent
HAN = regex.compile(r"\p{Han}")


@cache
def load_languages() -> dict[str, dict[str, Any]]:
    """Return the contents of each language file, by its name without the suffix."""
    return {
        path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.toml"))
    }


def words_of(key: str) -> list[str]:
    """Return the words that all languages list under this key."""
    return [word for language in load_languages().values() for word in language.get(key, ())]


def groups_of(key: str) -> dict[str, list[Any]]:
    """Return the table under this key, merged over all languages: by the name of each entry, its words or patterns."""
    groups: dict[str, list[Any]] = {}
    for language in load_languages().values():
        for name, found in language.get(key, {}).items():
            groups.setdefault(name, []).extend(found if isinstance(found, list) else [found])
    return groups


@cache
def any_word_of(key: str, where: str = "") -> "regex.Pattern[str]":
    """Return a pattern of any word under this key: at the beginning ("^"), at the end ("$"), alone ("^$") or anywhere.

    Words without Han characters are matched as whole words only.
    """
    words = (
        regex.escape(word) if HAN.search(word) else rf"\b{regex.escape(word)}\b" for word in words_of(key)
    )
    any_of = f"(?:{'|'.join(words)})"
    places = {"^": rf"^\W*{any_of}", "$": rf"{any_of}\W*$", "^$": rf"^\W*{any_of}\W*$"}
    return regex.compile(places.get(where, any_of), regex.IGNORECASE)


@cache
def pattern_of(key: str) -> "regex.Pattern[str]":
    """Return a pattern that matches whatever any language's regular expression under this key matches."""
    languages = load_languages().values()
    return regex.compile("|".join(language[key] for language in languages if key in language))
