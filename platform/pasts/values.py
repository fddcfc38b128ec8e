"""Values of JSON that strangers wrote, read as the type that they have to be."""

from typing import Any


def as_mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def as_text(value: object) -> str:
    return value if isinstance(value, str) else ""
