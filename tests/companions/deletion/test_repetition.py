"""An older backup of the database brings nobody back who had been deleted since."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from django.db import transaction

from accounts.models import AccountDeletion, User
from companions.deletion import delete_companion, delete_message, forget
from companions.deletion.repetition import delete_again
from companions.models import Companion, Message
from memory.models import Memory
from tests.companions.deletion.conftest import NOW, learnt


def test_what_was_deleted_after_a_backup_is_deleted_again_once_that_is_restored(
    alice: User, bob: User, tmp_path: Path, settings: Any, django_capture_on_commit_callbacks: Any
) -> None:
    settings.KITH_HOME = tmp_path
    assert not +delete_again(NOW)
    hers, his, kept = (Companion.objects.create(user=who, name="M") for who in (alice, bob, bob))
    backup = (
        User.objects.get(pk=alice.pk),
        Companion.objects.get(pk=hers.pk),
        Companion.objects.get(pk=his.pk),
    )
    with django_capture_on_commit_callbacks(execute=True):
        alice.delete()
        delete_companion(his)
        with suppress(ZeroDivisionError), transaction.atomic():
            delete_companion(kept)
            raise ZeroDivisionError
    assert "alice" not in (tmp_path / "deletions").read_text()
    assert str(kept.pk) not in (tmp_path / "deletions").read_text()
    assert (tmp_path / "deletions").stat().st_mode & 0o077 == 0
    for row in backup:
        type(row).objects.bulk_create([row])
    assert +delete_again(NOW) == {"account": 1, "companion": 1}
    assert list(User.objects.all()) == [bob]
    assert list(Companion.objects.all()) == [kept]
    assert [deletion.account for deletion in AccountDeletion.objects.all()] == [backup[0].pk]
    # A restored database gives the same number to somebody new, who stays.
    User.objects.bulk_create([User(pk=backup[0].pk, email="nina@example.org")])
    dashes = "companion " + "-" * 36 + " 2026-11-30T12:00:00+00:00"
    with (tmp_path / "deletions").open("a") as file:
        file.write(f"companion 7 2026-11-30\nmessage x\n{dashes}\naccount 7")
    assert not +delete_again(NOW)
    # Nor does a line that a full disk cut off take the next deletion with it.
    backup = Companion.objects.get(pk=kept.pk)
    with django_capture_on_commit_callbacks(execute=True):
        delete_companion(kept)
    Companion.objects.bulk_create([backup])
    assert +delete_again(NOW) == {"companion": 1}


def test_so_are_single_messages_and_memories(
    said: list[Message],
    mira: Companion,
    tmp_path: Path,
    settings: Any,
    django_capture_on_commit_callbacks: Any,
) -> None:
    settings.KITH_HOME = tmp_path
    secret, _answer, tea, *_more = said
    fact = learnt(mira, "Alice likes tea.", [(tea, "green tea")])
    backup = Message.everywhere.get(pk=said[-1].pk), Memory.everywhere.get(pk=fact.pk)
    with django_capture_on_commit_callbacks(execute=True):
        delete_message(said[-1], NOW)
        forget(fact, NOW)
    for row in backup:
        type(row).objects.bulk_create([row])
    assert +delete_again(NOW) == {"message": 1, "memory": 1}
    assert not Message.everywhere.filter(pk=backup[0].pk).exists()
    assert not Memory.everywhere.filter(pk=fact.pk).exists()
    assert Message.everywhere.filter(pk=secret.pk).exists()
