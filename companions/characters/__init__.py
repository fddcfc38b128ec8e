"""Kith's own twelve characters, in English and Chinese, from which a companion can be created; some have lore."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
FALLBACK_LANGUAGE = "en"


@dataclass(frozen=True, slots=True)
class Character:
    """A character that a companion can be created from: `kind` describes it briefly, `line` is a sample line."""

    slug: str
    tint: int
    face: int  # the seed of its portrait
    pace: float  # the speed of its voice
    name: str
    kind: str
    line: str
    persona: str
    greetings: tuple[str, ...]
    example_dialogue: str
    suggestions: tuple[str, ...]  # first messages offered to the user
    tags: tuple[str, ...]
    lorebook: Mapping[str, Any] | None = None  # in the form of a V3 card

    def choose_greeting(self, chance: float) -> str:
        """Return one of the greetings, chosen by a random number from 0 to below 1."""
        return self.greetings[int(chance * len(self.greetings))]


@cache
def load_characters(language: str) -> list[Character]:
    """Return the characters in the language, or in English if a character is not written in it."""
    written = {path.stem: tomllib.loads(path.read_text()) for path in FOLDER.glob("*.toml")}
    ordered = sorted(written.items(), key=lambda item: item[1]["place"])
    return [_read_character(slug, character, language) for slug, character in ordered]


def find_character(slug: str, language: str) -> Character | None:
    """Return the character with the slug in the language, or None if there is none."""
    return next((character for character in load_characters(language) if character.slug == slug), None)


def _read_character(slug: str, written: dict[str, Any], language: str) -> Character:
    texts: dict[str, Any] = {
        name: text.strip() if isinstance(text, str) else tuple(text) if isinstance(text, list) else text
        for name, text in written.get(language, written[FALLBACK_LANGUAGE]).items()
    }
    if book := texts.get("lorebook"):
        rules = {"extensions": {"match_whole_words": True}}
        entries = [{**entry, "content": entry["content"].strip(), **rules} for entry in book["entries"]]
        texts["lorebook"] = {**book, "entries": entries}
    return Character(slug, written["tint"], written["face"], written["pace"], **texts)
