"""Measures of one answer in its exchange, by which two models' ways of speaking are compared. Pure."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import regex

from memory.emotion import Emotion
from memory.recall.traits import tells_something, terms

SCRIPTS = {  # scripts that identify a language; of those equally frequent in a text the first one counts
    "ja": regex.compile(r"[\p{Hiragana}\p{Katakana}]"),
    "zh": regex.compile(r"\p{Han}"),
    "ko": regex.compile(r"\p{Hangul}"),
    "ru": regex.compile(r"\p{Cyrillic}"),
    "ar": regex.compile(r"\p{Arabic}"),
    "hi": regex.compile(r"\p{Devanagari}"),
    "th": regex.compile(r"\p{Thai}"),
    "el": regex.compile(r"\p{Greek}"),
    "he": regex.compile(r"\p{Hebrew}"),
}
LATIN, WORD = regex.compile(r"\p{Latin}"), regex.compile(r"\p{L}+")
QUESTIONS = regex.compile(r"[?？؟]+")
MIN_WORDS = 2  # frequent words that identify a language
SAD = {Emotion.SAD, Emotion.ANGRY}


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: its text, and its emotions in their stored form, with "emotion" and "intensity"."""

    text: str
    emotions: Sequence[Mapping[str, object]] = ()


@dataclass(frozen=True, slots=True)
class Occasion:
    """What an answer responds to: the message, the texts of the memories recalled for it, and the person's name."""

    message: str
    remembered: Sequence[str]
    person: str


Measure = Callable[[Answer, Occasion], float]


def count_characters(answer: Answer, _occasion: Occasion) -> float:
    return len(answer.text)


def count_questions(answer: Answer, _occasion: Occasion) -> float:
    return len(QUESTIONS.findall(answer.text))


def names_person(answer: Answer, occasion: Occasion) -> float:
    """Return 1 if the answer calls the person by name, else 0."""
    name = occasion.person.strip().casefold()
    return float(bool(name) and name in answer.text.casefold())


def is_formal(answer: Answer, _occasion: Occasion) -> float:
    """Return 1 if the answer uses a formal "you", else 0; always 0 in languages that have only one "you"."""
    pattern = _load_formal().get(find_language(answer.text))
    return float(bool(pattern and pattern.search(answer.text)))


def keeps_language(answer: Answer, occasion: Occasion) -> float:
    """Return 1 if answer and message are in the same language, or that of either is unknown, else 0."""
    languages = {find_language(answer.text), find_language(occasion.message)} - {""}
    return float(len(languages) < 2)


def count_emotions(answer: Answer, _occasion: Occasion) -> float:
    return sum(felt["emotion"] != Emotion.NEUTRAL for felt in answer.emotions)


def weigh_gladness(answer: Answer, _occasion: Occasion) -> float:
    """Return the mean over the answer's emotions of their intensity: positive for happy, negative for sad and angry."""
    signed = [
        float(str(felt["intensity"])) * (felt["emotion"] == Emotion.HAPPY)
        - float(str(felt["intensity"])) * (felt["emotion"] in SAD)
        for felt in answer.emotions
    ]
    return sum(signed) / len(signed) if signed else 0.0


def share_remembered(answer: Answer, occasion: Occasion) -> float:
    """Return the share of the recalled memories' words, except the message's own, that the answer takes up."""
    said = _find_telling(occasion.message)
    remembered = {term for text in occasion.remembered for term in _find_telling(text)} - said
    return len(remembered & _find_telling(answer.text)) / len(remembered) if remembered else 0.0


MEASURES: dict[str, Measure] = {
    "length": count_characters,
    "questions": count_questions,
    "name": names_person,
    "formal": is_formal,
    "language": keeps_language,
    "emotions": count_emotions,
    "gladness": weigh_gladness,
    "memory": share_remembered,
}


def find_language(text: str) -> str:
    """Return the code of the text's language, judged by its script or by frequent words; "" if it is unclear."""
    counts = {code: len(script.findall(text)) for code, script in SCRIPTS.items()}
    code = max(counts, key=lambda code: counts[code])
    if counts[code] > len(LATIN.findall(text)):
        return "ja" if counts["ja"] else code  # Japanese uses Chinese characters, too
    words = [word.casefold() for word in WORD.findall(text)]
    known = {code: sum(word in frequent for word in words) for code, frequent in _load_words().items()}
    best = max(known, key=lambda code: known[code])
    return best if known[best] >= MIN_WORDS else ""


def _find_telling(text: str) -> set[str]:
    return set(filter(tells_something, terms(text)))


@cache
def _load_languages() -> dict[str, dict[str, str]]:
    return tomllib.loads((Path(__file__).parent / "languages.toml").read_text(encoding="utf-8"))


@cache
def _load_words() -> dict[str, frozenset[str]]:
    return {
        code: frozenset(rules["words"].split())
        for code, rules in _load_languages().items()
        if "words" in rules
    }


@cache
def _load_formal() -> dict[str, "regex.Pattern[str]"]:
    return {
        code: regex.compile(rules["formal"]) for code, rules in _load_languages().items() if "formal" in rules
    }
