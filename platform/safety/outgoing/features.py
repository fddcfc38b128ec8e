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
from safety.outgoing import chinese, english
from safety.outgoing.passages import CHINESE, ENGLISH, Passage

BUCKETS = 16_384
TOKEN = regex.compile(r"\p{L}[\p{L}\p{M}']*+|\p{N}+|[^\s\p{L}\p{N}]")
DIGITS = regex.compile(r"\p{N}+")
RULES = {ENGLISH: english.RULES, CHINESE: chinese.RULES}
SIGNS = {ENGLISH: english.SIGNS, CHINESE: chinese.SIGNS}


def stretches(passage: Passage) -> Iterator[str]:
    """The words and pairs of words, in Chinese one to three letters, with all numbers alike; some come often."""
    text = DIGITS.sub("0", passage.text)
    if passage.language == CHINESE:
        letters = "".join(text.split())
        for length in (1, 2, 3):
            yield from (letters[at : at + length] for at in range(len(letters) - length + 1))
        return
    tokens = TOKEN.findall(text)
    yield from tokens
    yield from (f"{one} {two}" for one, two in pairwise(tokens))


def buckets(passage: Passage) -> list[int]:
    """The numbers, each below BUCKETS, of the stretches that the passage has, sorted; the hash is the same anywhere."""
    return sorted({crc32(one.encode("utf-8", "replace")) % BUCKETS for one in stretches(passage)})


def signs(passage: Passage) -> Floats:
    """For each rule and hint of the language a one where it is found, else a zero."""
    found = [sign.search(passage.text) is not None for sign in SIGNS[passage.language].values()]
    return np.array(found, dtype=np.float32)


def meanings(passages: list[Passage]) -> Floats | None:
    """(n, 384), the built-in embedder's vectors of n English passages; None where it is not installed."""
    built_in = next((one for one in embedders() if isinstance(one, MiniLM)), None)
    try:
        return built_in.embed_documents([one.text for one in passages]) if built_in else None
    except ProviderError:  # the weights are not the published ones: a check by words is better than none
        return None
