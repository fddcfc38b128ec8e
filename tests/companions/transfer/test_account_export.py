"""Everything of one account as one ZIP file: all companions and files of the person's, nobody else's, and no secret."""

import io
import json
import re
import zipfile
from pathlib import Path

import pytest
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import AsyncClient
from django.utils import timezone

from accounts.models import Token, User
from cards.lorebooks import normalise_book
from companions.creation import create
from companions.lore.editing import make_book
from companions.models import Companion, GalleryReport
from companions.transfer.account import describe_account
from files.errors import StorageAwayError
from files.models import StoredFile
from files.storage import private
from integrations.push.models import Address, Subscription
from jobs.background import in_thread
from providers.models import OwnProvider
from safety.audit import record
from safety.models import AuditEntry, Notice
from tests.companions.gallery.conftest import send_in
from tests.voice.recordings import recorded

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/settings/export/"


async def fetch(user: User) -> zipfile.ZipFile:
    """What comes as the person presses the button."""
    client = AsyncClient()
    await client.aforce_login(user)
    response = await client.get(PATH)
    assert response.status_code == 200
    assert (response["Content-Type"], response["Cache-Control"]) == ("application/zip", "private, no-store")
    return zipfile.ZipFile(io.BytesIO(b"".join([piece async for piece in response.streaming_content])))


async def test_all_of_ones_own_is_in_it(alice: User, mira: Companion, tian: Companion) -> None:
    given = {"persona": "Calm.", "greeting": "", "tint": 40, "now": timezone.now()}
    other = await in_thread(lambda: create(alice, name="../../etc/诗", **given))
    await in_thread(send_in, other)
    recording = await in_thread(recorded, mira)
    archive = await fetch(alice)
    assert archive.testzip() is None
    names = archive.namelist()
    assert names[0] == "account.json"
    assert f"companions/mira-{mira.pk}.json" in names
    assert f"companions/etc诗-{other.pk}.json" in names
    assert str(tian.pk) not in str(names)
    whole = json.loads(archive.read(f"companions/mira-{mira.pk}.json"))
    assert (whole["format"], whole["companion"]["name"]) == ("kith", "Mira")
    (file,) = [name for name in names if str(recording.file_id) in name]
    stored = await in_thread(StoredFile.objects.get, pk=recording.file_id)
    assert len(archive.read(file)) == stored.bytes
    account = json.loads(archive.read("account.json"))
    assert account["person"]["email"] == alice.email
    assert [row["email"] for row in account["addresses"]] == [alice.email]
    assert account["published"][0]["content"]["data"]["description"] == "Calm."


def make_secrets(user: User) -> list[str]:
    """Everything that opens something, of which the file may hold nothing; the words to look for."""
    _token, plaintext = Token.objects.issue(user, "laptop")
    address = Address(endpoint="https://push.example/markerendpoint", p256dh="markerp256", auth="markerauth")
    now = timezone.now()
    Subscription.objects.create(
        user=user, endpoint_digest="markerdigest", sealed=address.sealed(), created_at=now
    )
    Authenticator.objects.create(user=user, type="totp", data={"secret": "markertotp"})
    row = {"name": "Mine", "base_url": "https://models.example/v1", "model": "m"}
    OwnProvider(user=user, api_key="markerkey", **row).save()
    return [plaintext, user.password, "marker", settings.SECRET_KEY]


def test_of_others_there_is_nothing(alice: User, bob: User, mira: Companion) -> None:
    now = timezone.now()
    make_secrets(alice)
    UserSession.objects.create(user=alice, session_key="s", ip="192.0.2.1", user_agent="Firefox")
    make_book(alice, normalise_book({"name": "Towns", "entries": []}), now)
    make_book(alice, normalise_book({"name": "Only Mira's", "entries": []}), now, companion=mira)
    version = send_in(mira)
    told = {"number": version.number, "kind": "other", "text": "Odd.", "created_at": now}
    GalleryReport.objects.create(user=alice, character=version.character, **told)
    Notice.objects.create(user=alice, kind="ai", made_at=now)
    record(bob, AuditEntry.Deed.OPENED, Companion, mira.pk, alice.pk)
    lists = {name: rows for name, rows in describe_account(alice, now).items() if isinstance(rows, list)}
    assert [name for name, rows in lists.items() if len(rows) != 1] == []
    mine = describe_account(bob, now)
    assert {name: mine[name] for name in lists if mine[name]} == {"addresses": mine["addresses"]}
    assert [row["email"] for row in mine["addresses"]] == [bob.email]


async def test_no_secret_is_in_it(alice: User, mira: Companion) -> None:
    secrets = await in_thread(make_secrets, alice)
    archive = await fetch(alice)
    text = "".join(archive.read(name).decode(errors="replace") for name in archive.namelist())
    assert "laptop" in text
    assert "models.example" in text
    assert [word for word in secrets if word in text] == []


async def test_what_the_storage_has_lost_is_named(alice: User, mira: Companion) -> None:
    recording = await in_thread(recorded, mira)
    await in_thread(StoredFile.objects.update, key="recording/00/gone")
    archive = await fetch(alice)
    assert archive.read("missing.txt").decode() == str(recording.file_id)
    assert archive.testzip() is None


async def test_a_storage_that_does_not_answer_is_told_as_no_loss(alice: User, mira: Companion) -> None:
    await in_thread(recorded, mira)
    private().put("recording/away", b"a file where a folder should be", "text/plain")
    try:
        await in_thread(StoredFile.objects.update, key="recording/away/content")
        with pytest.raises(StorageAwayError):
            await fetch(alice)
    finally:
        private().remove(["recording/away"])


async def test_it_is_for_who_is_signed_in(db: None) -> None:
    response = await AsyncClient().get(PATH)
    assert response["Location"].startswith("/accounts/login/")


async def test_it_explains_itself_to_a_stranger(alice: User, mira: Companion) -> None:
    archive = await fetch(alice)
    told = archive.read("README.txt").decode()
    lists = json.loads(archive.read(f"companions/mira-{mira.pk}.json")).keys()
    named = re.findall(r"[a-z_]+", told.split("for example:")[1].split("files/KIND")[0])
    assert {"messages", "memories", "diary", "timers"} <= lists & set(named)
    assert "account.json" in told
    assert max(map(len, told.splitlines())) <= 120


async def test_it_is_told_from_what_can_be_restored(alice: User, mira: Companion) -> None:
    client = AsyncClient()
    await client.aforce_login(alice)
    for path in (PATH, f"/companions/{mira.pk}/settings/export/"):
        response = await client.get(path)
        content = b"".join([piece async for piece in response.streaming_content])
        file = SimpleUploadedFile("kith", content)
        shown = await client.post("/companions/new/card/", {"file": file}, follow=True)
        assert "use its archive" in shown.content.decode()


def test_an_operator_writes_it_for_who_cannot_sign_in(alice: User, mira: Companion, tmp_path: Path) -> None:
    User.objects.filter(pk=alice.pk).update(is_active=False)
    file = tmp_path / "alice.zip"
    call_command("export_account", "ALICE@example.org", str(file))
    assert file.stat().st_mode & 0o077 == 0
    assert f"companions/mira-{mira.pk}.json" in zipfile.ZipFile(file).namelist()
    with pytest.raises(CommandError, match="Nothing was written"):
        call_command("export_account", alice.email, str(file))
