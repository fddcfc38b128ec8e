"""An older backup of the database brings nobody back who had been deleted since."""

from pathlib import Path
from typing import Any

from accounts.models import AccountDeletion, User
from companions.deletion import delete_companion
from companions.deletion.restored import delete_again
from companions.models import Companion


def test_what_was_deleted_after_a_backup_is_deleted_again_once_that_is_restored(
    alice: User, bob: User, tmp_path: Path, settings: Any, django_capture_on_commit_callbacks: Any
) -> None:
    settings.KITH_HOME = tmp_path
    assert delete_again() == (0, 0)
    hers, his, kept = (Companion.objects.create(user=who, name="M") for who in (alice, bob, bob))
    backup = (
        User.objects.get(pk=alice.pk),
        Companion.objects.get(pk=hers.pk),
        Companion.objects.get(pk=his.pk),
    )
    with django_capture_on_commit_callbacks(execute=True):
        alice.delete()
        delete_companion(his)
    assert "alice" not in (tmp_path / "deletions").read_text()
    assert (tmp_path / "deletions").stat().st_mode & 0o077 == 0
    for row in backup:
        type(row).objects.bulk_create([row])
    assert delete_again() == (1, 1)
    assert list(User.objects.all()) == [bob]
    assert list(Companion.objects.all()) == [kept]
    assert [deletion.account for deletion in AccountDeletion.objects.all()] == [backup[0].pk]
    # A restored database gives the same number to somebody new, who stays.
    User.objects.bulk_create([User(pk=backup[0].pk, email="nina@example.org")])
    with (tmp_path / "deletions").open("a") as file:
        file.write("account 7")
    assert delete_again() == (0, 0)
