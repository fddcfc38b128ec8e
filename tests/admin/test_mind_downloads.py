"""Models to fetch on the page "Which model?": the catalogue, an own address, and how each download stands."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse

from accounts.models import User
from providers.downloads.catalogue import load_catalogue
from providers.downloads.models import Download
from safety.models import AuditEntry

pytestmark = pytest.mark.django_db
State, Failure = Download.State, Download.Failure
URL = "https://files.example.org/tiny.gguf"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, settings: Any) -> Path:
    settings.KITH_HOME = tmp_path
    return tmp_path


def press(desk: Client, deed: str, **fields: Any) -> str:
    """What stands in the list after the button is pressed."""
    answer = desk.post(
        reverse("admin:mind_downloads"), {"deed": deed, **fields}, headers={"HX-Request": "true"}
    )
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", answer.content.decode())


def look(desk: Client) -> str:
    """The list as it is polled."""
    return re.sub(r"\s+", " ", desk.get(reverse("admin:mind_downloads")).content.decode())


def test_the_page_offers_the_catalogue_and_says_what_is_not_verified(desk: Client) -> None:
    shown = desk.get(reverse("admin:mind")).content.decode()
    for model in load_catalogue():
        assert model.name in shown
        assert model.licence in shown
    assert shown.count("not verified, nor are the address and size") == len(load_catalogue())
    assert "Simplified Chinese" in shown
    assert "every 2s" not in shown  # nothing is under way


def test_a_model_of_the_catalogue_is_fetched_paused_and_removed_on_record(desk: Client) -> None:
    model = load_catalogue()[0]
    shown = press(desk, "fetch", url=model.url)
    row = Download.objects.get()
    assert (row.name, row.file_name, row.state) == (model.name, model.url.rsplit("/", 1)[1], State.ACTIVE)
    assert f"Download {model.name}" not in shown  # it stands there once
    assert 'hx-trigger="every 2s"' in shown
    assert "paused" in press(desk, "pause", download=row.pk)
    assert "every 2s" in press(desk, "resume", download=row.pk)
    assert f"Download {model.name}" in press(desk, "remove", download=row.pk)
    assert not Download.objects.exists()
    deeds = AuditEntry.objects.filter(kind="providers.Download").order_by("pk").values_list("deed", flat=True)
    assert list(deeds) == ["changed", "changed", "changed", "deleted"]
    assert "every 2s" not in press(desk, "pause", download=row.pk)  # it is gone


def test_progress_and_what_went_wrong_are_told(desk: Client, home: Path) -> None:
    row = Download.objects.create(
        url=URL, name="tiny.gguf", file_name="tiny.gguf", total_bytes=4_000_000, received_bytes=1_000_000
    )
    shown = look(desk)
    assert 'max="4000000" value="1000000"' in shown
    next_at = datetime(2030, 1, 1, 14, 3, tzinfo=UTC)
    Download.objects.update(failure=Failure.SLOW, next_at=next_at)
    shown = look(desk)
    assert "The server sends almost nothing." in shown
    assert "It continues by itself at 14:03" in shown
    Download.objects.update(state=State.FAILED, failure=Failure.PINNED)
    assert "Accept the new file" in look(desk)
    Download.objects.update(state=State.DONE, failure="")
    assert "no longer in the models folder" in look(desk)
    (home / "models" / row.file_name).write_bytes(b"GGUF")
    assert 'href="#files"' in look(desk)


def test_an_address_that_will_not_do_is_said(desk: Client) -> None:
    assert "must begin with https://" in press(desk, "fetch", url="http://10.0.0.1/a.gguf")
    assert "has 64 characters" in press(desk, "fetch", url=URL, sha256="abc")
    answer = desk.post(
        reverse("admin:mind_downloads"), {"deed": "fetch", "url": "http://10.0.0.1/a.gguf"}, follow=True
    )
    assert "must begin with https://" in answer.content.decode()
    assert not Download.objects.exists()


def test_only_who_may_change_providers_fetches(client: Client, opal: User) -> None:
    opal.user_permissions.add(*Permission.objects.filter(codename="view_provider"))
    client.force_login(opal)
    assert client.get(reverse("admin:mind_downloads")).status_code == 403
    assert client.post(reverse("admin:mind_downloads"), {"deed": "fetch", "url": URL}).status_code == 403
    assert not Download.objects.exists()
