"""Delete again what people had deleted before an older backup of the database was restored."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from accounts.models import AccountDeletion, User
from companions.deletion.deletion import MAX_AT_ONCE, delete_companion, delete_messages, forget_many
from companions.models import Companion, Message
from database.deletions import read_deletions
from memory.models import Memory


def delete_again(now: datetime) -> Counter[str]:
    """Delete what `database.deletions` lists; return how many objects of each kind there were.

    A restored database gives the number of a deleted account to a new one, which is told apart by when it was opened.
    """
    listed, counts = read_deletions(), Counter[str]()
    for id, at in listed["account"]:
        number, _, joined_at = id.partition("@")
        found = User.objects.filter(pk=number, date_joined=datetime.fromisoformat(joined_at)).first()
        if found is not None:
            AccountDeletion.objects.create(account=found.pk, joined_at=found.date_joined, deleted_at=at)
            found.delete()
            counts["account"] += 1
    for companion in Companion.objects.filter(pk__in=[UUID(id) for id, _at in listed["companion"]]):
        delete_companion(companion)
        counts["companion"] += 1
    counts["message"] = _delete_rows(listed["message"], Message.everywhere, delete_messages, now)
    counts["memory"] = _delete_rows(listed["memory"], Memory.everywhere, forget_many, now)
    return counts


def _delete_rows(
    listed: Sequence[tuple[str, datetime]],
    rows: Any,
    delete: Callable[[UUID, Collection[UUID], datetime], int],
    now: datetime,
) -> int:
    """Delete those of the listed rows that exist, companion by companion; return how many there were."""
    count = 0
    for first in range(0, len(listed), MAX_AT_ONCE):
        found_rows = rows.filter(pk__in=[UUID(id) for id, _at in listed[first : first + MAX_AT_ONCE]])
        ids: dict[UUID, list[UUID]] = defaultdict(list)
        for pk, companion_id in found_rows.values_list("pk", "companion"):
            ids[companion_id].append(pk)
        count += sum(delete(companion_id, found, now) for companion_id, found in ids.items())
    return count
