"""What a passage looks like to the classifier: its words and stretches of letters, its rules and hints, its meaning."""

from collections.abc import Iterator
from itertools import pairwise
from zlib import crc32

import numpy as np
import regex

from providers.embedding import embedders
from providers.errors import ProviderError
from providers.minilm.embedder import MiniLM
from providers.vectors import Floats
from safety.outgoing import chinese, chinese_topics, english, english_topics
from safety.outgoing.passages import CHINESE, ENGLISH, Passage

BUCKETS = 65_536
TOKEN = regex.compile(r"\p{L}[\p{L}\p{M}']*+|\p{N}+|[^\s\p{L}\p{N}]")
DIGITS = regex.compile(r"\p{N}+")
LENGTHS = {ENGLISH: (3, 4, 5), CHINESE: (1, 2, 3)}  # of the stretches of letters
RULES = {ENGLISH: english.RULES, CHINESE: chinese.RULES}
SIGNS = {
    ENGLISH: {**english.SIGNS, **english_topics.TOPICS},
    CHINESE: {**chinese.SIGNS, **chinese_topics.TOPICS},
}


def words(passage: Passage) -> Iterator[str]:
    """The words and pairs of words, with all numbers alike, some of them often; none of Chinese."""
    if passage.language == ENGLISH:
        tokens = TOKEN.findall(DIGITS.sub("0", passage.text))
        yield from tokens
        yield from (f"{one} {two}" for one, two in pairwise(tokens))


def letters(passage: Passage) -> Iterator[str]:
    """The stretches of letters, in English within a word and its two spaces, with all numbers alike; some come often."""
    text = DIGITS.sub("0", passage.text)
    parts = [f" {one} " for one in text.split()] if passage.language == ENGLISH else ["".join(text.split())]
    for part in parts:
        for length in LENGTHS[passage.language]:
            yield from (part[at : at + length] for at in range(len(part) - length + 1))


def buckets(passage: Passage) -> list[list[int]]:
    """For its words and for its letters: their numbers, each below BUCKETS, sorted; the hash is the same anywhere."""
    return [_hashed("w", words(passage)), _hashed("l", letters(passage))]


def _hashed(kind: str, found: Iterator[str]) -> list[int]:
    return sorted({crc32(f"{kind}{one}".encode("utf-8", "replace")) % BUCKETS for one in found})


def signs(passage: Passage) -> Floats:
    """For each rule, hint and topic of the language a one where it is found, else a zero."""
    found = [sign.search(passage.text) is not None for sign in SIGNS[passage.language].values()]
    return np.array(found, dtype=np.float32)


def meanings(passages: list[Passage]) -> Floats | None:
    """(n, 384), the built-in embedder's vectors of n English passages; None where it is not installed."""
    built_in = next((one for one in embedders() if isinstance(one, MiniLM)), None)
    try:
        return built_in.embed_documents([one.text for one in passages]) if built_in else None
    except ProviderError:  # the weights are not the published ones: a check by words is better than none
        return None
