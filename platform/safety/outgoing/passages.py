"""A text's English and its Chinese, each apart, in passages of a few sentences."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import regex

ENGLISH, CHINESE = "en", "zh"
SHORT = {ENGLISH: 400, CHINESE: 160}  # characters that are looked at as a whole
HAN = regex.compile(r"\p{Han}")
CHINESE_RUN = regex.compile(r"[\p{Han}\p{N}\p{P}\p{S}\p{Z}\s]+")
LATIN_WORD = regex.compile(r"\p{Latin}[\p{Latin}\p{M}'-]*+")
FEW_WORDS = 3  # so many stand in Chinese texts as names
SENTENCE = regex.compile(r"[^.!?…。！？\n]*+[.!?…。！？\n\"'”’)]*+")
INVISIBLE = regex.compile(r"[\p{Cf}\p{Cc}--[\n\t\u200d]]", flags=regex.VERSION1)
APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "`": "'", "´": "'", "“": '"', "”": '"'})


@dataclass(frozen=True, slots=True)
class Passage:
    """A few sentences in one language, normalised, in small letters."""

    language: str
    text: str


def passages(text: str) -> Iterator[Passage]:
    """The text's passages, first the English ones, then the Chinese; none of other languages."""
    plain = normalised(text)
    latin = LATIN_WORD.findall(plain)
    has_chinese = HAN.search(plain) is not None
    if latin and (not has_chinese or len(latin) >= FEW_WORDS):
        yield from _parts(HAN.sub(" ", plain) if has_chinese else plain, ENGLISH)
    if has_chinese:
        yield from _parts(LATIN_WORD.sub(" ", plain) if latin else plain, CHINESE)


def normalised(text: str) -> str:
    """The text in small letters of the ordinary width, without what is invisible, spaces single."""
    whole = text.encode("utf-8", "replace").decode()  # a half of a surrogate pair is no letter
    seen = INVISIBLE.sub("", unicodedata.normalize("NFKC", whole).translate(APOSTROPHES))
    return regex.sub(r"[^\S\n]+", " ", seen).strip().lower()


def _parts(text: str, language: str) -> Iterator[Passage]:
    """The text itself where it is short, else stretches of whole sentences, each beginning halfway in the one before."""
    most = SHORT[language]
    if len(text) <= most:
        yield Passage(language, text)
        return
    half: list[str] = [""]
    for sentence in SENTENCE.findall(text):
        for piece in (sentence[at : at + most // 2] for at in range(0, len(sentence), most // 2)):
            if len(half[-1]) + len(piece) > most // 2:
                half.append("")
            half[-1] += piece
    yield from (Passage(language, one + two) for one, two in pairwise(half) if (one + two).strip())
