"""JSON objects in what a model wrote: behind prose, in fences, after reasoning. Nothing broken is mended."""

import json
import math
import re
from typing import Any

START = re.compile(r'\{(?=\s*")')  # an empty object answers nothing
INSIDE = re.compile(r'(?:[\[{]|[\]}"\d]\s*,|"\s*:)\Z')  # what stands before a part of something broken
LOOK_BACK = 40
MOST_STARTS = 50
MOST_DIGITS = 18
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def objects(text: str) -> list[dict[str, Any]]:
    """The JSON objects that stand in the text for themselves, in their order.

    One with a key twice, a number beyond all bounds, NaN, a NUL or a lone surrogate is none.
    """
    found: list[dict[str, Any]] = []
    at = 0
    for _ in range(MOST_STARTS):
        start = START.search(text, at)
        if start is None:
            break
        one, at = _decoded(text, start.start())
        if one is not None and not INSIDE.search(text[: start.start()].rstrip()[-LOOK_BACK:]):
            found.append(one)
    return found


def _decoded(text: str, at: int) -> tuple[dict[str, Any] | None, int]:
    """The object that begins there, and where it ends; None, and where to look further, where it is none."""
    try:
        one, end = DECODER.raw_decode(text, at)
    except json.JSONDecodeError as wrong:
        return None, max(wrong.pos, at + 1)
    except (ValueError, RecursionError):
        return None, len(text)
    return (one if _is_storable(one) else None), end


def _is_storable(one: object) -> bool:
    left = [one]
    while left:
        value = left.pop()
        if isinstance(value, str) and UNSTORABLE.search(value):
            return False
        left += (
            [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
        )
    return True


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    one = dict(pairs)
    if len(one) < len(pairs):
        raise ValueError("a key stands there twice")
    return one


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError("a number has too many digits")
    return int(digits)


def _fraction(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number is infinite")
    return number


def _none(name: str) -> float:
    raise ValueError(f"{name} is no number")


DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_int=_whole, parse_float=_fraction, parse_constant=_none
)
