"""Values of untrusted JSON: parsed and cleaned within limits, and coerced to the expected types."""

import base64
import binascii
import json
import math
from typing import Any

from text.json_size import count_values

MAX_JSON_BYTES = 5_000_000
MAX_DEPTH = 64
MAX_VALUES = 300_000
MAX_NUMBER = 2**53  # other programs round larger ones
BASE64 = bytes.maketrans(b"-_", b"+/")
FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False, "": False}


class CardFormatError(Exception):
    """The file is not a card, or exceeds a limit; `reader.py` has a sentence for each `code`."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def parse_json(content: bytes, max_bytes: int = MAX_JSON_BYTES) -> Any:
    """Return the parsed JSON, which may be in UTF-8, UTF-16 or UTF-32. NaN and infinities are left to `clean`.

    Raise CardFormatError `too_large`, `too_deep` or `broken_json`.
    """
    if len(content) > max_bytes or count_values(content) > MAX_VALUES:
        raise CardFormatError("too_large")
    try:
        text = content.decode(json.detect_encoding(content))
        return json.loads(text.removeprefix("\ufeff"))
    except RecursionError:
        raise CardFormatError("too_deep") from None
    except ValueError:
        raise CardFormatError("broken_json") from None


def decode_base64(text: bytes) -> bytes:
    """Return the decoded bytes, allowing whitespace, URL-safe letters and no padding. Raise CardFormatError."""
    plain = text.translate(BASE64, b" \t\r\n\0").rstrip(b"=")
    try:
        return base64.b64decode(plain + b"=" * (-len(plain) % 4), validate=True)
    except binascii.Error:
        raise CardFormatError("broken_text") from None


def clean(raw: object) -> tuple[Any, bool]:
    """Return a copy that PostgreSQL can store (no NUL, U+FFFD for lone surrogates), and whether any text changed.

    Raise CardFormatError `too_large` or `too_deep`, or `broken_json` for values that JSON does not have, e.g. NaN.
    """
    left, text_left, is_changed = MAX_VALUES, MAX_JSON_BYTES, False

    def copy_text(text: str) -> str:
        nonlocal text_left, is_changed
        text_left -= len(text)
        if text_left < 0:
            raise CardFormatError("too_large")
        if "\0" in text or not _is_whole(text):
            is_changed = True
            return text.replace("\0", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return text

    def copy(value: object, depth: int) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise CardFormatError("too_large")
        if depth > MAX_DEPTH:
            raise CardFormatError("too_deep")
        if isinstance(value, str):
            return copy_text(value)
        if isinstance(value, dict):
            return {copy_text(str(key)): copy(inner, depth + 1) for key, inner in value.items()}
        if isinstance(value, list):
            return [copy(inner, depth + 1) for inner in value]
        if value is None or isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
            return value
        raise CardFormatError("broken_json")

    return copy(raw, 1), is_changed


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def as_text(value: object) -> str:
    """Return `value` as a string: lists are joined by newlines; None, booleans and objects become ""."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(map(as_text, value))
    return "" if value is None or isinstance(value, bool | dict) else str(value)


def as_texts(value: object, separator: str | None = None) -> list[str]:
    """Return `value` as a list of strings; a single string becomes a list of one, or is split at `separator`."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [as_text(inner) for inner in value if inner is not None]
    text = as_text(value)
    parts = text.split(separator) if separator else [text]
    return [part.strip() if separator else part for part in parts if part.strip()]


def as_mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def as_flag(value: object, default: bool) -> bool:
    if isinstance(value, str):
        return FLAGS.get(value.strip().lower(), default)
    return bool(value) if isinstance(value, int | float) else default


def as_number(value: object, default: float | None) -> int | float | None:
    """Return `value` if it is a number, or a string of one, that other programs can represent; otherwise `default`."""
    if isinstance(value, str):
        try:
            number = float(value[:40])
        except ValueError:
            return default
        value = int(number) if number.is_integer() else number
    if isinstance(value, bool) or not isinstance(value, int | float):
        return default
    return value if abs(value) <= MAX_NUMBER else default
