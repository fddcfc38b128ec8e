"""An older backup of the database brings nobody back who had been deleted since."""

from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import AccountDeletion, User
from companions.deletion import delete_companion, delete_message, forget
from companions.deletion.repetition import delete_again
from companions.memories.editing import delete_document, delete_entry, give_document
from companions.models import Companion, Message
from memory.core_memory import delete_slot, set_slot, write_block
from memory.models import Block, DiaryEntry, Document, Memory, Slot
from memory.models.core_memory import By
from tests.companions.deletion.conftest import NOW, diary, learnt, told
from tests.fixtures.rest import Api


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
        file.write(f"companion 7 2026-11-30\nmessage x\n{dashes}\n")
        file.write(f"companion {kept.pk} 2026-13-32T12:00:00+00:00\n")
        file.write(f"account {kept.pk} 2026-11-30T12:00:00+00:00\n")
        file.write(f"account {bob.pk}@2026-02-30T12:00:00+00:00 2026-11-30T12:00:00+00:00\naccount 7")
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


def test_so_are_documents_diary_entries_slots_and_blocks(
    as_alice: Api,
    said: list[Message],
    mira: Companion,
    tmp_path: Path,
    settings: Any,
    django_capture_on_commit_callbacks: Any,
) -> None:
    settings.KITH_HOME = tmp_path
    entry = diary(mira, said[0].session, told("We spoke of tea.", said[2]))
    document = give_document(mira, "Tea", "Of tea.", NOW)
    slot = set_slot(mira.pk, "tea", "green", by=By.USER, now=NOW)
    write_block(mira.pk, "tea", "Green.", by=By.USER, now=NOW)
    backup = [DiaryEntry.objects.get(), Document.objects.get(), Slot.objects.get(), Block.objects.get()]
    with django_capture_on_commit_callbacks(execute=True):
        delete_entry(mira.pk, entry.pk, NOW)
        delete_document(document, NOW)
        as_alice.call("DELETE", f"/companions/{mira.pk}/slots/tea")
        as_alice.call("DELETE", f"/companions/{mira.pk}/blocks/tea")
        set_slot(mira.pk, "own", "mine", by=By.COMPANION, now=NOW)
        delete_slot(mira.pk, "own", by=By.COMPANION)  # it may be there on another branch
    listed = (tmp_path / "deletions").read_text()
    assert "tea" not in listed
    assert listed.count("slot ") == 1
    backup[0].memory = None  # which went with the entry
    for row in backup:
        type(row).objects.bulk_create([row])
    assert +delete_again(NOW) == {"diary": 1, "document": 1, "slot": 1, "block": 1}
    assert not any(type(row).objects.exists() for row in backup)
    # A restored database gives the same number to a new slot, which stays.
    Slot.objects.create(pk=slot.pk, companion=mira, name="rain", by=By.USER, changed_at=timezone.now())
    assert not +delete_again(NOW)


def test_a_long_list_is_gone_through_in_few_queries(
    mira: Companion, tmp_path: Path, settings: Any, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    settings.KITH_HOME, at = tmp_path, NOW.isoformat()
    slot = set_slot(mira.pk, "tea", "green", by=By.USER, now=NOW - timedelta(days=1))
    set_slot(mira.pk, "milk", "oat", by=By.USER, now=NOW - timedelta(days=1))
    lines = [f"slot {slot.pk + n}@{mira.pk} {at}\nblock {n}@{mira.pk} {at}\n" for n in reversed(range(600))]
    lines += [f"account {n}@{at} {at}\n" for n in range(200)]
    lines += [f"slot {slot.pk}@{mira.pk} {(NOW - timedelta(days=2)).isoformat()}\n"]  # an earlier deletion
    (tmp_path / "deletions").write_text("".join(lines))
    with django_assert_max_num_queries(20):
        assert +delete_again(NOW) == {"slot": 2}
