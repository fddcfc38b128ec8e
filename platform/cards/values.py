"""Values of JSON that strangers wrote: parsed and cleaned within limits, and read as the type that they have to be."""

import base64
import binascii
import json
import math
from typing import Any

MAX_JSON_BYTES = 5_000_000
MAX_DEPTH = 64
MAX_VALUES = 300_000
MAX_NUMBER = 2**53  # beyond it other programs round
BASE64 = bytes.maketrans(b"-_", b"+/")
SAID = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False, "": False}


class CardFormatError(Exception):
    """The file is no card, or costs more than a card may; `reader.py` has a sentence for each code."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def parse_json(content: bytes, max_bytes: int = MAX_JSON_BYTES) -> Any:
    """Return what the JSON says: UTF-8, UTF-16 or UTF-32. What is no JSON after all, as NaN, `clean` refuses.

    CardFormatError `too_large`, `too_deep`, `broken_json`.
    """
    # What it will cost is told by its marks: an empty list is two bytes here and sixty there.
    if len(content) > max_bytes or sum(map(content.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise CardFormatError("too_large")
    try:
        text = content.decode(json.detect_encoding(content))
        return json.loads(text.removeprefix("\ufeff"))
    except RecursionError:
        raise CardFormatError("too_deep") from None
    except ValueError:
        raise CardFormatError("broken_json") from None


def decode_base64(text: bytes) -> bytes:
    """Return what it encodes, whatever spaces stand within, and whether it is padded. CardFormatError `broken_text`."""
    plain = text.translate(BASE64, b" \t\r\n\0").rstrip(b"=")
    try:
        return base64.b64decode(plain + b"=" * (-len(plain) % 4), validate=True)
    except binascii.Error:
        raise CardFormatError("broken_text") from None


def clean(raw: object) -> tuple[Any, bool]:
    """Return a copy that PostgreSQL can keep, and whether any text is another: NUL goes, half a character is marked.

    CardFormatError `too_large`, `too_deep`; `broken_json` for what JSON does not know.
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
    """Return a string, whatever stands in its place."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(map(as_text, value))
    return "" if value is None or isinstance(value, bool | dict) else str(value)


def as_texts(value: object, separator: str | None = None) -> list[str]:
    """Return a list of strings; one string alone is its only one, or is parted where `separator` is."""
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
        return SAID.get(value.strip().lower(), default)
    return bool(value) if isinstance(value, int | float) else default


def as_number(value: object, default: float | None) -> int | float | None:
    """Return a number that other programs can hold, or `default`; a numeral is one as well."""
    if isinstance(value, str):
        try:
            number = float(value[:40])
        except ValueError:
            return default
        value = int(number) if number.is_integer() else number
    if isinstance(value, bool) or not isinstance(value, int | float):
        return default
    return value if abs(value) <= MAX_NUMBER else default
