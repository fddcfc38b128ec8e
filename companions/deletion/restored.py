"""Delete again what people had deleted before an older backup of the database was restored."""

from datetime import datetime
from uuid import UUID

from accounts.models import AccountDeletion, User
from companions.deletion.deletion import delete_companion
from companions.models import Companion
from database.deletions import read_deletions


def delete_again() -> tuple[int, int]:
    """Delete the accounts and companions that `database.deletions` lists; return how many of each there were.

    A restored database gives the number of a deleted account to a new one, which is told apart by when it was opened.
    """
    accounts = companions = 0
    for id, at in read_deletions("account"):
        number, _, joined_at = id.partition("@")
        found = User.objects.filter(pk=number, date_joined=datetime.fromisoformat(joined_at)).first()
        if found is not None:
            AccountDeletion.objects.create(account=found.pk, joined_at=found.date_joined, deleted_at=at)
            found.delete()
            accounts += 1
    for id, _at in read_deletions("companion"):
        if companion := Companion.objects.filter(pk=UUID(id)).first():
            delete_companion(companion)
            companions += 1
    return accounts, companions
