"""Plain text: lines in which a pattern shows who speaks. Which speaker is the person is guessed."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from pasts.collector import Collector
from pasts.past import MAX_CHARACTERS, MAX_MESSAGES, PATTERNS, PastFormatError, TextPattern
from pasts.text_pattern import Beginning, Matcher
from pasts.times import find_order, is_clock, read_date

MAX_LINES = 1_000_000
MAX_UNDATED = MAX_MESSAGES * 3 // 2  # lines that match a pattern without a date; not all need be messages
MAX_LEFT_OUT = MAX_MESSAGES // 2  # pictures, notices, and lines without text
SAMPLE_LINES = 2_000
MAX_LINE_BYTES = 4 * MAX_CHARACTERS
DATES_COMPARED = 20_000
# Names of the person in Character.AI's example chats and some exports.
PERSON = {"{{user}}", "you", "me", "我"}
SEPARATORS = {"<START>", "END_OF_DIALOG"}
OTHER = re.compile(rb"\s*(?:<(?:!doctype|html|svg|\?xml)|\x89PNG|%PDF|\x7fELF)", re.IGNORECASE)
BRACKET = re.compile(rb"\s*[{\[]\s*[{\[\"]")  # the beginning of JSON, unlike a date in brackets
MARK = "\u200e"  # precedes WhatsApp's own texts: an omitted picture, a call, a notice


def read_text(collector: Collector, content: bytes, pattern: TextPattern | None) -> None:
    """Read a file of lines with `pattern`, or with the one of PATTERNS that fits best. Raise PastFormatError."""
    if OTHER.match(content) or b"\0" in content[:MAX_LINE_BYTES]:
        raise PastFormatError("no_past")
    if content.count(b"\n") > MAX_LINES:
        raise PastFormatError("too_many_messages")
    pattern = pattern or find_pattern(content)
    if pattern is None:
        raise PastFormatError("no_past")
    collector.pattern = pattern.template
    matcher = Matcher(pattern)
    names, dates = _survey(content, matcher)
    if not names:
        raise PastFormatError("pattern_unmatched")
    day_first = pattern.day_first
    if day_first is None:
        day_first = find_order(dates)
    if day_first is None:
        collector.remarks.add("dates_guessed")
        day_first = True
    known = _choose_names(names) if matcher.begins_with_name and not matcher.has_date else list(names)
    if len(known) < len(names):
        collector.remarks.add("speakers_guessed")
    person = next((name for name in known if name.casefold() in PERSON), known[0])
    if person.casefold() not in PERSON:
        collector.remarks.add("person_guessed")
    _add_messages(collector, content, matcher, known, person, day_first)


def find_pattern(content: bytes) -> TextPattern | None:
    """Return the first of PATTERNS that matches at least half as many lines as the best; None if there is none.

    Only the first SAMPLE_LINES lines count. A pattern without a date has to match two lines.
    """
    lines = list(islice(iterate_lines(content), SAMPLE_LINES))
    counts = []
    for pattern in PATTERNS:
        matcher = Matcher(pattern)
        counts.append(sum(bool(found and found.name) for found in map(matcher.match, lines)))
    best = max(counts)
    if not best:
        return None
    return next(
        (
            pattern
            for pattern, count in zip(PATTERNS, counts, strict=True)
            if 2 * count >= best and (count > 1 or "{date}" in pattern.template)
        ),
        None,
    )


def is_plain_text(content: bytes) -> bool:
    """Return whether the beginning of a file is lines of text, with or without speakers, and not JSON or HTML."""
    if OTHER.match(content) or BRACKET.match(content):
        return False
    try:
        return len([line for line in islice(iterate_lines(content), SAMPLE_LINES) if line.strip()]) > 1
    except PastFormatError:
        return False


def looks_like_talk(content: bytes) -> bool:
    """Return whether the beginning of a text seems to be a talk.

    That is, it has two dated messages, or at least two recurring speakers to whom half of its lines belong.
    """
    try:
        lines = [line for line in islice(iterate_lines(content), 200) if line.strip()]
    except PastFormatError:
        return False
    for pattern in PATTERNS:
        matcher = Matcher(pattern)
        names = Counter(found.name for line in lines if (found := matcher.match(line)) and found.name)
        if matcher.has_date and names.total() >= 2:
            return True
        often = sum(count > 1 for count in names.values())
        if often >= 2 and 2 * sum(count for count in names.values() if count > 1) >= len(lines):
            return True
    return False


def iterate_lines(content: bytes) -> Iterator[str]:
    """Yield the lines of UTF-8 text. Raise PastFormatError `wrong_encoding`, `message_too_long` or `no_past`."""
    start = 3 if content.startswith(b"\xef\xbb\xbf") else 0
    while start < len(content):
        end = content.find(b"\n", start)
        end = len(content) if end < 0 else end
        if end - start > MAX_LINE_BYTES:
            raise PastFormatError("message_too_long")
        line, start = content[start:end], end + 1
        if b"\0" in line:
            raise PastFormatError("no_past")
        try:
            yield line.decode().removesuffix("\r")
        except UnicodeDecodeError:
            raise PastFormatError("wrong_encoding") from None


def _survey(content: bytes, matcher: Matcher) -> tuple[Counter[str], list[str]]:
    """Return how often each speaker occurs, in order of appearance, and up to DATES_COMPARED dates.

    Raise PastFormatError `too_many_messages`.
    """
    names: Counter[str] = Counter()
    dates: list[str] = []
    said = left_out = 0
    most = MAX_MESSAGES if matcher.has_date else MAX_UNDATED
    for found in map(matcher.match, iterate_lines(content)):
        if found:
            is_said = bool(found.name and (text := found.text.strip()) and not _is_omitted(text))
            said, left_out = said + is_said, left_out + (not is_said)
            if said > most or left_out > MAX_LEFT_OUT:
                raise PastFormatError("too_many_messages")
        if found and found.name:
            names[found.name] += 1
            if found.date and len(dates) < DATES_COMPARED:
                dates.append(found.date)
    return names, dates


def _choose_names(names: Counter[str]) -> list[str]:
    """Return the names taken for speakers in text without dates: the recurring ones if at least two, otherwise all."""
    often = [name for name, count in names.items() if count > 1]
    return often if len(often) > 1 else list(names)


class _Message:
    """A message that is being read line by line."""

    def __init__(self, beginning: Beginning) -> None:
        self.beginning = beginning
        self.lines = [beginning.text]
        self.length = len(beginning.text)

    def add(self, line: str) -> None:
        self.length += len(line) + 1
        if self.length > MAX_CHARACTERS + 1_000:  # more, since blank lines at its end are stripped later
            raise PastFormatError("message_too_long")
        self.lines.append(line)


def _add_messages(
    collector: Collector, content: bytes, matcher: Matcher, speakers: list[str], person: str, day_first: bool
) -> None:
    known = set(speakers)
    message: _Message | None = None
    leaf: str | None = None
    number = 0

    def close() -> None:
        nonlocal leaf, number
        if message is None:
            return
        name, date, _text = message.beginning
        text = "\n".join(message.lines).strip()
        at = None if is_clock(date) else read_date(date, day_first=day_first)
        id, number = str(number), number + 1
        if not name or _is_omitted(text):
            collector.remarks.add("files_left_out" if name else "system_left_out")
            return
        leaf = (
            collector.add(id, parent=leaf, speaker=name, is_person=name == person, text=text, at=at) or leaf
        )

    for line in iterate_lines(content):
        found = matcher.match(line)
        if found and (not found.name or found.name in known):
            close()
            message = _Message(found)
        elif message and line.strip() not in SEPARATORS:
            message.add(line)
        elif not message and line.strip() and line.strip() not in SEPARATORS:
            collector.remarks.add("lines_left_out")
    close()
    collector.end(title=", ".join(name for name in speakers[:20] if name != person), leaf=leaf)


def _is_omitted(text: str) -> bool:
    """Return whether the text only replaces a picture or file, which WhatsApp marks or puts in angle brackets."""
    is_bracketed = text.startswith("<") and text.endswith(">") and len(text) <= 80 and "\n" not in text
    return text.startswith(MARK) or (is_bracketed and " " in text)
