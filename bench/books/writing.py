"""A book made by chance: the same people, places and things on every page, and ten happenings told once each."""

import random
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
LANGUAGES = {"English": "english", "Chinese": "chinese"}
PARAGRAPH = 5  # sentences
SCENE = 5  # paragraphs


@dataclass(frozen=True)
class Happening:
    """What is told on one page, and how it is asked for.

    Three people ask: one who remembers who it was, one who remembers no word, and one who read the book weeks ago.
    """

    text: str
    question: str
    in_other_words: str
    as_a_reader: str


@dataclass(frozen=True)
class Book:
    """A text and the happenings in it."""

    language: str
    text: str
    happenings: list[Happening]


def write(language: str, scenes: int, seed: int = 7) -> Book:
    """A book of so many scenes in "English" or "Chinese"; the same for the same seed. At least 20 scenes."""
    words = tomllib.loads((FOLDER / f"{LANGUAGES[language]}.toml").read_text())
    happenings = [Happening(**one) for one in words["happenings"]]
    chance = random.Random(seed)
    places = chance.sample(range(1, scenes - 1), len(happenings))
    told = dict(zip(places, happenings, strict=True))
    chapters = [_scene(words, chance, number, told.get(number)) for number in range(scenes)]
    return Book(language, "".join(chapters), happenings)


def _scene(words: dict[str, Any], chance: random.Random, number: int, told: Happening | None) -> str:
    """One scene; every third begins a chapter."""
    paragraphs = [_paragraph(words, chance) for _ in range(SCENE)]
    if told:
        at = chance.randrange(SCENE)
        first, second = _paragraph(words, chance, 2), _paragraph(words, chance, 2)
        paragraphs[at] = words["joint"].join([first, told.text, second])
    heading = words["heading"].format(number=number // 3 + 1, topic=chance.choice(words["topics"]))
    return "\n\n".join([*([heading] if number % 3 == 0 else []), *paragraphs]) + "\n\n"


def _paragraph(words: dict[str, Any], chance: random.Random, count: int = PARAGRAPH) -> str:
    return words["joint"].join(_sentences(words, chance, count))


def _sentences(words: dict[str, Any], chance: random.Random, count: int) -> Iterator[str]:
    for sentence in chance.sample(words["sentences"], count):
        who, other = chance.sample(words["people"], 2)
        where, elsewhere = chance.sample(words["places"], 2)
        told = sentence.format(
            who=who,
            other=other,
            where=where,
            elsewhere=elsewhere,
            thing=chance.choice(words["things"]),
            weather=chance.choice(words["weather"]),
            mood=chance.choice(words["moods"]),
            number=chance.randrange(3, 60),
        )
        yield told[0].upper() + told[1:]
