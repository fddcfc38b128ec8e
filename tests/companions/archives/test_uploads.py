"""An archive that is brought: kept, looked at, and restored once, by whoever lives long enough."""

import io
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import AsyncClient, Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from companions.archives import uploads
from companions.archives.limits import measure_bytes
from companions.life.timers.timers import set_timer
from companions.models import ArchiveUpload, Companion, Message, Reply, Timer
from companions.replies.lifecycle import start
from config.http.asgi_layers import BodyLimit
from files.models import StoredFile
from files.storage import private
from jobs.background import in_thread
from memory.models import Memory
from tests.companions.archives.everything import NOON, live_fully, talk
from tests.companions.archives.packing import edit, pack, read_entries, rows, unpack
from tests.fixtures.alike import find_difference, read_rows
from tests.fixtures.rest import Api
from tests.fixtures.turns import make_companion

pytestmark = pytest.mark.django_db(transaction=True)
State = ArchiveUpload.State
LARGE_WAYS = [
    "/api/v1/companions/import/archive",
    "/api/v1/companions/import/card",
    "/api/v1/companions/0/import/past",
    "/api/v1/cards/preview",
    "/api/v1/pasts/preview",
    "/companions/0/lore/import/",
    "/companions/new/card/",
]


class DyingError(BaseException):
    """As whoever is killed: nobody catches it."""


@pytest.fixture
def small(alice: User) -> Companion:
    companion = make_companion(alice)
    talk(companion, "tea", NOON)
    return companion


def bring(user: User, archive: bytes) -> ArchiveUpload:
    upload = uploads.keep_upload(user, io.BytesIO(archive), NOON)
    uploads.begin(upload, NOON)
    return upload


@pytest.mark.usefixtures("small")
def test_an_import_by_the_api_leaves_the_archive_that_is_being_looked_at(as_alice: Api, alice: User) -> None:
    archive = pack(Companion.objects.get())
    looked_at = uploads.keep_upload(alice, io.BytesIO(archive), NOON)
    sent = as_alice.form("/companions/import/archive", {"file": SimpleUploadedFile("mira.zip", archive)})
    assert sent.status_code == 202
    assert ArchiveUpload.objects.filter(pk=looked_at.pk, state=State.KEPT).exists()


def contents() -> set[Path]:
    folder = Path(settings.STORAGES["private"]["OPTIONS"]["location"])
    return {path for path in folder.rglob("*") if path.is_file()}


def test_a_restore_that_dies_at_its_last_moment_is_run_again_and_makes_one_companion(
    alice: User, bob: User
) -> None:
    bob.time_zone = alice.time_zone  # or timers would move
    bob.save()
    companion = live_fully(alice)
    before, stored = read_rows(companion.pk), contents()
    upload = bring(bob, pack(companion))
    times = iter([NOON, NOON])

    def die() -> datetime:
        now = next(times, None)
        if now is None:
            raise DyingError
        return now

    with pytest.raises(DyingError):
        uploads.run(upload.pk, die)
    assert not Companion.objects.owned_by(bob).exists()
    uploads.run(upload.pk, lambda: NOON)  # whoever died may live yet
    assert not Companion.objects.owned_by(bob).exists()
    later = NOON + uploads.LEASE_TIME
    assert uploads.find_due(NOON) == []
    assert uploads.find_due(later) == [upload.pk]
    for _twice in range(2):
        uploads.run(upload.pk, lambda: later)
    back = Companion.objects.owned_by(bob).get()
    upload.refresh_from_db()
    assert (upload.state, upload.companion, upload.done) == (State.DONE, back, upload.total)
    assert find_difference(before, read_rows(back.pk)) == ""
    assert len(contents() - stored) == StoredFile.objects.filter(companion=back).count()


def test_what_cannot_be_restored_says_why_and_leaves_nothing(bob: User, small: Companion) -> None:
    stored = contents()
    broken = edit(pack(small), rows("messages", lambda listed: listed[0].update(role="nobody")))
    upload = bring(bob, broken)
    uploads.run(upload.pk, lambda: NOON)
    upload.refresh_from_db()
    assert (upload.state, upload.code) == (State.FAILED, "bad_row")
    assert "role" in upload.error
    assert (contents(), Companion.objects.owned_by(bob).count()) == (stored, 0)


@pytest.mark.parametrize("state", Reply.OPEN)
def test_an_answer_under_way_comes_back_as_interrupted(bob: User, small: Companion, state: str) -> None:
    reply = start(small, "and now?", None, NOON + timedelta(hours=1)).reply
    Reply.objects.filter(pk=reply.pk).update(state=state)
    back = unpack(bob, pack(small))
    assert list(
        Reply.objects.filter(companion=back).order_by("created_at").values_list("state", flat=True)
    ) == [
        "done",
        "interrupted",
    ]


def test_timers_are_due_at_their_time_of_day_where_they_are_restored(bob: User, small: Companion) -> None:
    """Alice lives in Berlin, Bob in Shanghai; a length of time stays as long as it was."""
    schedules = ("cron:0 8 * * *", "once:2026-12-24 18:00", "2h")
    for schedule in schedules:
        set_timer(small, schedule, "Tea.", by=Timer.By.USER, now=NOON, is_asked_for=True)
    there = Timer.objects.filter(companion=unpack(bob, pack(small)), note="Tea.")
    due = {timer.schedule: timer.due_at.astimezone(bob.zone) for timer in there if timer.due_at}
    assert [f"{due[schedule]:%m-%d %H:%M}" for schedule in schedules[:2]] == ["03-11 08:00", "12-24 18:00"]
    assert due["2h"] == NOON + timedelta(hours=2)


def test_nobodys_storage_is_taken_by_others(
    bob: User, small: Companion, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(2):  # however many tables there are
        assert measure_bytes(small.user) > 0
    assert measure_bytes(bob) == 0


def test_a_face_that_followed_from_the_id_stays(bob: User, small: Companion) -> None:
    from companions.face.portraits import get_seed

    back = unpack(bob, pack(small))
    assert get_seed(Companion.objects.get(pk=back.pk)) == get_seed(small)


def test_no_secret_leaves(alice: User) -> None:
    companion = live_fully(alice)
    entries = read_entries(pack(companion))
    keys = [file.key for file in StoredFile.objects.filter(companion=companion)]
    told = b"".join(entries.values()).decode(errors="replace")
    for secret in (alice.email, alice.password, "as it was sent", *keys):
        assert secret not in told


def test_what_nobody_restores_goes_after_a_day(bob: User, small: Companion) -> None:
    uploads.keep_upload(bob, io.BytesIO(pack(small)), NOON)
    assert uploads.delete_old_uploads(NOON + timedelta(hours=23)) == 0
    assert uploads.delete_old_uploads(NOON + timedelta(hours=25)) == 1
    assert not StoredFile.objects.filter(user=bob).exists()


async def test_an_archive_goes_out_and_in_by_the_api(alice: User, bob: User, small: Companion) -> None:
    path = f"/api/v1/companions/{small.pk}/export/archive"
    assert (await AsyncClient().get(path, headers=(await in_thread(Api, bob)).headers)).status_code == 404
    response = await AsyncClient().get(path, headers=(await in_thread(Api, alice)).headers)
    assert response["Content-Disposition"].startswith('attachment; filename="mira-')
    archive = b"".join([piece async for piece in response.streaming_content])  # type: ignore[union-attr]
    headers = {**(await in_thread(Api, bob)).headers, "Idempotency-Key": "once"}

    async def send() -> dict[str, Any]:
        file = SimpleUploadedFile("mira.zip", archive, "application/zip")
        answer = await AsyncClient().post(
            "/api/v1/companions/import/archive", {"file": file}, headers=headers
        )
        assert answer.status_code == 202
        told: dict[str, Any] = answer.json()
        return told

    begun = await send()
    assert begun["job"]["state"] == "waiting"
    assert (await send())["job"]["id"] == begun["job"]["id"]
    upload = await in_thread(lambda: ArchiveUpload.objects.get(user=bob))
    await in_thread(uploads.run, upload.pk, timezone.now)
    where = f"/api/v1/companions/import/archive/{upload.pk}"
    done = (await AsyncClient().get(where, headers=headers)).json()
    assert (done["job"]["state"], done["job"]["done"]) == ("done", done["job"]["total"])
    assert await in_thread(lambda: Companion.objects.owned_by(bob).get().pk) is not None
    others = (await in_thread(Api, alice)).headers
    assert (await AsyncClient().get(where, headers=others)).status_code == 404


def test_an_archive_that_is_dropped_is_told_in_words_before_it_moves_in(bob: User, small: Companion) -> None:
    User.objects.filter(pk=bob.pk).update(language="en")
    client = Client()
    client.force_login(bob)
    file = SimpleUploadedFile("anything.bin", pack(small))
    page = client.post("/companions/new/card/", {"file": file}, follow=True)
    told = page.content.decode()
    assert "Mira wants to move in" in told
    assert "It holds 2 messages." in told
    assert not Companion.objects.owned_by(bob).exists()
    path = page.redirect_chain[-1][0]
    waiting = client.post(path, follow=True).content.decode()
    assert "Mira is moving in" in waiting
    uploads.run(ArchiveUpload.objects.get(user=bob).pk, timezone.now)
    assert "Mira has moved in" in client.get(path).content.decode()
    assert Memory.objects.filter(companion__user=bob, text="tea").count() == 1


def test_one_of_the_same_name_is_told_of_before_a_second_moves_in(
    alice: User, bob: User, small: Companion
) -> None:
    archive, client = pack(small), Client()
    for user, is_told in ((bob, False), (alice, True)):
        client.force_login(user)
        page = client.post(
            "/companions/new/card/", {"file": SimpleUploadedFile("mira.zip", archive)}, follow=True
        )
        assert ("You already have a companion named Mira" in page.content.decode()) == is_told
        path = page.redirect_chain[-1][0]
        client.post(path)
        uploads.run(ArchiveUpload.objects.get(user=user).pk, timezone.now)
        assert ("Give it another name" in client.get(path).content.decode()) == is_told


def test_commands_move_a_companion(bob: User, small: Companion, tmp_path: Path) -> None:
    file = tmp_path / "mira.zip"
    told = io.StringIO()
    call_command("export_archive", str(small.pk), str(file), stdout=told)
    assert told.getvalue().startswith("Mira: ")
    with pytest.raises(CommandError):
        call_command("export_archive", str(small.pk), str(file))  # it is there already
    with pytest.raises(CommandError):
        call_command("import_archive", str(file), owner="nobody@example.org")
    told = io.StringIO()
    call_command("import_archive", str(file), owner=bob.email, stdout=told, stderr=io.StringIO())
    assert Message.objects.filter(companion=told.getvalue().strip()).count() == 2


def test_an_export_that_fails_leaves_no_file(alice: User, small: Companion, tmp_path: Path) -> None:
    StoredFile.objects.create(
        **{"user": alice, "companion": small, "kind": "picture", "content_type": "image/png"},
        **{"key": "picture/away/content", "bytes": 1, "created_at": NOON},
    )
    private().put("picture/away", b"a file where a folder should be", "text/plain")
    file = tmp_path / "mira.zip"
    try:
        with pytest.raises(CommandError, match="Nothing was written"):
            call_command("export_archive", str(small.pk), str(file))
    finally:
        private().remove(["picture/away"])
    assert not file.exists()


async def test_only_whoever_is_signed_in_may_send_as_much_as_an_archive(bob: User) -> None:
    async def ask(path: str, headers: dict[str, str], length: int = 22_000_000) -> tuple[int, bytes]:
        declared = {**headers, "Content-Length": str(length)}
        raw = [(name.lower().encode(), value.encode()) for name, value in declared.items()]
        scope = {"type": "http", "method": "POST", "path": path, "headers": raw}
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        async def inner(scope: Any, receive: Any, send: Any) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": []})

        await BodyLimit(inner)(scope, receive, send)
        return sent[0]["status"], sent[-1].get("body", b"")

    token = (await in_thread(Api, bob)).headers
    for path in LARGE_WAYS:
        assert await ask(path, dict(token)) == (200, b""), path
    for path, headers in (
        (LARGE_WAYS[0], {}),
        (LARGE_WAYS[0], {"Authorization": "Bearer nobodys"}),
        ("/api/v1/companions", token),
        ("/api/v1/companions/x/messages", token),
    ):
        status, body = await ask(path, dict(headers))
        assert status == 413
        assert b"A request can be at most 21 MB." in body
    browser = {"Accept": "text/html,*/*;q=0.8", "Accept-Language": "zh-CN"}
    status, body = await ask("/companions/x/face/pictures/", browser)
    assert status == 413
    assert b'<html lang="zh-hans"' in body
    assert b"21 MB" in body
    form = {**token, "Content-Type": "Application/X-WWW-Form-URLencoded; charset=utf-8"}
    for path in (LARGE_WAYS[0], "/language/"):  # decoding takes most of a second for each megabyte
        status, body = await ask(path, form, 5_200_000)
        assert status == 413
    status, body = await ask(LARGE_WAYS[0], dict(token), 800_000_000)
    assert status == 413
    assert b"A request can be at most 700 MB." in body


def test_a_restore_keeps_its_lease_while_one_file_takes_long(
    small: Companion, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "TELL_SECONDS", 0.05)
    monkeypatch.setattr(uploads, "BEAT_SECONDS", 0.05)
    upload = bring(bob, pack(small))
    held = []

    def restore_slowly(*given: Any) -> None:
        held.append(ArchiveUpload.objects.get(pk=upload.pk).look_at)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline and len(set(held)) == 1:
            time.sleep(0.05)
            held.append(ArchiveUpload.objects.get(pk=upload.pk).look_at)

    monkeypatch.setattr(uploads, "restore", restore_slowly)
    uploads.run(upload.pk, timezone.now)
    assert len(set(held)) > 1
