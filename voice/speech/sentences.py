"""Splitting a growing text into sentences, in any script. An end once found is never moved by what comes later.

Abbreviations, numbers, initials, text in brackets or between asterisks, and a period before a small letter do not end a
sentence. A line's end always does. A sentence that is too long is cut at a comma, else at a space, else anywhere.
"""

import unicodedata
from dataclasses import dataclass

from voice.speech.speech_filter import filter_speech

NARROW = ".!?…‼⁇⁈⁉؟۔"  # end a sentence if a space follows
WIDE = "。！？｡।॥።။៕՞։"  # always end a sentence
COMMAS, WIDE_COMMAS = ",;:—–", "，；：、،؛"
CLOSING = "\"'”’»›)）」』】》〉]"
MARKS = "*_~"  # of Markdown: they close a span that they have opened
SPANS = {"(": ")", "（": "）", "[": "]", "【": "】", "<": ">", "`": "`", "*": "*", "_": "_"}
CODE = "```"
MAX_SPAN = 300  # characters; a span that is not closed by then does not count as one
MIN_FIRST_WIDTH = 48  # in Latin letters: after so many, a comma ends the first sentence
MAX_WIDTH = 220
Step = tuple[int, bool]  # the offset reached, and whether the sentence ends there
ABBREVIATIONS = frozenset(
    word
    for line in (
        "mr mrs ms dr prof rev st sr jr gen col sgt capt hon vs etc cf al no nos vol fig figs pp ca approx",
        "dept inc ltd co corp bros jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun",
        "bzw usw evtl ggf inkl nr str bspw vgl mme mlle",
    )
    for word in line.split()
)


def measure_width(character: str) -> int:
    """Return the display width of the character: 2 if it is as wide as a Chinese one, otherwise 1."""
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def find_end(text: str, *, is_all: bool, is_first: bool = False) -> int | None:
    """Return the length of the text's first sentence, without the white space after it; None if it is not certain yet.

    `is_all` says that no more text will come. With `is_first`, a long sentence ends at a comma.
    """
    return _Scan(text, is_all, is_first).find_end()


@dataclass(slots=True)
class _Scan:
    """A scan for the end of the text's first sentence."""

    text: str
    is_all: bool
    is_first: bool
    widths: int = 0
    comma: int = 0
    space: int = 0

    def find_end(self) -> int | None:
        at = 0
        while at < len(self.text):
            sign = self.text[at]
            if sign == "\n" or self.text.startswith(CODE, at):
                return at
            step = self._step(at)
            if step is None:
                return None
            after, is_end = step
            if is_end:
                return after
            self.widths += sum(map(measure_width, self.text[at:after]))
            at = after
            if self.widths > MAX_WIDTH:
                return self.comma or self.space or at
        return len(self.text) if self.is_all else None

    def _step(self, at: int) -> Step | None:
        """Return the offset to go on from after `at`, and whether the sentence ends there; None if not known yet."""
        sign = self.text[at]
        if sign == "`" and not self.is_all and len(self.text) - at < len(CODE):
            return None  # may become a code fence
        if sign in SPANS and self._is_opening(at):
            return self._skip_span(at)
        if sign in NARROW or sign in WIDE:
            return self._end_at_sign(at)
        if sign in COMMAS or sign in WIDE_COMMAS:
            return self._end_at_comma(at)
        if sign.isspace():
            self.space = at
        return at + 1, False

    def _is_opening(self, at: int) -> bool:
        sign, following = self.text[at], self.text[at + 1 : at + 2]
        if sign in "*_":
            before = self.text[at - 1 : at]
            return before != sign and following != sign and not following.isspace() and not before.isalnum()
        return sign != "<" or not following or following.isalpha() or following == "/"

    def _skip_span(self, at: int) -> Step | None:
        """Return the offset after the span that opens at `at`, or after its first character if nothing closes it soon
        on this line; None if that is not known yet.
        """
        most = at + MAX_SPAN
        line = self.text.find("\n", at, most)
        closed = self.text.find(SPANS[self.text[at]], at + 1, most if line < 0 else line)
        if closed > 0:
            return closed + 1, False
        is_known = self.is_all or line >= 0 or len(self.text) >= most
        return (at + 1, False) if is_known else None

    def _end_at_sign(self, at: int) -> Step | None:
        end = at
        while end < len(self.text) and self.text[end] in NARROW + WIDE:
            end += 1
        signs = self.text[at:end]
        while end < len(self.text) and (
            self.text[end] in CLOSING or (self.text[end] in MARKS and self.text[end] in self.text[:at])
        ):
            end += 1
        if end == len(self.text):
            return (end, True) if self.is_all else None
        if any(sign in WIDE for sign in signs):
            return end, True
        # Narrow ones need a space after them, and no small letter after that.
        following = self.text[end]
        if not following.isspace():
            return end, measure_width(following) == 2 and following.isalpha() and bool(signs.strip(".…"))
        if signs == "." and self._is_abbreviation(at) and following != "\n":
            return end, False
        rest = self.text[end:].lstrip(" \t\u00a0")
        if not rest:
            return (len(self.text), True) if self.is_all else None
        return end, not rest[0].islower()

    def _is_abbreviation(self, at: int) -> bool:
        """Return whether the point belongs to the word before it: an abbreviation, an initial, the number of a line."""
        words = self.text[:at].split()
        word = words[-1].lstrip("(（[\"'“‘*_") if words and not self.text[at - 1 : at].isspace() else ""
        if word.isdigit():
            return len(words) == 1 and self.text[:at].strip() == word
        parts = word.split(".")
        is_initials = all(len(part) <= 2 and part.isalpha() for part in parts) and len(parts) > 1
        return word.lower() in ABBREVIATIONS or is_initials or (len(word) == 1 and word.isupper())

    def _end_at_comma(self, at: int) -> Step | None:
        end = at + 1
        if self.text[at] in COMMAS:
            if end == len(self.text) and not self.is_all:
                return None
            if not self.text[end : end + 1].isspace():
                return end, False
        if self.is_first and self.widths >= MIN_FIRST_WIDTH:
            return end, True
        if self.widths >= MAX_WIDTH // 3:
            self.comma = end
        return end, False


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence to be said aloud: its number from 0, its offsets in the text, its text, and what is `said` aloud."""

    number: int
    start: int
    end: int
    text: str
    said: str


class SentenceStream:
    """Splits a text that comes in pieces. Sentences with nothing to say, such as code or an emoji, get no number."""

    def __init__(self) -> None:
        self._waiting = ""
        self._start = 0  # offset of `_waiting` in the text
        self._count = 0
        self._is_code = False

    def add(self, text: str) -> list[Sentence]:
        """Return the sentences that are complete with this piece."""
        self._waiting += text
        return self._take_sentences(is_all=False)

    def finish(self) -> list[Sentence]:
        """Return the remaining sentences: no more text will come."""
        return self._take_sentences(is_all=True)

    def _take_sentences(self, *, is_all: bool) -> list[Sentence]:
        found: list[Sentence] = []
        while self._waiting:
            if self._is_code:
                closed = self._waiting.find(CODE)
                if closed < 0:  # keep what may be the beginning of the closing fence
                    self._drop(max(0, len(self._waiting) - len(CODE) + 1))
                    break
                self._is_code = False
                self._drop(closed + len(CODE))
            self._drop(len(self._waiting) - len(self._waiting.lstrip()))
            if self._waiting.startswith(CODE):
                self._is_code = True
                self._drop(len(CODE))
                continue
            end = find_end(self._waiting, is_all=is_all, is_first=self._count == 0)
            if end is None or not self._waiting:
                break
            text = self._waiting[:end].rstrip()
            if said := filter_speech(text):
                found.append(Sentence(self._count, self._start, self._start + len(text), text, said))
                self._count += 1
            self._drop(end)
        return found

    def _drop(self, count: int) -> None:
        self._waiting = self._waiting[count:]
        self._start += count


def split_sentences(text: str) -> list[Sentence]:
    """Return all sentences of a complete text."""
    stream = SentenceStream()
    return stream.add(text) + stream.finish()
