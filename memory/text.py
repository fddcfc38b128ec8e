"""Text that a database and a tokeniser can take, and no more of it than tells something."""

from typing import TypeVar

Part = TypeVar("Part")


def storable(text: str) -> str:
    """The text without NULs and lone surrogates, which neither UTF-8 nor Postgres can hold."""
    return text.replace("\x00", "").encode("utf-8", "ignore").decode()


def ends(parts: list[Part], most: int) -> list[Part]:
    """All parts where they are not too many, else the first and the last, half of each."""
    return parts if len(parts) <= most else parts[: most // 2] + parts[-(most // 2) :]
