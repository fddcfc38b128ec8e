"""Grounding: whether the names, numbers and days in a sentence are in what it comes from, or follow from that. Pure."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import Any

import regex

from memory.language import HAN, any_word_of, groups_of, pattern_of, words_of
from memory.learning.answers import Sentence
from memory.learning.rules.secrets import holds_secret, redacted
from memory.learning.talk import Line, Talk
from memory.recall.query import Names
from memory.recall.traits import FIGURE, FIRST_PERSON, SMALL_TALK, STOP_WORDS, is_function_word, terms
from text.dates import MONTHS, WEEKDAY_SIGNS, WEEKDAYS, in_year, read_dates, split_term
from text.strings import folded, has_words

CAPITAL = regex.compile(r"\p{Lu}[\p{L}\p{M}]*(?:['’-]\p{Lu}[\p{L}\p{M}]*)*")
STARTS = regex.compile(
    r"(?<=(?:^|(?<!\b(?:Mr|Mrs|Ms|Dr|St|Prof))[.]|[!?:;…。！？：；\n]|[\"“”‘「」『』(（)）–—-])\s*)"
)
TITLE = regex.compile(r"《([^》]{1,80})》")
SUBJECT_NAME, CALLED_NAME = pattern_of("subject_name"), pattern_of("called_name")
FAMILIAR_NAME, NUMERALS = pattern_of("familiar_name"), pattern_of("numerals")
NO_NAMES = frozenset(words_of("no_names"))
NUMBER_WORDS = {word: str(n) for n, word in enumerate(words_of("number_words"))}
TENS = {word: 20 + 10 * n for n, word in enumerate(words_of("tens_words"))}
UNITS = {"hundred": 100, "thousand": 1000}
ONES = "|".join(NUMBER_WORDS)
WORDED = regex.compile(
    rf"\b(?:(?P<tens>{'|'.join(TENS)})(?:[-\s](?P<ones>{ONES}))?|(?P<ones>{ONES}))\b(?:\s(?P<unit>hundred|thousand)\b)?"
)
HAN_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
FAMILIAR = "小老阿"
HAN_COUNTS = {"仨": "三个", "俩": "两个", "倆": "两个"}
COUNTED = regex.compile("|".join(HAN_COUNTS))
HAN_UNITS = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "亿": 100_000_000}
WEEKDAY_NAMES = [
    regex.compile(rf"\b{day}(?:\b|\w*day)|(?:周|週|星期|礼拜|禮拜){sign}")
    for day, sign in zip(WEEKDAYS, WEEKDAY_SIGNS, strict=True)
]
WEATHER, TOLD_ONLY = any_word_of("weather"), any_word_of("told_only")
PROMISES, PROMISING = pattern_of("promises"), pattern_of("promising")
PLAIN_CHARACTERS = frozenset("".join(words_of("plain_characters")))
PLAIN_TERMS = frozenset(
    term for key in ("plain_words", "common") for word in words_of(key) for term in terms(word)
)
MAX_NOVELTY = {False: 0.4, True: 0.5}  # share of a sentence's terms, or of a Chinese one's characters
MADE_UP_NOVELTY = 0.8
INTERVAL = pattern_of("interval")
PEOPLES = groups_of("peoples")
FOREIGN = regex.compile(r"[^\p{ASCII}\p{Han}\p{P}\p{S}\p{Z}\s]")  # letters other than English or Chinese ones
NEAR_LINES = 1
MAX_DAYS_TO_WEEKDAY, MIN_DAYS_COUNTED = 14, 7
MAX_COUNTED, MAX_DIGITS, MAX_NUMBERS = 12, 6, 30
MAX_NUMERALS = 20  # a longer run is no number that anybody means, and may be too large to be converted


def tells_what_was_said(text: str, talk: Talk, known: Sequence[str], names: Collection[str]) -> bool:
    """Return whether a sentence of a diary tells what was said or what its writer feels, and invents nothing.

    A sentence with an "I" may tell feelings that nobody mentioned; of any other, most telling words must be in the
    talk. Weather, tears, anger, promises and the like must be in the talk in any case.
    """
    said = _join_said(talk, known, names)
    if is_made_up(text, talk, known, names):
        return False
    return (
        bool(FIRST_PERSON.search(text)) or measure_novelty(text, said) < MAX_NOVELTY[bool(HAN.search(text))]
    )


def is_made_up(text: str, talk: Talk, known: Sequence[str], names: Collection[str]) -> bool:
    """Return whether a sentence is plainly invented, so that it needs no second reading: it tells what nobody mentioned
    or, without an "I", hardly anything that was said.
    """
    if is_unmentioned(text, talk, known, names):
        return True
    return (
        not FIRST_PERSON.search(text)
        and measure_novelty(text, _join_said(talk, known, names)) > MADE_UP_NOVELTY
    )


def is_unmentioned(text: str, talk: Talk, known: Sequence[str], names: Collection[str]) -> bool:
    """Return whether a text tells of weather, tears, promises or the like that nobody mentioned."""
    said, told = folded(_join_said(talk, known, names)), folded(text)
    if any(word not in said for word in WEATHER.findall(told)):
        return True
    told_only = ((TOLD_ONLY, TOLD_ONLY), (PROMISES, PROMISING))
    return any(bool(tells.search(told)) and not mentions.search(said) for tells, mentions in told_only)


def _join_said(talk: Talk, known: Sequence[str], names: Collection[str]) -> str:
    return " \n".join(
        [*known, *names, *(line.name for line in talk.lines), *(line.text for line in talk.lines)]
    )


def measure_novelty(text: str, said: str) -> float:
    """Return the share of a text's telling terms, or of a Chinese text's characters, that do not occur in `said`."""
    if HAN.search(text):
        told = {sign for sign in HAN.findall(text) if sign not in PLAIN_CHARACTERS}
        return len(told - set(said)) / max(1, len(told))
    told = {term for term in terms(text) if not is_function_word(term) and not term.startswith("@")}
    new = {term for term in told - set(terms(said)) - PLAIN_TERMS if term not in SMALL_TALK}
    return len(new) / max(1, len(told))


def select_grounded(
    sentences: Sequence[Sentence],
    talk: Talk,
    earlier: Sequence[Mapping[str, Any]],
    names: Names,
    known: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Return the sentences that are grounded, as {"text", "sources": ids of messages}, each text once.

    Each name, number and day of a sentence must occur in the talk or follow from it, or occur in the sentence of the
    `earlier` revision that it keeps (whose sources it takes over), in `known`, or in `names`, what "user" and
    "companion" are called. A sentence without any source is left out. Secrets, also those that only the talk shows to
    be such, are replaced by "…". A sentence that keeps an earlier one unchanged is returned as it is, whatever is in
    it, even without a source.
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
        beside = "\n".join([kept["text"] if kept else "", *known])
        if is_as_before or (sources and follows_from(text, lines, talk, [beside], names.values())):
            found.setdefault(folded(text), {"text": text, "sources": sources})
    return list(found.values())


def follows_from(
    text: str,
    lines: Sequence[Line],
    talk: Talk,
    known: Sequence[str],
    names: Collection[str],
    reach: int = NEAR_LINES,
) -> bool:
    """Return whether a fact names nothing that is not in its lines, in those within `reach` of them, or in `known`.

    Its names may come from the whole talk, since "she" may mean somebody who was named earlier.
    """
    near = near_lines(lines, talk, reach)
    whole = folded(" \n".join([*known, *names, *(line.text for line in talk.lines)]))
    is_named = all(_is_said(name, whole) or _is_evident(name, whole) for name in names_in(text))
    beside = "\n".join(known)
    small = CAPITAL.sub(lambda match: match[0].lower(), text)  # so that only its numbers and days are checked
    return is_named and is_grounded(small, near, beside, names)


def near_lines(lines: Sequence[Line], talk: Talk, reach: int = NEAR_LINES) -> list[Line]:
    """Return these lines of the talk, and `reach` lines before and after each."""
    ids = {line.message_id for line in lines}
    places = [at for at, line in enumerate(talk.lines) if line.message_id in ids]
    return [line for at, line in enumerate(talk.lines) if any(abs(at - place) <= reach for place in places)]


def is_grounded(text: str, lines: Sequence[Line], kept: str, names: Collection[str]) -> bool:
    """Return whether each name, number and day of the text occurs in these lines or follows from them, or occurs in the
    sentence that it keeps (`kept`) or in the names. False if the text has a secret, or neither letters nor digits.
    """
    if holds_secret(text) or not has_words(text):
        return False
    material = " \n".join([kept, *names, *(line.name for line in lines), *(line.text for line in lines)])
    days, rest = read_dates(folded(text), None)
    said = set(read_dates(folded(kept), None)[0]).union(*(line.days for line in lines))
    words = folded(material)
    years = {str(year) for year, _, _ in map(split_term, said) if year}
    return (
        all(_is_said(name, words) or _is_evident(name, words) for name in names_in(text))
        and numbers_in(rest)
        <= numbers_in(material) | years | _years_near(lines) | _count_out(rest, lines, said)
        and all(_is_day_said(day, said, years) or _follows_from_day(day, lines, material) for day in days)
    )


def _follows_from_day(day: str, lines: Sequence[Line], material: str) -> bool:
    """Return whether a day or a month, as a term, follows from the lines: they name its weekday or its month, or count
    the days between it and the day on which they were said.
    """
    numbers, words = numbers_in(material), folded(material)
    year, month, number = split_term(day)
    for line in lines:
        if not number:
            names_month = regex.search(rf"\b{MONTHS[month - 1]}", words) or str(month) in numbers
            if names_month and abs(year - line.said_at.year) <= 1:
                return True
            continue
        on = in_year(month, number, year or line.said_at.year)
        apart = abs((on - line.said_at.date()).days)
        is_named = bool(WEEKDAY_NAMES[on.weekday()].search(words))
        is_counted = apart >= MIN_DAYS_COUNTED and INTERVAL.search(words) and str(apart) in numbers
        if (is_named and apart <= MAX_DAYS_TO_WEEKDAY) or is_counted:
            return True
    return False


def _years_near(lines: Sequence[Line]) -> set[str]:
    """Return the years in which the lines were said, and those before and after: "in June" may mean any of them."""
    return {str(line.said_at.year + n) for line in lines for n in (-1, 0, 1)}


def _count_out(text: str, lines: Sequence[Line], said: Collection[str]) -> set[str]:
    """Return the numbers that follow from the lines: how many names one of them lists, the difference of two numbers in
    a line or in successive lines, the years since a year; and if the text tells of a time span, the days and weeks
    between two days.
    """
    counts: set[str] = set()
    before: list[int] = []
    for line in lines:
        named = len(names_in(line.text))
        counts |= {str(n) for n in range(2, min(named, MAX_COUNTED) + 1)}
        numbers = sorted(int(n) for n in numbers_in(line.text) if n.isdecimal() and len(n) <= MAX_DIGITS)[
            :MAX_NUMBERS
        ]
        counts |= {str(abs(one - other)) for one in numbers for other in [*numbers, *before] if one != other}
        counts |= {str(line.said_at.year - n) for n in numbers if 1900 <= n <= line.said_at.year}
        before = numbers
    if INTERVAL.search(text):
        days = [date(*parts) for parts in map(split_term, said) if all(parts)][:MAX_NUMBERS]
        spans = {abs((one - other).days) for one in days for other in days}
        counts |= {str(span) for span in spans} | {str(span // 7) for span in spans if span % 7 == 0}
    return counts


def _is_evident(name: str, words: str) -> bool:
    """Return whether the name is a language's or a people's, and the words name its country or have foreign letters."""
    return any(
        name in group and (any(_is_said(word, words) for word in group) or bool(FOREIGN.search(words)))
        for group in PEOPLES.values()
    )


def names_in(text: str) -> set[str]:
    """Return the names in a text, folded: capitalised words, except those that begin a sentence unless something is
    told of them ("Rui is …"), titles in 《》, and Chinese names in the forms 小林, 老张, 阿杰 and 叫王明.
    """

    def begins_sentence(match: "regex.Match[str]") -> bool:
        return bool(STARTS.match(text, match.start()))

    found = {folded(match[1]) for match in TITLE.finditer(text)}
    found |= {folded(match[0]) for match in CAPITAL.finditer(text) if not begins_sentence(match)}
    found |= {folded(match[1]) for match in SUBJECT_NAME.finditer(text) if begins_sentence(match)}
    found |= {*FAMILIAR_NAME.findall(text), *CALLED_NAME.findall(text)}
    return found - NO_NAMES - STOP_WORDS


def numbers_in(text: str) -> set[str]:
    """Return the numbers of a text as digits: those in digits, in words ("six hundred"), and in Chinese numerals.

    A run of more than 20 Chinese numerals is returned as it is written.
    """
    plain = COUNTED.sub(lambda match: HAN_COUNTS[match[0]], folded(text))
    found = {match[0].replace(",", "").replace(":", ".").rstrip(".") for match in FIGURE.finditer(plain)}
    found |= {str(_read_words(match)) for match in WORDED.finditer(plain)} - {"1"}
    for numeral in NUMERALS.findall(plain):
        found.add(str(_value(numeral)) if len(numeral) <= MAX_NUMERALS else numeral)
    return found


def _read_words(match: "regex.Match[str]") -> int:
    """Return the value of "five", "twenty-five" or "six hundred"."""
    value = TENS.get(match["tens"], 0) + int(NUMBER_WORDS.get(match["ones"], 0))
    return value * UNITS.get(match["unit"], 1)


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
    """Return whether the name, without its "'s", occurs in `words` as a word of its own, also as in "anas wedding"."""
    if name[0] in FAMILIAR and len(name) == len("小林"):  # 小林 may be called by the second half alone
        return name in words or name[1] in words
    bare = regex.escape(name.removesuffix("'s"))
    return bool(regex.search(rf"(?<![\p{{Latin}}]){bare}s?(?![\p{{Latin}}])", words))


def _is_day_said(day: str, said: Collection[str], years: Collection[str]) -> bool:
    """Return whether the day, as a term, is among those said or is part of one: its month, or the day without the year.

    A day that was said without its year also counts if the year is among `years`.
    """
    if any(other.startswith(day) or other.endswith(day[1:]) for other in said):
        return True
    year, month, number = split_term(day)
    return f"@{month:02}-{number:02}" in said and str(year) in years
