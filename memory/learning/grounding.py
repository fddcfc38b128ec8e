"""Grounding: whether what a sentence names stands in what it comes from. Pure."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import regex

from memory.language import pattern_of, words_of
from memory.learning.answers import Sentence
from memory.learning.secrets import holds_secret, redacted
from memory.learning.talk import Line, Talk
from memory.recall.traits import STOP_WORDS
from text.dates import read_dates
from text.strings import folded

CAPITAL = regex.compile(r"\p{Lu}[\p{L}\p{M}]*(?:['’-]\p{Lu}[\p{L}\p{M}]*)*")
STARTS = regex.compile(r"(?:^|[.!?:;…。！？：；\n]|[\"“”‘「」『』(（)）–—-])\s*$")
DIGITS = regex.compile(r"\d+(?:[.,:]\d+)*")
TITLE = regex.compile(r"《([^》]{1,80})》")
SUBJECT_NAME, CALLED_NAME = pattern_of("subject_name"), pattern_of("called_name")
FAMILIAR_NAME, NUMERALS = pattern_of("familiar_name"), pattern_of("numerals")
NO_NAMES = frozenset(words_of("no_names"))
NUMBER_WORDS = {word: str(n) for n, word in enumerate(words_of("number_words"))}
HAN_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
HAN_UNITS = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "亿": 100_000_000}
MAX_NUMERALS = 20  # what is longer is no number that anybody names, and may be too great to be written


def grounded(
    sentences: Sequence[Sentence],
    talk: Talk,
    earlier: Sequence[Mapping[str, Any]],
    names: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Return those of the sentences that stand on something, as {"text", "sources": ids of messages}, each text once.

    Each name, number and day of a sentence occurs in its lines, in the sentence of the `earlier` revision that it
    keeps, whose sources it takes over, or in `names`, what "user" and "companion" are called. One without any source is
    left out, and instead of a secret, also of one that only the talk shows to be one, stands "…"; but not in what was
    written by hand before and is kept as it was.
    """
    found: dict[str, dict[str, Any]] = {}
    for sentence in sentences:
        keeps = sentence.keeps or 0
        kept = earlier[keeps - 1] if 1 <= keeps <= len(earlier) else None
        lines = talk.lines_of(sentence.sources)
        before = list(kept["sources"]) if kept else []
        sources = list(dict.fromkeys([*before, *(str(line.message_id) for line in lines)]))
        is_as_before = kept is not None and sentence.text == kept["text"]
        text = sentence.text if is_as_before else redacted(sentence.text, talk.secrets)
        if is_as_before or (sources and stands_on(text, lines, kept["text"] if kept else "", names.values())):
            found.setdefault(folded(text), {"text": text, "sources": sources})
    return list(found.values())


def stands_on(text: str, lines: Sequence[Line], kept: str, names: Collection[str]) -> bool:
    """Return whether each name, number and day of the text occurs in these lines, in what it keeps, or in the names."""
    if holds_secret(text) or not any(character.isalnum() for character in text):
        return False
    material = " \n".join([kept, *names, *(line.name for line in lines), *(line.text for line in lines)])
    days, rest = read_dates(folded(text), None)
    said = set(read_dates(folded(kept), None)[0])
    for line in lines:
        said |= {f"@{line.said_at:%Y-%m-%d}", f"@{line.said_at:%m-%d}", f"@{line.said_at:%Y-%m}"}
        said |= set(read_dates(folded(line.text), line.said_at)[0])
    words = folded(material)
    years = {day[1:5] for day in said if len(day) > len("@05-02")}
    return (
        all(_is_said(name, words) for name in names_in(text))
        and numbers_in(rest) <= numbers_in(material) | years
        and all(_is_day_said(day, said, years) for day in days)
    )


def names_in(text: str) -> set[str]:
    """Return what a text calls by name, folded: capitalised words, but for those that begin a sentence unless something
    is told of them ("Rui is …"), titles in 《》, and Chinese names in the forms 小林, 老张, 阿杰 and 叫王明.
    """

    def begins_sentence(match: "regex.Match[str]") -> bool:
        return bool(STARTS.search(text[: match.start()]))

    found = {folded(match[1]) for match in TITLE.finditer(text)}
    found |= {folded(match[0]) for match in CAPITAL.finditer(text) if not begins_sentence(match)}
    found |= {folded(match[1]) for match in SUBJECT_NAME.finditer(text) if begins_sentence(match)}
    found |= {*FAMILIAR_NAME.findall(text), *CALLED_NAME.findall(text)}
    return found - NO_NAMES - STOP_WORDS


def numbers_in(text: str) -> set[str]:
    """Return the numbers of a text, in digits, as words up to twelve, and in Chinese numerals, all as digits.

    A run of more than 20 Chinese numerals stays as it is written.
    """
    plain = folded(text)
    found = {match[0].replace(",", "").rstrip(".:") for match in DIGITS.finditer(plain)}
    found |= {NUMBER_WORDS[word] for word in regex.findall(r"[a-z]+", plain) if word in NUMBER_WORDS} - {"1"}
    for numeral in NUMERALS.findall(plain):
        found.add(str(_value(numeral)) if len(numeral) <= MAX_NUMERALS else numeral)
    return found


def _value(numeral: str) -> int:
    """Return the value of a Chinese numeral such as 二十三, 三百五十 or 二〇二三."""
    if not any(character in HAN_UNITS for character in numeral):
        return int("".join(str(HAN_DIGITS[character]) for character in numeral))
    total = part = digit = 0
    for character in numeral:
        if character in HAN_DIGITS:
            digit = HAN_DIGITS[character]
        elif (unit := HAN_UNITS[character]) < 10_000:
            part, digit = part + (digit or 1) * unit, 0
        else:
            total, part, digit = (total + part + digit) * unit, 0, 0
    return total + part + digit


def _is_said(name: str, words: str) -> bool:
    """Return whether the name occurs as a word of its own; without its "'s"."""
    bare = regex.escape(name.removesuffix("'s"))
    return bool(regex.search(rf"(?<![\p{{Latin}}]){bare}(?![\p{{Latin}}])", words))


def _is_day_said(day: str, said: Collection[str], years: Collection[str]) -> bool:
    """Return whether the day, as a term, is among those said, or a part of one: its month, or it without its year."""
    if any(other.startswith(day) or other.endswith(day[1:]) for other in said):
        return True
    return f"@{day[6:]}" in said and day[1:5] in years
