"""Search keys in texts, as literals or as regular expressions with limits on size and time. Pure."""

import re
import time
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate

import regex

from text.strings import folded

MAX_TEXT_CHARACTERS = 100_000  # searched for one entry, newest first
MAX_PATTERN_TEXT_CHARACTERS = 20_000
MAX_PATTERN_CHARACTERS = 500
MAX_PATTERNS = 200  # of one book
MAX_EXPANDED_SIGNS = 5_000  # of one pattern, with repetitions written out as compiling does
PATTERN_TIMEOUT_SECONDS = 0.02  # of one search
MAX_TIMEOUTS = 5  # of one book in one scan
MAX_PATTERNS_SECONDS = 0.25  # of one book in one scan

# Scripts without blanks between words, in which no word boundaries can be found.
SPACELESS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}"
WORD = regex.compile(rf"(?:(?![{SPACELESS}])[\w\p{{M}}])+")

LITERAL = re.compile(r"/(.+)/([dgimsuvy]*)", re.DOTALL)
UNESCAPED_SLASH = re.compile(r"(?<!\\)(?:\\\\)*/")
ESCAPE_OR_BRACE = re.compile(
    r"\\u\{(?P<code>[0-9A-Fa-f]{1,6})\}|\\[pP]\{[^{}]*\}|\\.|\[\^\]|\{\d+(?:,\d*)?\}|(?P<brace>\{)", re.DOTALL
)
FLAGS = {"i": regex.IGNORECASE, "m": regex.MULTILINE, "s": regex.DOTALL}
CLASS = re.compile(r"\[\^?\]?[^\]]*\]")
PIECE = re.compile(r"\{(?P<least>\d+)(?:,\d*)?\}|.", re.DOTALL)
GROUP_OPENER = re.compile(r"\(\?(?![:=!>]|<[=!]|P?<[A-Za-z_]\w*>|P=\w+\)|[ims]+\)|[ims]*(?:-[ims]+)?:)")


@dataclass(frozen=True, slots=True)
class Passage:
    """One text that is searched: a message, a part of the persona, or another entry's content."""

    text: str
    message: int | None = None  # counted back from the newest, which is 0
    source: str = ""  # the part of the persona
    entry: str = ""  # the other entry's key


@dataclass(frozen=True, slots=True)
class Key:
    """One key of an entry. `needle` is the literal to search for, case-folded unless the key is case-sensitive."""

    text: str
    needle: str
    is_pattern: bool
    is_case_sensitive: bool
    is_whole_word: bool


def make_key(text: str, is_pattern: bool, is_case_sensitive: bool, is_whole_word: bool) -> Key:
    """Return a key; it is a pattern if `is_pattern` or if it is written as `/pattern/flags`."""
    return Key(
        text=text,
        needle=text if is_case_sensitive else folded(text).strip(),
        is_pattern=is_pattern or is_pattern_literal(text),
        is_case_sensitive=is_case_sensitive,
        is_whole_word=is_whole_word,
    )


@dataclass(frozen=True, slots=True)
class Hit:
    """Where a key was found."""

    key: str
    passage: Passage


class Haystack:
    """Passages, newest first, joined only once for all keys that are searched in them."""

    def __init__(self, passages: Iterable[Passage]) -> None:
        self.passages: list[Passage] = []
        room = MAX_TEXT_CHARACTERS
        for passage in passages:
            if room <= 0:
                break
            cut = passage.text[:room]
            self.passages.append(Passage(cut, passage.message, passage.source, passage.entry))
            room -= len(cut)

    @cached_property
    def plain(self) -> "Joined":
        return Joined([passage.text for passage in self.passages])

    @cached_property
    def folded(self) -> "Joined":
        return Joined([folded(passage.text) for passage in self.passages])

    def find(self, key: Key) -> Hit | None:
        """Return where the literal is found; None if it is not, or is empty."""
        joined = self.plain if key.is_case_sensitive else self.folded
        index = joined.find(key.needle, key.is_whole_word)
        return None if index is None else Hit(key.text, self.passages[index])


class Joined:
    """Texts joined into one string, so that a key which none of them contains costs a single search."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._whole = "\x00".join(texts)
        self._starts = list(accumulate((len(text) + 1 for text in texts), initial=0))

    @cached_property
    def _words(self) -> dict[str, int]:
        words: dict[str, int] = {}
        for index, text in enumerate(self._texts):
            for word in WORD.findall(text):
                words.setdefault(word, index)
        return words

    def find(self, needle: str, is_whole_word: bool) -> int | None:
        """Return the index of the first text that contains the needle, or None.

        With `is_whole_word`, a needle of one word matches whole words only. One with blanks or punctuation, or in a
        script without blanks, is found within words, too, as SillyTavern does for several words.
        """
        if not needle or "\x00" in needle:
            return None
        if is_whole_word and WORD.fullmatch(needle):
            return self._words.get(needle)
        place = self._whole.find(needle)
        return None if place < 0 else bisect_right(self._starts, place) - 1


class PatternError(ValueError):
    """A regular expression was refused, or its search was stopped. The argument is the code of the reason."""


class Patterns:
    """The regular expressions of one scan: each is compiled once; each book is limited in their number and time.

    `clock` returns seconds, by default this thread's CPU time.
    """

    def __init__(self, clock: Callable[[], float] = time.thread_time) -> None:
        self._clock = clock
        self._compiled: dict[tuple[str, Key], regex.Pattern[str] | str] = {}
        self._counts: Counter[str] = Counter()
        self._timeouts: Counter[str] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def find(self, key: Key, book_id: str, haystack: Haystack) -> Hit | None:
        """Return the first passage, newest first, in which the pattern matches, as a hit, or None.

        Raise PatternError if the pattern is invalid, not allowed, or too slow, or if its book has too many patterns or
        they took too long.
        """
        pattern = self._compile(key, book_id)
        room = MAX_PATTERN_TEXT_CHARACTERS
        for passage in haystack.passages:
            if room <= 0:
                break
            if self._is_exhausted(book_id):
                raise PatternError("patterns_stopped")
            began = self._clock()
            try:
                is_found = pattern.search(passage.text[:room], timeout=PATTERN_TIMEOUT_SECONDS) is not None
            except (TimeoutError, MemoryError, RecursionError) as error:
                self._timeouts[book_id] += 1
                self._compiled[book_id, key] = "pattern_too_slow"
                raise PatternError("pattern_too_slow") from error
            finally:
                self._seconds[book_id] += self._clock() - began
            if is_found:
                return Hit(key.text, passage)
            room -= len(passage.text)
        return None

    def _is_exhausted(self, book_id: str) -> bool:
        return self._timeouts[book_id] >= MAX_TIMEOUTS or self._seconds[book_id] >= MAX_PATTERNS_SECONDS

    def _compile(self, key: Key, book_id: str) -> regex.Pattern[str]:
        known = self._compiled.get((book_id, key))
        if known is None:
            if self._is_exhausted(book_id):
                raise PatternError("patterns_stopped")
            self._counts[book_id] += 1
            began = self._clock()
            try:
                if self._counts[book_id] > MAX_PATTERNS:
                    raise PatternError("too_many_patterns")
                known = compile_pattern(key.text, key.is_case_sensitive)
            except PatternError as error:
                known = str(error)
            self._seconds[book_id] += self._clock() - began
            self._compiled[book_id, key] = known
        if isinstance(known, str):
            raise PatternError(known)
        return known


def is_pattern_literal(text: str) -> bool:
    """Return whether the key is written as `/pattern/flags`."""
    match = LITERAL.fullmatch(text)
    return match is not None and not UNESCAPED_SLASH.search(match[1])


@lru_cache(maxsize=512)
def compile_pattern(text: str, is_case_sensitive: bool) -> regex.Pattern[str]:
    """Compile the pattern, with the flags of `/pattern/flags` if it is written so. Raise PatternError.

    Only syntax that JavaScript has as well is allowed; a pattern that would take much memory to compile is refused.
    """
    flags = 0 if is_case_sensitive else regex.IGNORECASE
    if is_pattern_literal(text):
        text, _slash, letters = text[1:].rpartition("/")
        if set(letters) & set("dvy"):
            raise PatternError("pattern_flag")
        flags = sum(FLAGS.get(letter, 0) for letter in set(letters))
    if not text or len(text) > MAX_PATTERN_CHARACTERS:
        raise PatternError("pattern_too_large" if text else "pattern_invalid")
    text = ESCAPE_OR_BRACE.sub(_translate, text)
    bare = re.sub(r"\\.", "_", text, flags=re.DOTALL)
    if GROUP_OPENER.search(bare) or "[[:" in bare:
        raise PatternError("pattern_invalid")
    if _count_expanded(CLASS.sub("_", bare)) > MAX_EXPANDED_SIGNS:
        raise PatternError("pattern_too_large")
    try:
        return regex.compile(text, flags | regex.VERSION0, cache_pattern=False)
    except (
        regex.error,
        ValueError,
        OverflowError,
        RecursionError,
        MemoryError,
        KeyError,
        IndexError,
    ) as error:
        raise PatternError("pattern_invalid") from error


def _translate(match: re.Match[str]) -> str:
    """Return JavaScript syntax in that of the `regex` module; a brace that is no quantifier becomes a literal one."""
    if code := match["code"]:
        return f"\\U{int(code, 16):08x}" if int(code, 16) <= 0x10FFFF else match[0]
    if match["brace"]:
        return r"\{"
    return r"[\s\S]" if match[0] == "[^]" else match[0]


def _count_expanded(bare: str) -> int:
    """Return about how many signs compiling writes out. Raise PatternError if the parentheses are not balanced.

    `regex` copies a repeated part once for each required repetition, and once more: 25 nested `+` make 30 million
    copies, and `a{99999999}` takes all memory before any time limit begins.
    """
    sizes, last = [0], 0
    for piece in PIECE.finditer(bare):
        if piece[0] == "(":
            sizes.append(0)
        elif piece[0] == ")":
            if len(sizes) == 1:
                raise PatternError("pattern_invalid")
            last = sizes.pop() + 1
            sizes[-1] += last
        elif piece["least"] or piece[0] == "+":
            more = last * int((piece["least"] or "1")[:9])
            sizes[-1] += more
            last += more
        elif piece[0] not in "*?":
            last = 1
            sizes[-1] += 1
    if len(sizes) > 1:
        raise PatternError("pattern_invalid")
    return sizes[0]
