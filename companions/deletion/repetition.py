"""Delete again what people had deleted before an older backup of the database was restored."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.models import AccountDeletion, User
from companions.deletion.deletion import MAX_AT_ONCE, delete_companion, delete_messages, forget_many
from companions.memories.editing import delete_document, delete_entry
from companions.models import Companion, Message, PastImport
from companions.pasts import undo
from database.deletions import read_deletions
from database.journal import everywhere
from memory.models import Block, DiaryEntry, Document, Memory, Slot


def delete_again(now: datetime) -> Counter[str]:
    """Delete what `database.deletions` lists; return how many objects of each kind there were.

    A restored database gives the number of a deleted account to a new one, which is told apart by when it was opened.
    """
    listed, counts = read_deletions(), Counter[str]()
    for user, at in _find_numbered(
        listed["account"], User.objects, lambda user: user.date_joined.isoformat()
    ):
        AccountDeletion.objects.create(account=user.pk, joined_at=user.date_joined, deleted_at=at)
        user.delete()
        counts["account"] += 1
    for companion in Companion.objects.filter(pk__in=[UUID(id) for id, _at in listed["companion"]]):
        delete_companion(companion)
        counts["companion"] += 1
    # Undoing an import spares what other branches know, which deleting its messages one by one does not.
    counts["past"] = _delete_rows(listed["past"], PastImport.objects, _undo_imports, now)
    counts["document"] = _delete_rows(listed["document"], Document.objects, _delete_documents, now)
    counts["message"] = _delete_rows(listed["message"], Message.everywhere, delete_messages, now)
    counts["diary"] = _delete_rows(listed["diary"], DiaryEntry.objects, _delete_entries, now)
    counts["memory"] = _delete_rows(listed["memory"], Memory.everywhere, forget_many, now)
    for model in (Slot, Block):
        kind = model.__name__.lower()
        for row, at in _find_numbered(listed[kind], model.objects, lambda row: str(row.companion_id)):
            if row.changed_at < at:
                with everywhere():
                    row.delete()
                counts[kind] += 1
    return counts


def _find_numbered(
    listed: Sequence[tuple[str, datetime]], rows: Any, read_origin: Callable[[Any], str]
) -> Iterator[tuple[Any, datetime]]:
    """Yield those of the listed rows that exist, each with the time of its last deletion.

    `read_origin` returns what stands beside a row's number in the list.
    """
    times = dict(sorted(listed, key=itemgetter(1)))
    numbers = [int(id.partition("@")[0]) for id in times]
    for first in range(0, len(numbers), MAX_AT_ONCE):
        for row in rows.filter(pk__in=numbers[first : first + MAX_AT_ONCE]):
            if at := times.get(f"{row.pk}@{read_origin(row)}"):
                yield row, at


def _undo_imports(companion_id: UUID, ids: Sequence[UUID], now: datetime) -> None:
    for past in PastImport.objects.filter(companion=companion_id, pk__in=ids):
        undo.begin_undo(past, now)
        undo.run(past.pk, timezone.now)


def _delete_documents(companion_id: UUID, ids: Sequence[UUID], now: datetime) -> None:
    for document in Document.objects.filter(companion=companion_id, pk__in=ids):
        delete_document(document, now)


def _delete_entries(companion_id: UUID, ids: Sequence[UUID], now: datetime) -> None:
    for id in ids:
        delete_entry(companion_id, id, now)


def _delete_rows(
    listed: Sequence[tuple[str, datetime]],
    rows: Any,
    delete: Callable[[UUID, list[UUID], datetime], object],
    now: datetime,
) -> int:
    """Delete those of the listed rows that exist, companion by companion; return how many there were."""
    count = 0
    for first in range(0, len(listed), MAX_AT_ONCE):
        found = rows.filter(pk__in=[UUID(id) for id, _at in listed[first : first + MAX_AT_ONCE]])
        ids: dict[UUID, list[UUID]] = defaultdict(list)
        for pk, companion_id in found.values_list("pk", "companion"):
            ids[companion_id].append(pk)
            count += 1
        for companion_id, own in ids.items():
            delete(companion_id, own, now)
    return count
