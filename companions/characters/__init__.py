"""Three starting characters of Kith's own writing, in English and in Chinese, to begin a companion from."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
FALLBACK_LANGUAGE = "en"


@dataclass(frozen=True, slots=True)
class Character:
    """What a new companion may be filled in with; `line` says in a few words who it is."""

    slug: str
    tint: int
    face: int  # the seed of its portrait
    name: str
    line: str
    persona: str
    greeting: str


def load_characters(language: str) -> list[Character]:
    """Return the characters in that language, in English where there is none of their own."""
    return [_load_character(path, language) for path in sorted(FOLDER.glob("*.toml"))]


@cache
def _load_character(path: Path, language: str) -> Character:
    with path.open("rb") as file:
        written = tomllib.load(file)
    texts = {name: text.strip() for name, text in written.get(language, written[FALLBACK_LANGUAGE]).items()}
    return Character(slug=path.stem, tint=written["tint"], face=written["face"], **texts)
