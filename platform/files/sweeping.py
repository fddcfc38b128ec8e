"""What a crash, a lost line or a restored backup leaves: contents without a row, and rows without their content."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import groupby
from typing import NamedTuple

import structlog
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Min

from files.models import StoredFile
from files.storages.private import Content, private

log = structlog.get_logger(__name__)
YOUNG = timedelta(hours=1)  # a content comes before its row
DIGITS = "0123456789abcdef"


class Swept(NamedTuple):
    removed: int
    missing: int


def sweep(now: datetime) -> Swept:
    """How many contents were removed because no row names them, and how many rows were found without their content.

    It goes share by share, so that neither list is ever whole in memory. StorageAwayError: the next one goes on.
    What is older than the database is not its own: a new one at an old folder, or one whose backup is yet to be played
    back, would else remove all that there is.
    """
    removed = missing = strange = 0
    began_at = _database_began_at()
    for share, contents in _shares():
        rows = StoredFile.objects.filter(key__startswith=share)
        before = set(rows.values_list("key", flat=True))
        listed = {one.key: one.stored_at for one in contents}
        named = before | set(rows.values_list("key", flat=True))  # also those that came meanwhile
        unnamed = {key: at for key, at in listed.items() if key not in named and at < now - YOUNG}
        ours = [key for key, at in unnamed.items() if at >= began_at]
        removed, strange = removed + _remove(ours), strange + len(unnamed) - len(ours)
        missing += _note(before - set(listed), now)
        _take_back(set(listed), share)
    if strange:
        log.error("contents are older than the database, and stay", count=strange)
    return Swept(removed, missing)


def _database_began_at() -> datetime:
    """When its first table was made; a backup that is played back tells of the database that it was made of."""
    recorded = MigrationRecorder(connection).migration_qs
    began_at: datetime = recorded.aggregate(first=Min("applied"))["first"]
    return began_at


def _shares() -> Iterator[tuple[str, list[Content]]]:
    """What all keys of a share begin with, and what the storage has of it; storages list by name."""
    for kind in StoredFile.Kind.values:
        listed = groupby(private().contents(kind), _share)
        share, contents = next(listed, ("", iter(())))
        for digit in DIGITS:
            while share and share < f"{kind}/{digit}":  # nothing that Kith has put there
                share, contents = next(listed, ("", iter(())))
            is_here = share == f"{kind}/{digit}"
            yield f"{kind}/{digit}", list(contents) if is_here else []


def _share(content: Content) -> str:
    """The kind, and the first digit of the folder under it."""
    return content.key[: content.key.index("/") + 2]


def _remove(keys: list[str]) -> int:
    if keys:
        private().remove(keys)
        log.info("contents without a row were removed", count=len(keys))
    return len(keys)


def _note(keys: set[str], now: datetime) -> int:
    """Rows deleted meanwhile are no longer there to be noted."""
    missing = StoredFile.objects.filter(key__in=keys)
    new = missing.filter(missed_at=None).update(missed_at=now)
    if new:
        log.error("files have no content", count=new)
    return missing.count() if keys else 0


def _take_back(keys: set[str], share: str) -> None:
    """What was missing and is there again, as after a backup was played back."""
    noted = StoredFile.objects.filter(key__startswith=share, missed_at__isnull=False)
    back = [one.pk for one in noted if one.key in keys]
    StoredFile.objects.filter(pk__in=back).update(missed_at=None)
