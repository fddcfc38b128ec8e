"""Grounding: whether what a sentence names stands in what it comes from. Pure."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import regex

from memory.learning.answers import Sentence
from memory.learning.secrets import holds_secret, redacted
from memory.learning.talk import Line, Talk
from memory.recall.traits import STOP_WORDS
from text.dates import read_dates
from text.storable import folded

CAPITAL = regex.compile(r"\p{Lu}[\p{L}\p{M}]*(?:['’-]\p{Lu}[\p{L}\p{M}]*)*")
STARTS = regex.compile(r"(?:^|[.!?:;…。！？：；\n]|[\"“”‘「」『』(（)）–—-])\s*$")
DIGITS = regex.compile(r"\d+(?:[.,:]\d+)*")
HAN_NUMBER = regex.compile(
    r"[零〇一二两三四五六七八九十百千万亿]{2,}|[二两三四五六七八九十百千](?=[个只次天年月岁本条位块元点日号斤公里米])"
)
SUBJECT = regex.compile(
    r"(\p{Lu}[\p{Ll}\p{M}]+)(?:['’]s\b|\s+(?:is|was|has|had|told|said|says|wants?|wanted"
    r"|likes?|loves?|works?|lives?|gave|came|and \p{Lu})\b)"
)
HAN_NAME = regex.compile(
    r"(?:小(?![时孩心学说组区狗猫鸟吃事伙朋声路屋子房猪鱼镇院馆店的])|老(?![师人板家公婆是友年早样了实爸妈鼠虎的])"
    r"|阿(?![姨拉里富]))\p{Han}"
)
CALLED = regex.compile(r"名?叫(?:做|作)?(\p{Han}{2,3})(?=[，。的；！]|$)")
TITLE = regex.compile(r"《([^》]{1,80})》")
# "I'm" and days are no names; a day is looked at as a day.
NO_NAMES = frozenset(
    """
    i i'm i've i'd i'll ok okay mr mrs ms dr monday tuesday wednesday thursday friday saturday sunday january february
    march april may june july august september october november december
    everything something nothing everyone someone life work today yesterday tomorrow this love time home
    """.split()  # noqa: SIM905 (a list of them fills a page)
)
NUMBER_WORDS = {
    word: str(n)
    for n, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
    )
}
HAN_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
HAN_UNITS = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "亿": 100_000_000}
LONGEST_NUMERAL = (
    20  # characters: what is longer is no number that anybody names, and may be too great to be written
)


def grounded(
    sentences: Sequence[Sentence],
    talk: Talk,
    earlier: Sequence[Mapping[str, Any]],
    names: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Those of the sentences that stand on something, as {"text", "sources": ids of messages}, at most one of a text.

    Each name, number and day of a sentence occurs in its lines, in the sentence of the `earlier` revision that it
    keeps, whose sources it takes over, or in `names`, what "user" and "companion" are called. One without any source is
    left out, and instead of a secret, also of one that only the talk shows to be one, stands "…"; but not in what was
    written by hand before and is kept as it was.
    """
    found: dict[str, dict[str, Any]] = {}
    for one in sentences:
        kept = earlier[one.keeps - 1] if one.keeps and 1 <= one.keeps <= len(earlier) else None
        numbers = dict.fromkeys(one.sources)
        lines = [talk[number] for number in numbers if 1 <= number <= len(talk.lines)]
        before = list(kept["sources"]) if kept else []
        sources = list(dict.fromkeys([*before, *(str(line.message_id) for line in lines)]))
        as_before = kept is not None and one.text == kept["text"]
        text = one.text if as_before else redacted(one.text, talk.secrets)
        if as_before or (sources and stands_on(text, lines, kept["text"] if kept else "", names.values())):
            found.setdefault(folded(text), {"text": text, "sources": sources})
    return list(found.values())


def stands_on(text: str, lines: Sequence[Line], kept: str, names: Collection[str]) -> bool:
    """Whether each name, number and day of the text occurs in these lines, in what it keeps, or in the two's names."""
    if holds_secret(text) or not any(character.isalnum() for character in text):
        return False
    material = [kept, *names, *(line.name for line in lines), *(line.text for line in lines)]
    words = folded(" \n".join(material))
    said = {term for line in lines for term in _days(line.text, line.said_at)}
    said |= {term for line in lines for term in _own_day(line.said_at)} | _days(kept, None)
    days = _days(text, None)
    return (
        all(_is_said(name, words) for name in names_in(text))
        and numbers_in(_without_days(text)) <= numbers_in(" \n".join(material)) | _years(said)
        and all(_is_told(day, said) for day in days)
    )


def names_in(text: str) -> set[str]:
    """What a text calls by name, folded: capitalised words, but for those that begin a sentence unless something is told
    of them ("Rui is …"), titles in 《》, and Chinese names in the forms 小林, 老张, 阿杰 and 叫王明.
    """
    found = {folded(match[1]) for match in TITLE.finditer(text)}
    found |= {
        folded(match[0]) for match in CAPITAL.finditer(text) if not STARTS.search(text[: match.start()])
    }
    found |= {folded(match[1]) for match in SUBJECT.finditer(text) if STARTS.search(text[: match.start()])}
    found |= {match[0] for match in HAN_NAME.finditer(text)} | {match[1] for match in CALLED.finditer(text)}
    return {name for name in found if name not in NO_NAMES and name not in STOP_WORDS}


def numbers_in(text: str) -> set[str]:
    """The numbers of a text, in digits, as words up to twelve, and in Chinese numerals, all as digits.

    A run of more than 20 Chinese numerals stays as it is written.
    """
    plain = folded(text)
    found = {match[0].replace(",", "").rstrip(".:") for match in DIGITS.finditer(plain)}
    found |= {NUMBER_WORDS[word] for word in regex.findall(r"[a-z]+", plain) if word in NUMBER_WORDS} - {"1"}
    return found | {_in_digits(match[0]) for match in HAN_NUMBER.finditer(plain)}


def _in_digits(numeral: str) -> str:
    return str(_value(numeral)) if len(numeral) <= LONGEST_NUMERAL else numeral


def _value(numeral: str) -> int:
    """The value of a Chinese numeral such as 二十三, 三百五十 or 二〇二三."""
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
    """Whether the name occurs as a word of its own; without its "'s"."""
    bare = regex.escape(name.removesuffix("'s"))
    return bool(regex.search(rf"(?<![\p{{Latin}}]){bare}(?![\p{{Latin}}])", words))


def _days(text: str, when: datetime | None) -> set[str]:
    return set(read_dates(folded(text), when)[0])


def _without_days(text: str) -> str:
    return read_dates(folded(text), None)[1]


def _own_day(at: datetime) -> set[str]:
    return {f"@{at:%Y-%m-%d}", f"@{at:%m-%d}", f"@{at:%Y-%m}"}


def _is_told(day: str, said: Collection[str]) -> bool:
    """Whether the day, as a term, is among those said, or a part of one: its month, or the same without its year."""
    if any(other.startswith(day) or other.endswith(day[1:]) for other in said):
        return True
    return f"@{day[6:]}" in said and day[1:5] in _years(said)


def _years(days: Collection[str]) -> set[str]:
    return {day[1:5] for day in days if len(day) > len("@05-02")}
