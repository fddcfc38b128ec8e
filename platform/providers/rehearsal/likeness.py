"""Which lines share most words with a question."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from providers.rehearsal.scene import Line

WORD = re.compile(r"[a-zà-ÿ0-9']{2,}|[\u3400-\u9fff]+")
COMMON_WORDS = """
a about am an and any are as at be been but by can could did do does for from had has have he her him his how i i'm
if in is it it's its just know like me my of on or our please remember said say she so tell that the their them there
they this to told was we were what what's when where which who why will with would you your
"""
COMMON_PAIRS = """
什么 你还 还记 记得 得我 我的 我在 我是 知道 怎么 是什 哪里 告诉 诉我 我说 说过 一下 是谁
"""
COMMON = frozenset(COMMON_WORDS.split() + COMMON_PAIRS.split())
IS_QUESTION = re.compile(r"[??]\s*$|吗\s*$")


def terms(text: str) -> Counter[str]:
    """The words of a text that carry meaning; Chinese as overlapping pairs."""
    found: Counter[str] = Counter()
    for run in WORD.findall(text.lower()):
        if "\u3400" <= run[0] <= "\u9fff":
            found.update(pair for pair in map("".join, pairwise(run)) if pair not in COMMON)
        elif run not in COMMON:
            found[_stem(run)] += 1
    return found


def _stem(word: str) -> str:
    word = word.removesuffix("'s")
    return next(
        (word.removesuffix(end) for end in ("ing", "ed", "es", "s") if len(word) > 4 and word.endswith(end)),
        word,
    )


def likest(question: str, lines: Sequence[Line]) -> list[tuple[float, Line]]:
    """The lines that share a word with the question, best first, each with its score above zero."""
    asked, texts = terms(question), [terms(line.text) for line in lines]
    spread = Counter(term for text in texts for term in text)
    scored = []
    for line, text in zip(lines, texts, strict=True):
        score = sum(math.log(1 + len(lines) / spread[term]) for term in asked if term in text)
        weight = 0.4 if IS_QUESTION.search(line.text) else 0.8 if line.is_own else 1.0
        if score > 0 and line.text.strip() != question.strip():
            scored.append((score * weight, line))
    return sorted(scored, key=lambda pair: -pair[0])
