"""A write sent twice under one key is done once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier, Event
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.utils import timezone

from accounts.errors import IdempotencyConflictError, IdempotencyKeyError
from accounts.idempotency import create_once, drop_old_keys
from accounts.models import IdempotencyKey, Invitation, User
from accounts.tasks import drop_old_keys as drop_old_keys_task


def make_invitation(note: str = "made") -> UUID:
    """A row of some model, made by the write; its id is of no matter here, so that a new one serves."""
    Invitation.objects.create(note=note)
    return uuid4()


def test_the_same_key_and_body_give_the_earlier_id(alice: User) -> None:
    first, is_new = create_once(alice, "companions.create", "k", b"{}", make_invitation)
    again, is_new_again = create_once(alice, "companions.create", "k", "{}", make_invitation)
    assert (is_new, is_new_again) == (True, False)
    assert first == again
    assert Invitation.objects.count() == 1


def test_the_same_key_with_another_body_is_a_conflict(alice: User) -> None:
    create_once(alice, "companions.create", "k", b"{}", make_invitation)
    with pytest.raises(IdempotencyConflictError):
        create_once(alice, "companions.create", "k", b"[]", make_invitation)
    assert Invitation.objects.count() == 1


def test_without_a_key_every_write_is_new(alice: User) -> None:
    ids = {create_once(alice, "companions.create", None, b"{}", make_invitation) for _ in range(2)}
    assert len(ids) == 2
    assert not IdempotencyKey.objects.exists()


def test_a_key_belongs_to_one_person_and_one_operation(alice: User, bob: User) -> None:
    writes = [(alice, "companions.create"), (bob, "companions.create"), (alice, "timers.create")]
    made = [create_once(user, operation, "k", b"{}", make_invitation) for user, operation in writes]
    assert all(is_new for _, is_new in made)
    assert len({id_ for id_, _ in made}) == 3


@pytest.mark.parametrize("key", ["", "x" * 201, "a\x00b", "a\nb", "\x7f"])
def test_what_is_not_a_key_is_refused(alice: User, key: str) -> None:
    with pytest.raises(IdempotencyKeyError):
        create_once(alice, "companions.create", key, b"{}", make_invitation)
    assert not Invitation.objects.exists()


def test_a_key_may_have_200_characters(alice: User) -> None:
    assert create_once(alice, "companions.create", "x" * 200, b"{}", make_invitation)[1]


def test_a_write_that_fails_keeps_neither_row_nor_key(alice: User) -> None:
    def fail() -> UUID:
        make_invitation()
        raise LookupError

    with pytest.raises(LookupError):
        create_once(alice, "companions.create", "k", b"{}", fail)
    assert not Invitation.objects.exists()
    assert create_once(alice, "companions.create", "k", b"{}", make_invitation)[1]


@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_makes_and_both_get_its_id(alice: User) -> None:
    start = Barrier(2)

    def write() -> tuple[UUID, bool]:
        start.wait(10)
        try:
            return create_once(alice, "companions.create", "k", b"{}", make_invitation)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        results = [future.result(20) for future in [threads.submit(write), threads.submit(write)]]
    assert sorted(is_new for _, is_new in results) == [False, True]
    assert results[0][0] == results[1][0]
    assert Invitation.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_who_comes_second_makes_it_when_the_first_fails(alice: User) -> None:
    is_making, may_fail = Event(), Event()

    def fail() -> UUID:
        is_making.set()
        may_fail.wait(10)
        raise LookupError

    def write_and_fail() -> None:
        try:
            create_once(alice, "companions.create", "k", b"{}", fail)
        finally:
            connection.close()

    def write() -> tuple[UUID, bool]:
        is_making.wait(10)
        may_fail.set()
        try:
            return create_once(alice, "companions.create", "k", b"{}", make_invitation)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        failing, writing = threads.submit(write_and_fail), threads.submit(write)
        assert writing.result(20)[1]
        assert isinstance(failing.exception(20), LookupError)
    assert Invitation.objects.count() == 1


def test_keys_are_dropped_after_a_day(alice: User) -> None:
    now = timezone.now()
    create_once(alice, "companions.create", "old", b"{}", make_invitation)
    create_once(alice, "companions.create", "new", b"{}", make_invitation)
    IdempotencyKey.objects.filter(key="old").update(created_at=now - timedelta(hours=24, seconds=1))
    assert drop_old_keys(now) == 1
    assert [kept.key for kept in IdempotencyKey.objects.all()] == ["new"]


def test_the_task_drops_what_is_old(alice: User) -> None:
    create_once(alice, "companions.create", "old", b"{}", make_invitation)
    IdempotencyKey.objects.update(created_at=timezone.now() - timedelta(days=2))
    drop_old_keys_task()
    assert not IdempotencyKey.objects.exists()
