"""Pictures in the drawing's place, through the page: what is none is refused, and nothing else of one is kept."""

from datetime import timedelta
from io import BytesIO
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from PIL import Image

from accounts.models import User
from companions.face.portraits import delete_unused_pictures, put_picture
from companions.models import Companion, Picture
from files.contents import read_content, store_content
from files.models import StoredFile
from tests.companions.face.paintings import SCRIPTED, located, painted, polyglot, vast

pytestmark = pytest.mark.usefixtures("module_mira")
NOW = timezone.now()


@pytest.fixture
def at_home(alice: User, client: Client) -> Client:
    client.force_login(alice)
    return client


def send(
    client: Client, companion: Companion, content: bytes, emotion: str = "", name: str = "me.png"
) -> Any:
    file = SimpleUploadedFile(name, content, "image/png")
    return client.post(f"/companions/{companion.pk}/face/pictures/", {"file": file, "emotion": emotion})


def image(client: Client, companion: Companion, emotion: str = "") -> Any:
    return client.get(f"/companions/{companion.pk}/face/image/", {"emotion": emotion} if emotion else {})


def bytes_of(response: Any) -> bytes:
    async def pieces() -> bytes:
        return b"".join([piece async for piece in response.streaming_content])

    return async_to_sync(pieces)()


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "GIF"])
def test_a_picture_takes_the_drawings_place(at_home: Client, mira: Companion, form: str) -> None:
    assert image(at_home, mira)["Content-Type"] == "image/svg+xml"
    assert send(at_home, mira, painted(form)).status_code == 302
    shown = image(at_home, mira)
    assert shown["Content-Type"] == "image/webp"
    file = StoredFile.objects.get()
    assert (file.user, file.companion_id, file.kind) == (mira.user, mira.pk, StoredFile.Kind.PICTURE)
    assert Image.open(BytesIO(read_content(file))).size == (40, 30)


def test_a_picture_for_an_emotion_is_shown_for_that_one(at_home: Client, mira: Companion) -> None:
    send(at_home, mira, painted(), "happy")
    assert image(at_home, mira, "happy")["Content-Type"] == "image/webp"
    assert image(at_home, mira, "sad")["Content-Type"] == "image/svg+xml"
    send(at_home, mira, painted(colour="teal"))
    etags = {emotion: image(at_home, mira, emotion)["ETag"] for emotion in ("happy", "sad", "", "none such")}
    assert etags["sad"] == etags[""] == etags["none such"] != etags["happy"]


def test_a_new_picture_takes_the_old_ones_place(
    at_home: Client, mira: Companion, django_capture_on_commit_callbacks: Any
) -> None:
    send(at_home, mira, painted())
    before = StoredFile.objects.get()
    with django_capture_on_commit_callbacks(execute=True):
        send(at_home, mira, painted(colour="teal"))
    assert StoredFile.objects.get() != before
    assert Picture.objects.get().file == StoredFile.objects.get()


def test_a_picture_is_taken_back(at_home: Client, mira: Companion) -> None:
    send(at_home, mira, painted())
    send(at_home, mira, painted(), "sad")
    for emotion in ("sad", "always"):
        assert at_home.post(f"/companions/{mira.pk}/face/pictures/{emotion}/remove/").status_code == 302
    assert not Picture.objects.exists()
    assert not StoredFile.objects.exists()
    assert image(at_home, mira)["Content-Type"] == "image/svg+xml"
    assert at_home.post(f"/companions/{mira.pk}/face/pictures/none-such/remove/").status_code == 404


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (SCRIPTED, "face.svg"),
        (SCRIPTED, "face.png"),
        (b"\xef\xbb\xbf<?xml version='1.0'?>" + SCRIPTED, "face.jpg"),
        (b"", "nothing.png"),
        (b"GIF89a", "cut.gif"),
        (painted()[:60], "half.png"),
        (b"<html><script>alert(1)</script></html>", "page.png"),
        (b"%PDF-1.7\n", "paper.png"),
        (b"MZ" + bytes(400), "program.png"),
    ],
)
def test_what_is_no_picture_is_refused_in_a_sentence(
    at_home: Client, mira: Companion, content: bytes, name: str
) -> None:
    response = send(at_home, mira, content, name=name)
    assert response.status_code == 422
    assert 'class="notice notice-error"' in response.content.decode()
    assert not StoredFile.objects.exists()


def test_nine_hundred_million_pixels_are_refused_before_they_are_decoded(
    at_home: Client, mira: Companion
) -> None:
    response = send(at_home, mira, vast())
    assert response.status_code == 413
    assert "at most 40 million pixels" in response.content.decode()
    assert not StoredFile.objects.exists()


def test_more_bytes_than_a_picture_may_have_are_refused(at_home: Client, mira: Companion) -> None:
    assert send(at_home, mira, painted() + bytes(10_000_001)).status_code == 413
    assert not StoredFile.objects.exists()


def test_what_was_hidden_in_a_picture_is_not_kept(at_home: Client, mira: Companion) -> None:
    for content in (polyglot(), located()):
        assert send(at_home, mira, content).status_code == 302
        kept = read_content(StoredFile.objects.get())
        assert b"script" not in kept
        assert b"Secretcam" not in kept
        assert not Image.open(BytesIO(kept)).getexif()
        shown = image(at_home, mira)
        assert shown["X-Content-Type-Options"] == "nosniff"
        assert bytes_of(shown) == kept


def test_without_room_the_drawing_stays(at_home: Client, mira: Companion, settings: Any) -> None:
    settings.FILES_BYTES_EACH = 10
    assert send(at_home, mira, painted()).status_code == 409
    assert image(at_home, mira)["Content-Type"] == "image/svg+xml"


def test_a_picture_goes_with_its_companion(mira: Companion) -> None:
    put_picture(mira, "", painted(), NOW)
    mira.delete()
    assert not StoredFile.objects.exists()


def test_nobody_else_sees_or_changes_a_picture(client: Client, mira: Companion, mallory: User) -> None:
    picture = put_picture(mira, "happy", painted(), NOW)
    client.force_login(mallory)
    assert image(client, mira, "happy").status_code == 404
    assert client.get(f"/files/{picture.file_id}/").status_code == 404
    assert send(client, mira, painted()).status_code == 404
    assert client.post(f"/companions/{mira.pk}/face/pictures/happy/remove/").status_code == 404
    assert Picture.objects.get() == picture


def test_a_picture_whose_process_died_is_swept(mira: Companion) -> None:
    shown = put_picture(mira, "", painted(), timezone.now())
    store_content(mira.user, b"x", StoredFile.Kind.PICTURE, "image/webp", timezone.now(), companion=mira)
    assert delete_unused_pictures(timezone.now()) == 0
    assert delete_unused_pictures(timezone.now() + timedelta(hours=2)) == 1
    assert StoredFile.objects.get() == shown.file
