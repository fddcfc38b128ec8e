"""The collector checks what readers find and writes it out message by message, so that no file is in memory twice.

The sandbox's output format: a line of JSON for each message, [id, parent, speaker, is_person, text, at], and after the
messages of each past the line [title, id, leaf]. `at` is microseconds since 1970 in UTC, or an ISO time without a zone.
"""

import re
from datetime import datetime
from hashlib import sha256
from typing import IO, Any

import orjson

from pasts.past import MAX_CHARACTERS, MAX_ID, MAX_MESSAGES, MAX_NAME, PastFormatError
from pasts.times import EPOCH

MAX_BODY_BYTES = 240_000_000
MAX_ITEMS = 4 * MAX_MESSAGES
ITEMS_A_TALK = 10  # counted for each talk, even an empty one
REASONING = re.compile(r"\s*<(think|thinking|thoughts|reasoning)>", re.IGNORECASE)


class Collector:
    """Collects pasts: call `add` for each message, parents first, and `end` after the last message of a past.

    Messages are written to `body` as they are added.
    """

    def __init__(self, body: IO[bytes]) -> None:
        self.remarks: set[str] = set()
        self.pattern = ""  # the template with which plain text was read
        self.count = 0
        self.pasts = 0
        self._body, self._written = body, 0
        self._items = 0
        self._ids: dict[str, int] = {}  # the ids of the past being read, and how often each occurred

    def add(
        self, id: str, *, parent: str | None, speaker: object, is_person: bool, text: str, at: datetime | None
    ) -> str | None:
        """Write the message and return the id given to it, or None if its text is blank. Raise PastFormatError."""
        text = self.clean(text if is_person else self._strip_reasoning(text))
        if not text.strip():
            return None
        if len(text) > MAX_CHARACTERS:
            raise PastFormatError("message_too_long")
        self.count += 1
        if self.count > MAX_MESSAGES:
            raise PastFormatError("too_many_messages")
        if at is None:
            self.remarks.add("times_missing")
        given = self._choose_id(self.shorten_id(id))
        self._write([given, parent, self.clean_name(speaker), is_person, text, write_time(at)])
        return given

    def count_items(self, count: int = 1) -> None:
        """Count nodes, parts, swipes or candidates that are examined, whether or not they become messages.

        Raise PastFormatError `too_many_messages` beyond MAX_ITEMS, more than any permitted file needs.
        """
        self._items += count
        if self._items > MAX_ITEMS:
            raise PastFormatError("too_many_messages")

    def count_talk(self) -> None:
        """Count a talk that is examined. Raise PastFormatError `too_many_messages`."""
        self.count_items(ITEMS_A_TALK)

    def end(self, *, title: object, id: object = "", leaf: str | None) -> None:
        """Close the past whose messages were added; a past without messages is left out.

        If `leaf` was not added, e.g. because the chosen message is blank, the last message becomes the leaf.
        """
        if self._ids:
            leaf = leaf if leaf in self._ids else next(reversed(self._ids))
            self._write([self.clean_name(title), self.shorten_id(id), leaf])
            self.pasts += 1
        else:
            self.remarks.add("empty_left_out")
        self._ids = {}

    def clean(self, text: str) -> str:
        """Return the text in a form that PostgreSQL can store: without NUL, and with U+FFFD for lone surrogates."""
        try:
            text.encode()
        except UnicodeEncodeError:
            self.remarks.add("text_cleaned")
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if "\0" in text or "\ufffd" in text:
            self.remarks.add("text_cleaned")
        return text.replace("\0", "")

    def clean_name(self, value: object) -> str:
        return (
            " ".join(self.clean(value[: 2 * MAX_NAME]).split())[:MAX_NAME] if isinstance(value, str) else ""
        )

    def shorten_id(self, value: object) -> str:
        """Return the id as a string of at most MAX_ID characters, always the same for the same id."""
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10 ** (MAX_ID - 1):
            return str(value)
        text = value if isinstance(value, str) else ""
        if len(text) <= MAX_ID and text.isascii() and text.isprintable():
            return text
        return sha256(text.encode(errors="replace")).hexdigest()

    def _choose_id(self, wanted: str) -> str:
        """Return the id, or a new one derived from it if another message of the past has it already."""
        given = wanted
        while given in self._ids:
            self._ids[wanted] += 1
            given = f"{wanted[: MAX_ID - 10]}~{self._ids[wanted]}"
        self._ids[given] = 1
        return given

    def _strip_reasoning(self, text: str) -> str:
        """Return the text without the model's reasoning that some programs leave at the beginning of an answer."""
        if found := REASONING.match(text):
            end = text.lower().find(f"</{found[1].lower()}>", found.end())
            if end >= 0:
                self.remarks.add("reasoning_left_out")
                return text[end + len(found[1]) + 3 :].lstrip()
        return text

    def _write(self, line: list[Any]) -> None:
        written = orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)
        self._written += len(written)
        if self._written > MAX_BODY_BYTES:
            raise PastFormatError("too_large")
        self._body.write(written)


def write_time(at: datetime | None) -> int | str | None:
    if at is None:
        return None
    if at.tzinfo is None:
        return at.isoformat()
    since = at - EPOCH
    return (since.days * 86_400 + since.seconds) * 10**6 + since.microseconds
