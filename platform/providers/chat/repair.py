"""Repair of JSON that is nearly valid: trailing commas, single quotes, a comment, an answer that was cut.

An entry that was cut is left out as a whole: half an entry would tell half the truth.
"""

import re
from typing import Any

from json_repair import repair_json

MAX_CHARACTERS = 60_000
MAX_DEPTH = 12  # deeper objects are no answer, and take the library time quadratic in their depth
CUT_DEPTH = 2  # the depth of lists in an answer: their whole entries are kept if the rest was cut
FENCE = re.compile(r"\n?```\s*\Z")


def repair_object(text: str) -> dict[str, Any] | None:
    """Return the object that begins at the start of the text, repaired, or None if nothing whole is left of it."""
    text = FENCE.sub("", text[:MAX_CHARACTERS])
    whole = _leave_out_cut(text)
    if whole is None:
        return None
    try:
        repaired = repair_json(whole, return_objects=True, skip_json_loads=True)
    except (ValueError, RecursionError):
        return None
    if isinstance(repaired, list):  # prose behind the object, or another one
        repaired = next((part for part in repaired if isinstance(part, dict)), None)
    return repaired if isinstance(repaired, dict) and repaired else None


def _leave_out_cut(text: str) -> str | None:
    """Return the text up to the end of its object or, if that was cut, of its last whole entry.

    Return None if it has no whole entry or is nested too deeply.
    """
    depth, whole_until, is_string, is_escaped = 0, 0, False, False
    for at, character in enumerate(text):
        if is_escaped:
            is_escaped = False
        elif is_string:
            is_escaped, is_string = character == "\\", character != '"'
        elif character == '"':
            is_string = True
        elif character in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                return None
        elif character in "]}":
            depth -= 1
            if depth <= 0:
                return text[: at + 1]
            whole_until = at + 1 if depth <= CUT_DEPTH else whole_until
        elif character == "," and depth == 1:
            whole_until = at
    return text[:whole_until] if whole_until else None
