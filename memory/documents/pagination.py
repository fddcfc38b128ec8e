"""Pagination: splits a long text in any script into pages that end at natural breaks. Pure.

Pages and gists follow ReadAgent (Lee and others 2024), whose pages end at pauses after 280 to 600 words. In scripts
without spaces, a Han character or kana counts as two thirds of a word (translators reckon 1.5 to a word), a letter of
Thai, Lao, Khmer, Burmese or Tibetan as a fifth. A longer run without a blank counts as one word per twenty characters.
"""

from collections.abc import Iterator

import numpy as np
import regex
from numpy.typing import NDArray

MIN_WORDS, IDEAL_WORDS, MAX_WORDS = 280, 440, 600  # words of a page
ONE_PAGE = 350  # a text with fewer words is not split
BLOCK = 50_000  # characters that are processed together; their parts take some 10 MB
# How many words must follow in a block for it to be split as the whole text would be.
AHEAD = MAX_WORDS + MIN_WORDS + 20

FULL = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Yi}\u3000-\u303f\uff01-\uff65"
SYLLABIC = r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}"
PART = regex.compile(
    rf"(?P<full>[{FULL}]\p{{M}}{{0,8}})|(?P<syllabic>[{SYLLABIC}])|(?P<blank>\s{{200}})"
    rf"|(?P<word>[^\s{FULL}{SYLLABIC}]{{1,20}}\p{{M}}{{0,8}})"
)
WORD = 60  # units in a word, so that all shares of it are whole numbers
UNITS = {"full": 40, "syllabic": 12, "blank": WORD, "word": WORD}

CLOSING = r"[\"'”’)\]」』）】》]*"
NUMERAL = r"(?:\d{1,4}|[〇零一二三四五六七八九十百千两]{1,8})"
HEADING = (
    r"(?:#{1,6}[ \t]+\S|(?i:chapter|part|book|act|scene|section|prologue|epilogue|appendix)\b[^\n.]{0,80}$"
    rf"|第{NUMERAL}[章节節回卷部篇幕][^\n。]{{0,40}}$|[IVXLC]{{1,7}}\.?[ \t\r]*$)"
)
SENTENCE = rf"(?:(?<!\b(?:Mr|Mrs|Ms|Dr|St|\p{{Lu}}))[.!?…]{CLOSING}(?=\s)|[。！？]{CLOSING})"
# From the best to the worst. A page may end where a match ends.
BREAKS = tuple(
    regex.compile(pattern, regex.MULTILINE)
    for pattern in (
        rf"(?:\n|\A)[ \t]*(?={HEADING})|\f",
        r"\n[ \t\r]*\n\s*",
        rf"(?:[.!?…。！？]{CLOSING})[ \t\r]*\n\s*",
        rf"{SENTENCE}\s*",
        r"[,;:—–]\s+|[，；：、]\s*",
        r"\s+",
    )
)

Places = NDArray[np.int64]


def split_into_pages(text: str) -> list[str]:
    """Return the text's pages, 280 to 600 words each; joined they are the text. A short or empty text is one page."""
    starts = [0, *_find_starts(text)]
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


def _find_starts(text: str) -> Iterator[int]:
    """Yield where each page but the first begins. Each block of text begins with the last page of the block before."""
    begin, size = 0, BLOCK
    while begin < len(text):
        is_last = begin + size >= len(text)
        found = [begin + start for start in _Block(text[begin : begin + size]).find_starts(is_last)]
        yield from found
        if is_last:
            return
        begin, size = (found[-1], BLOCK) if found else (begin, 2 * size)  # no page ended: take a larger block


class _Block:
    """A block of text: where each countable part begins and ends, the units up to its end, and where pages may end."""

    def __init__(self, text: str) -> None:
        found = [(*match.span(), UNITS[match.lastgroup or "word"]) for match in PART.finditer(text)]
        table = np.array(found, dtype=np.int64).reshape(-1, 3)
        self.text = text
        self.starts, self.ends, self.units = table[:, 0], table[:, 1], np.cumsum(table[:, 2])
        self.breaks = [self._find_breaks(pattern) for pattern in BREAKS]

    def _find_breaks(self, pattern: "regex.Pattern[str]") -> Places:
        """Return the ends of the pattern's matches that do not lie within a countable part."""
        places = np.array([match.end() for match in pattern.finditer(self.text)], dtype=np.int64)
        if not len(self.starts):
            return places[:0]
        inside = np.searchsorted(self.ends, places, side="right")
        at = np.minimum(inside, len(self.starts) - 1)
        free: Places = places[(inside == len(self.starts)) | (self.starts[at] >= places)]
        return free

    def find_starts(self, is_last: bool) -> Iterator[int]:
        """Yield where each page but the first begins; unless `is_last`, only as far as later text changes nothing."""
        start = 0
        while is_last or self._units_after(start) > AHEAD * WORD:
            start = self._end_page(start)
            if start >= len(self.text):
                return
            yield start

    def _end_page(self, start: int) -> int:
        """Return where the page that begins at `start` ends.

        A rest that fits on one page is one, unless a chapter begins where both halves are long enough.
        """
        done, left = self._units_until(start), self._units_after(start)
        if left < ONE_PAGE * WORD:
            return len(self.text)
        if left <= MAX_WORDS * WORD:
            chapters = _within(
                self.breaks[0], *self._reach(done + MIN_WORDS * WORD, done + left - MIN_WORDS * WORD)
            )
            return int(chapters[0]) if len(chapters) else len(self.text)
        most = min(MAX_WORDS * WORD, left - MIN_WORDS * WORD)  # so that enough is left for the last page
        return self._find_best_break(done + MIN_WORDS * WORD, done + IDEAL_WORDS * WORD, done + most)

    def _find_best_break(self, least: int, ideal: int, most: int) -> int:
        """Return the best break after `least` to `most` units; among equally good ones, the one nearest to `ideal`."""
        low, high = self._reach(least, most)
        aim = int(self.ends[np.searchsorted(self.units, ideal)])
        for places in self.breaks:
            near = _within(places, low, high)
            if len(near):
                return int(near[np.argmin(np.abs(near - aim))])
        return min(max(aim, low), high)

    def _reach(self, least: int, most: int) -> tuple[int, int]:
        """Return the first place after at least `least` units, and the last place after at most `most` units."""
        low = int(self.ends[np.searchsorted(self.units, least)])
        after = int(np.searchsorted(self.units, most, side="right"))
        return low, int(self.starts[after]) if after < len(self.starts) else len(self.text)

    def _units_until(self, place: int) -> int:
        whole = int(np.searchsorted(self.ends, place, side="right"))
        return int(self.units[whole - 1]) if whole else 0

    def _units_after(self, place: int) -> int:
        return int(self.units[-1]) - self._units_until(place) if len(self.units) else 0


def _within(places: Places, low: int, high: int) -> Places:
    return places[np.searchsorted(places, low) : np.searchsorted(places, high, side="right")]
