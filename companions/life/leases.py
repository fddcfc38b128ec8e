"""All rows that workers lease, and what happens to their leases if a worker dies or the machine's clock was wrong.

The column of a lease is also where a row waits for its next attempt, so the two cannot be told apart. To try a row too
early does no harm: a worker that has lost its lease writes nothing.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import structlog
from django.db.models import QuerySet

from companions.models import ArchiveUpload, Closing, Comparison, Life, PastImport, Session, Waking
from jobs.lease import LEASE_TIME, RETRY_DELAY
from memory.models import Consolidation, DiaryEntry, Document

log = structlog.get_logger(__name__)


def _list_leased() -> Iterator[tuple[QuerySet[Any], str]]:
    """Yield the unfinished rows of each table that has leases, with the name of their lease's column."""
    yield ArchiveUpload.objects.filter(state=ArchiveUpload.State.WAITING), "look_at"
    yield Closing.objects.open(), "next_at"
    yield Comparison.objects.filter(ended_at=None), "next_at"
    yield Consolidation.objects.filter(state=Consolidation.State.WAITING), "next_at"
    yield DiaryEntry.objects.filter(is_stale=True), "next_at"
    yield Document.objects.all(), "next_at"
    yield Life.objects.all(), "reflect_at"
    yield PastImport.objects.filter(state__in=[PastImport.State.WAITING, PastImport.State.UNDOING]), "look_at"
    yield Session.objects.filter(ended_at=None), "digest_at"
    yield Waking.objects.waiting(), "look_at"


def shorten_leases(now: datetime) -> int:
    """Shorten all leases to RETRY_DELAY, once no worker lives that could hold them; return how many were longer.

    They are not ended: a row that kills each worker that takes it leaves the worker time for other work.
    """
    soon, count = now + RETRY_DELAY, 0
    for rows, column in _list_leased():
        longer = {f"{column}__gt": soon, f"{column}__lte": now + LEASE_TIME}
        count += rows.filter(**longer).update(**{column: soon})
    if count:
        log.info("leases_shortened", rows=count)
    return count


def end_leases_after(far: datetime, now: datetime) -> int:
    """End the leases that last beyond `far`, as the clock was ahead when they were taken; return how many."""
    return sum(
        rows.filter(**{f"{column}__gt": far}).update(**{column: now}) for rows, column in _list_leased()
    )
