import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from accounts.models import User
from files import tasks
from files.contents import sweep
from files.models import StoredFile
from files.storage import private
from tests.files.conftest import stored

pytestmark = pytest.mark.django_db
LATER = timedelta(hours=1, minutes=1)
Keys = Callable[[], set[str]]


@pytest.mark.usefixtures("storage")
def test_what_no_row_names_is_removed_and_nothing_else(alice: User, bob: User, all_keys: Keys) -> None:
    named = {stored(person).key for person in (alice, bob) for _ in range(3)}
    named |= {stored(alice, kind=kind).key for kind in StoredFile.Kind}
    unnamed = {f"{kind}/{part}/left-behind" for kind in StoredFile.Kind.values for part in ("00", "7a", "ff")}
    for key in unnamed:
        private().put(key, b"x", "audio/mpeg")
    now = timezone.now()
    assert sweep(now) == (0, 0)  # a content comes before its row: it is young
    assert all_keys() == named | unnamed
    assert sweep(now + LATER) == (len(unnamed), 0)
    assert all_keys() == named
    assert sweep(now + LATER) == (0, 0)


@pytest.mark.usefixtures("storage")
def test_what_kith_has_not_put_there_stays() -> None:
    for key in ("speech/zz/other", "speech/-/other", "backups/00/other"):
        private().put(key, b"x", "audio/mpeg")
    assert sweep(timezone.now() + LATER) == (0, 0)
    assert len(list(private().contents("speech"))) == 2
    assert len(list(private().contents("backups"))) == 1


def test_a_new_database_at_an_old_folder_removes_nothing(folder: Path, all_keys: Keys) -> None:
    private().put("speech/00/of-another-database", b"x", "audio/mpeg")
    private().put("speech/00/of-this-one", b"x", "audio/mpeg")
    os.utime(folder / "speech/00/of-another-database", (1_600_000_000, 1_600_000_000))
    assert sweep(timezone.now() + LATER) == (1, 0)
    assert all_keys() == {"speech/00/of-another-database"}


def test_a_row_without_its_content_is_noted_until_it_is_back(alice: User) -> None:
    lost, there = stored(alice), stored(alice)
    private().remove([lost.key])
    now = timezone.now()
    assert sweep(now) == (0, 1)
    assert sweep(now + LATER) == (0, 1)
    assert StoredFile.objects.get(missed_at__isnull=False).missed_at == now  # since when
    private().put(lost.key, b"sound", "audio/mpeg")
    assert sweep(now + LATER) == (0, 0)
    assert not StoredFile.objects.filter(missed_at__isnull=False).exists()
    assert {lost, there} == set(StoredFile.objects.all())


def test_what_was_begun_and_never_ended_is_swept(alice: User, folder: object) -> None:
    private().put("speech/00/.half", b"x", "audio/mpeg")
    assert sweep(timezone.now() + LATER) == (1, 0)


def test_a_storage_that_is_away_is_swept_another_time(alice: User, away: Callable[[], None]) -> None:
    stored(alice)
    away()
    tasks.sweep_contents()
    assert StoredFile.objects.filter(missed_at=None).count() == 1
