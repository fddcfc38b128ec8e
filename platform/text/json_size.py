"""How many values JSON has, which tells better than its length how much time and memory parsing takes.

Nobody else in the process is served while it is parsed: 20 MB of empty lists take four seconds and half a gigabyte.
"""

import re

MAX_VALUES = 1_000_000
STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)


class TooManyValuesError(ValueError):
    """JSON is not parsed, since it has more than MAX_VALUES values."""


def count_values(content: bytes) -> int:
    """Return about how many values the JSON has, judged by its punctuation, also that within its strings."""
    return sum(map(content.count, (b",", b"[", b"{")))


def check_json(content: bytes) -> bytes:
    """Return the JSON; raise TooManyValuesError if it has more than MAX_VALUES values. It may be invalid."""
    if count_values(content) > MAX_VALUES and (
        content.count(b'"') > MAX_VALUES or count_values(STRING.sub(b"", content)) > MAX_VALUES
    ):
        raise TooManyValuesError
    return content
