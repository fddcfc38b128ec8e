import errno
import hashlib
import io
import os
import re
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.files.storage import storages
from django.db import DataError, connection, transaction
from django.test import Client
from django.utils import timezone

from accounts.models import User
from companions.models import Companion
from files.contents import open_content, read_content, store_content, store_file, used_bytes
from files.errors import ContentError, ContentLostError, NoRoomError, StorageAwayError
from files.models import StoredFile
from files.storage import PrivateFolder, private
from tests.files.conftest import stored
from tests.fixtures.storage import BUCKET, S3Server

pytestmark = pytest.mark.django_db
Keys = Callable[[], set[str]]


@pytest.mark.usefixtures("storage")
def test_what_is_kept_comes_back_byte_for_byte(alice: User) -> None:
    content = bytes(range(256)) * 400
    file = stored(alice, content, seconds=1.5)
    assert read_content(file) == content
    assert (file.bytes, file.seconds) == (len(content), 1.5)
    assert file.sha256 == hashlib.sha256(content).hexdigest()
    with closing(open_content(file, 300, 1000)) as part:
        assert part.read(100) + part.read() == content[300:1000]
        assert part.read() == b""


@pytest.mark.usefixtures("storage")
def test_what_is_too_large_for_memory_is_kept_piece_by_piece(
    alice: User, all_keys: Keys, away: Callable[[], None]
) -> None:
    content = bytes(range(256)) * 40_000  # more than one part of an upload
    kept = alice, io.BytesIO(content), StoredFile.Kind.ARCHIVE, "application/zip", timezone.now()
    file = store_file(*kept)
    assert read_content(file) == content
    assert (file.sha256, used_bytes(alice)) == (hashlib.sha256(content).hexdigest(), 0)
    assert all_keys() == {file.key}
    away()
    kept[1].seek(0)
    with pytest.raises(StorageAwayError):
        store_file(*kept)
    assert StoredFile.objects.count() == 1


@pytest.mark.usefixtures("storage")
def test_its_name_says_nothing_and_cannot_be_guessed(alice: User) -> None:
    keys = {stored(alice, b"the same").key for _ in range(20)}
    assert len(keys) == 20
    assert all(re.fullmatch(r"speech/[0-9a-f]{2}/[\w-]{43}", key) for key in keys)


@pytest.mark.usefixtures("storage")
def test_a_storage_makes_no_link(alice: User) -> None:
    file = stored(alice)
    with pytest.raises(NotImplementedError):
        storages["private"].url(file.key)


def test_a_folder_is_for_kiths_own_user_alone(alice: User, folder: Path) -> None:
    place = folder / stored(alice).key
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700


def test_a_bucket_opens_to_nobody_without_its_key(alice: User, s3: S3Server) -> None:
    file = stored(alice, b"a private sound")
    answer = httpx.get(f"{s3.url}/{BUCKET}/{file.key}")
    assert answer.status_code == 403
    assert b"a private sound" not in answer.content


@pytest.mark.usefixtures("storage")
def test_nothing_is_not_kept(alice: User, all_keys: Keys) -> None:
    with pytest.raises(ContentError):
        stored(alice, b"")
    assert (StoredFile.objects.count(), all_keys()) == (0, set())


# -- room -----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("storage")
def test_one_person_fills_their_own_room_and_no_other(
    alice: User, bob: User, settings: Any, all_keys: Keys
) -> None:
    settings.FILES_BYTES_EACH = 1000
    first = stored(alice, b"x" * 600)
    stored(alice, b"x" * 400)
    with pytest.raises(NoRoomError) as refused:
        stored(alice, b"x")
    assert refused.value.code == "no_room"
    stored(bob, b"x" * 1000)
    assert (used_bytes(alice), used_bytes(bob), len(all_keys())) == (1000, 1000, 3)
    StoredFile.objects.filter(pk=first.pk).delete()
    stored(alice, b"x" * 600)


def test_what_is_used_stands_among_the_settings(alice: User, bob: User, settings: Any) -> None:
    settings.FILES_BYTES_EACH = 3_000_000
    stored(alice, b"x" * 1_234_567)
    stored(bob, b"x" * 500_000)
    client = Client()
    client.force_login(alice)
    page = client.get("/settings/").content.decode()
    assert '<progress id="files-stored" value="1234567" max="3000000">' in page
    assert "1.2 / 3 MB" in page


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("storage")
def test_two_at_once_do_not_share_the_last_room(alice: User, settings: Any, all_keys: Keys) -> None:
    """Eight threads find room for one."""
    settings.FILES_BYTES_EACH = 1000

    def try_it(_number: int) -> bool:
        try:
            stored(alice, b"x" * 600)
        except NoRoomError:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(8) as pool:
        kept = sum(pool.map(try_it, range(8)))
    assert (kept, StoredFile.objects.count(), len(all_keys())) == (1, 1, 1)


# -- a storage that fails --------------------------------------------------------------------------------------------


def test_where_the_storage_is_away_nothing_is_half_there(alice: User, away: Callable[[], None]) -> None:
    file = stored(alice)
    away()
    with pytest.raises(StorageAwayError) as told:
        stored(alice)
    assert "try again" in str(told.value.detail).lower()
    with pytest.raises(StorageAwayError):
        read_content(file)
    assert list(StoredFile.objects.all()) == [file]


def test_a_full_disk_is_told_as_such(tmp_path: Path) -> None:
    class Growing(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(StorageAwayError) as told:
        PrivateFolder(tmp_path).put_file("speech/aa/b", Growing(), "audio/ogg")
    assert "The disk of this Kith is full" in str(told.value.detail)


def test_a_content_is_on_the_disk_before_its_row_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    PrivateFolder(tmp_path).put("speech/aa/b", b"sound", "audio/ogg")
    assert synced == [(tmp_path / name).stat().st_ino for name in ("speech/aa/b", "speech/aa")]


@pytest.mark.parametrize("fault", ["error", "slow", "denied", "lost"])
def test_a_server_that_fails_leaves_no_row(alice: User, s3: S3Server, fault: str) -> None:
    s3.fail(fault, "PUT")
    with pytest.raises(StorageAwayError) as told:
        stored(alice)
    assert "secret" not in str(told.value.detail)
    assert not StoredFile.objects.exists()


def test_one_failure_is_tried_again(alice: User, s3: S3Server) -> None:
    """A server is allowed to stumble once."""
    stumbles = iter(["error"])
    s3.fail("error", "PUT")
    answer = s3._answer

    def once(environ: dict[str, Any], begin: Any) -> Any:
        s3.fault = next(stumbles, "")
        return answer(environ, begin)

    s3.server.app = once
    try:
        assert read_content(stored(alice, b"kept after all")) == b"kept after all"
    finally:
        s3.server.app = s3._answer
    assert [method for method, _path in s3.requests[-3:]] == ["PUT", "PUT", "GET"]


@pytest.mark.usefixtures("s3")
@pytest.mark.parametrize(
    "wrong", [{"bucket_name": "no-such-bucket"}, {"endpoint_url": "http://127.0.0.1:9"}], ids=str
)
def test_no_bucket_or_no_server_is_an_error_of_the_storage(
    alice: User, settings: Any, wrong: dict[str, str]
) -> None:
    private = settings.STORAGES["private"]
    changed = {**private, "OPTIONS": {**private["OPTIONS"], **wrong}}
    settings.STORAGES = {**settings.STORAGES, "private": changed}
    with pytest.raises(StorageAwayError):
        stored(alice)


def test_half_an_answer_is_no_content(alice: User, s3: S3Server) -> None:
    file = stored(alice, b"x" * 100_000)
    s3.fail("cut", "GET")
    with pytest.raises(StorageAwayError):
        read_content(file)


def test_where_there_can_be_no_row_there_is_no_content(alice: User, storage: str, all_keys: Keys) -> None:
    other = stored(alice)
    with pytest.raises(DataError), transaction.atomic():  # longer than its column
        store_content(alice, b"x", StoredFile.Kind.SPEECH, "x" * 200, other.created_at)
    assert all_keys() == {other.key}


@pytest.mark.usefixtures("storage")
def test_a_content_that_is_missing_or_cut_is_said_to_be_lost(alice: User) -> None:
    gone, cut = stored(alice, b"gone"), stored(alice, b"longer than what is left")
    private().remove([gone.key])
    private().put(cut.key, b"longer", "audio/mpeg")
    for file in (gone, cut):
        with pytest.raises(ContentLostError):
            read_content(file)


# -- deleting --------------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("storage")
@pytest.mark.parametrize(
    "delete",
    [
        lambda file: file.delete(),
        lambda file: StoredFile.objects.filter(pk=file.pk).delete(),
        lambda file: file.companion.delete(),
        lambda file: file.user.delete(),
        lambda file: User.objects.filter(pk=file.user_id).delete(),
    ],
    ids=["drop", "queryset", "companion", "user", "users"],
)
def test_however_a_row_is_deleted_its_content_goes(
    alice: User, bob: User, mira: Companion, all_keys: Keys, delete: Callable[[StoredFile], object]
) -> None:
    his = stored(bob)
    delete(stored(alice, companion=mira))
    assert all_keys() == {his.key}


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("storage")
def test_what_is_not_committed_is_not_gone(alice: User, all_keys: Keys) -> None:
    kept, dropped, kept_as_well = stored(alice), stored(alice), stored(alice)

    def undone(file: StoredFile) -> None:
        with transaction.atomic():
            StoredFile.objects.get(pk=file.pk).delete()
            transaction.set_rollback(True)

    with transaction.atomic():
        undone(kept)
        StoredFile.objects.get(pk=dropped.pk).delete()
        undone(kept_as_well)
        assert len(all_keys()) == 3
    assert all_keys() == {kept.key, kept_as_well.key}


@pytest.mark.django_db(transaction=True)
def test_many_go_in_one_call(alice: User, mira: Companion, s3: S3Server) -> None:
    for _ in range(12):
        stored(alice, companion=mira)
    s3.requests.clear()
    mira.delete()
    assert [method for method, _path in s3.requests] == ["POST"]


def test_more_than_one_call_can_take_are_parted(s3: S3Server) -> None:
    s3.requests.clear()
    private().remove(f"speech/00/{number}" for number in range(1001))
    assert [method for method, _path in s3.requests] == ["POST", "POST"]


def test_what_the_server_did_not_delete_is_not_taken_for_deleted(s3: S3Server) -> None:
    s3.fail("refused", "POST")
    with pytest.raises(StorageAwayError):
        private().remove(["speech/00/1"])


@pytest.mark.django_db(transaction=True)
def test_a_storage_that_is_away_keeps_nobody_from_deleting(
    alice: User, mira: Companion, away: Callable[[], None]
) -> None:
    stored(alice, companion=mira)
    away()
    mira.delete()
    assert not StoredFile.objects.exists()
