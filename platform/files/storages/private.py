"""What Kith asks of a storage beside Django's own: parts of a content, all there are, and many removed at once."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple, NoReturn, Protocol, cast

from django.core.files.storage import storages


class Content(NamedTuple):
    """One content as the storage lists it."""

    key: str
    stored_at: datetime


class Part(Protocol):
    """A content, or a part of one, as it comes."""

    def read(self, count: int = -1) -> bytes: ...

    def close(self) -> None: ...


class Private(Protocol):
    """All of it raises StorageAwayError where the storage fails; a content that is not there: ContentLostError."""

    def put(self, key: str, content: bytes, content_type: str) -> None: ...

    def part(self, key: str, start: int, end: int, of: int) -> Part:
        """A stream that gives the bytes from `start` up to, not with, `end` of a content of `of` bytes."""

    def contents(self, folder: str) -> Iterator[Content]:
        """All under that folder, by name."""

    def remove(self, keys: Iterable[str]) -> None:
        """Remove them; one that is not there is as good as removed."""


class NoLinks:
    """A storage's own link opens to whoever has it, and stays open: here it is never made."""

    def url(self, name: str | None, *args: object, **kwargs: object) -> NoReturn:
        raise NotImplementedError("Contents are given by a view that checks who asks.")


def private() -> Private:
    """The storage of what is private, as the settings have it now."""
    return cast(Private, storages["private"])
