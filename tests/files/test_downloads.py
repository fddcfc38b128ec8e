"""Files as people get them: whole and in parts, and by nobody but whose they are."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import AsyncClient, Client

from accounts.models import Token, User
from files.errors import StorageAwayError
from files.models import StoredFile
from files.storage import private
from jobs.background import in_thread
from tests.files.conftest import stored
from tests.fixtures.rest import Api
from tests.fixtures.storage import S3Server

pytestmark = pytest.mark.django_db(transaction=True)
CONTENT = bytes(range(256)) * 1000  # four pieces
SIZE = len(CONTENT)


async def body(response: Any) -> bytes:
    """What came, of an answer that is streamed or not."""
    if not response.streaming:
        return bytes(response.content)
    return b"".join([piece async for piece in response])


async def asked(user: User, file: StoredFile, method: str = "GET", **headers: str) -> Any:
    """The file by a page's address, asked by who is signed in."""
    client = AsyncClient()
    await client.aforce_login(user)
    return await client.generic(method, f"/files/{file.pk}/", headers=headers)


@pytest.fixture
def file(alice: User, storage: str) -> StoredFile:
    return stored(alice, CONTENT)


async def test_it_comes_whole(alice: User, file: StoredFile) -> None:
    response = await asked(alice, file)
    assert response.status_code == 200
    assert await body(response) == CONTENT
    assert response["Content-Length"] == str(len(CONTENT))
    assert response["Content-Type"] == "audio/mpeg"
    assert response["Content-Disposition"] == f'inline; filename="speech-{file.pk}.mp3"'
    assert response["Accept-Ranges"] == "bytes"
    assert response["Cache-Control"] == "private, no-cache"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Security-Policy"].startswith("default-src 'none'")
    assert file.key not in str(response.headers)
    assert "kith-of-a-test" not in str(response.headers)


async def test_a_part_comes_as_it_is_asked_for(alice: User, file: StoredFile) -> None:
    for sent, start, end in (("bytes=70000-199999", 70_000, 200_000), ("bytes=-9", SIZE - 9, SIZE)):
        response = await asked(alice, file, Range=sent)
        assert response.status_code == 206
        assert response["Content-Range"] == f"bytes {start}-{end - 1}/{SIZE}"
        assert response["Content-Length"] == str(end - start)
        assert await body(response) == CONTENT[start:end]


async def test_a_part_beyond_its_end_is_refused(alice: User, file: StoredFile) -> None:
    response = await asked(alice, file, Range="bytes=256000-")
    assert (response.status_code, response["Content-Range"]) == (416, f"bytes */{SIZE}")
    assert await body(response) == b""


async def test_what_is_no_part_is_answered_with_the_whole(alice: User, file: StoredFile) -> None:
    response = await asked(alice, file, Range=f"bytes={'9' * 5000}-")
    assert response.status_code == 200
    assert await body(response) == CONTENT


async def test_a_part_of_another_content_is_not_given(alice: User, file: StoredFile) -> None:
    etag = (await asked(alice, file, "HEAD"))["ETag"]
    assert (await asked(alice, file, Range="bytes=0-9", If_Range=etag)).status_code == 206
    for other in ('"another"', f"W/{etag}", "Sat, 21 Nov 2026 20:00:00 GMT"):
        response = await asked(alice, file, Range="bytes=0-9", If_Range=other)
        assert response.status_code == 200


async def test_what_is_at_hand_is_not_sent_again(alice: User, file: StoredFile) -> None:
    etag = (await asked(alice, file, "HEAD"))["ETag"]
    response = await asked(alice, file, If_None_Match=f'"other", W/{etag}')
    assert (response.status_code, await body(response)) == (304, b"")


async def test_its_size_is_told_without_it(alice: User, file: StoredFile) -> None:
    response = await asked(alice, file, "HEAD")
    assert (response.status_code, response["Content-Length"]) == (200, str(SIZE))
    assert await body(response) == b""


async def test_what_no_page_shows_is_given_to_be_saved(alice: User, storage: str) -> None:
    """Should anything else ever be stored, no browser runs it."""
    page = await in_thread(lambda: stored(alice, b"<script>alert(1)</script>", content_type="text/html"))
    response = await asked(alice, page)
    assert response["Content-Type"] == "application/octet-stream"
    assert response["Content-Disposition"].startswith("attachment;")


# -- whose it is ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("who", ["bob", "mallory", "olive", None])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_another_user_gets_no_byte(
    request: pytest.FixtureRequest, file: StoredFile, who: str | None, method: str
) -> None:
    """Not by its address, not by a part of it, and not to be told that it is what they have."""
    client, etag = AsyncClient(), f'"{file.sha256}"'
    headers: dict[str, str] = {}
    if who:
        user = await in_thread(request.getfixturevalue, who)
        await client.aforce_login(user)
        _, token = await in_thread(Token.objects.issue, user, "test")
        headers = {"Authorization": f"Bearer {token}"}
    ways: list[dict[str, str]] = [{}, {"Range": "bytes=0-99"}, {"If-None-Match": etag}, {"If-Range": etag}]
    for more in ways:
        page = await client.generic(method, f"/files/{file.pk}/", headers=more)
        operation = await AsyncClient().generic(method, f"/api/v1/files/{file.pk}", headers=headers | more)
        assert (page.status_code, operation.status_code) == ((404, 404) if who else (302, 401))
        for response in (page, operation):
            said = await body(response)
            assert CONTENT[:50] not in said
            assert file.key not in said.decode()
            assert etag not in str(response.headers)


async def test_a_guessed_address_leads_nowhere(alice: User, mallory: User, file: StoredFile) -> None:
    """Neither its name in the storage, nor a way out of a folder, nor a made-up id."""
    guesses = [
        f"/files/{uuid.uuid4()}/",
        f"/files/{file.key}",
        f"/media/{file.key}",
        f"/static/../media/{file.key}",
        f"/static/%2e%2e/media/{file.key}",
        f"/{file.key}",
        f"/api/v1/files/{file.key}",
        f"/api/v1/files/{file.sha256}",
    ]
    for person in (alice, mallory):
        client = AsyncClient()
        await client.aforce_login(person)
        for guess in guesses:
            response = await client.get(guess)
            assert response.status_code in (401, 404), guess
            assert CONTENT[:50] not in await body(response)


async def test_an_old_address_leads_nowhere(alice: User, bob: User, file: StoredFile) -> None:
    """After signing out, after revoking, after it was given to another, and after it was deleted."""
    client = AsyncClient()
    await client.aforce_login(alice)
    token, plaintext = await in_thread(Token.objects.issue, alice, "test")
    page, operation = f"/files/{file.pk}/", f"/api/v1/files/{file.pk}"
    bearer = {"Authorization": f"Bearer {plaintext}"}
    assert (await client.get(page)).status_code == 200
    assert (await AsyncClient().get(operation, headers=bearer)).status_code == 200
    await client.alogout()
    await in_thread(Token.objects.filter(pk=token.pk).delete)
    assert (await client.get(page)).status_code == 302
    assert (await AsyncClient().get(operation, headers=bearer)).status_code == 401
    await client.aforce_login(alice)
    await in_thread(StoredFile.objects.filter(pk=file.pk).update, user=bob)
    assert (await client.get(page)).status_code == 404
    await in_thread(StoredFile.objects.filter(pk=file.pk).update, user=alice)
    await in_thread(StoredFile.objects.filter(pk=file.pk).delete)
    etag = f'"{file.sha256}"'
    assert (await client.get(page, headers={"If-None-Match": etag})).status_code == 404


def test_the_list_holds_ones_own_alone(alice: User, bob: User, file: StoredFile, settings: Any) -> None:
    his = stored(bob, b"his own")
    told = Api(alice).get("/files").json()
    assert [one["id"] for one in told["items"]] == [str(file.pk)]
    assert (told["used_bytes"], told["most_bytes"]) == (SIZE, settings.FILES_BYTES_EACH)
    assert file.key not in str(told)
    assert [one["id"] for one in Api(bob).get("/files").json()["items"]] == [str(his.pk)]


async def test_a_token_gets_a_part(alice: User, file: StoredFile) -> None:
    api = await in_thread(Api, alice)
    headers = api.headers | {"Range": "bytes=10-19"}
    response = await AsyncClient().get(f"/api/v1/files/{file.pk}", headers=headers)
    assert (response.status_code, await body(response)) == (206, CONTENT[10:20])
    head = await AsyncClient().head(f"/api/v1/files/{file.pk}", headers=api.headers)
    assert (head.status_code, head["Content-Length"], await body(head)) == (200, str(SIZE), b"")


# -- a storage that fails -------------------------------------------------------------------------------------------


def test_a_storage_that_is_away_is_said_to_be(
    alice: User, file: StoredFile, away: Callable[[], None]
) -> None:
    client = Client()
    client.force_login(alice)
    away()
    page, operation = client.get(f"/files/{file.pk}/"), Api(alice).get(f"/files/{file.pk}")
    assert (page.status_code, page.json()["code"]) == (503, "storage_away")
    assert (operation.status_code, operation.json()["code"]) == (503, "storage_away")
    assert operation["Content-Type"] == "application/problem+json"


def test_a_content_that_is_lost_is_said_to_be(alice: User, file: StoredFile) -> None:
    private().remove([file.key])
    response: HttpResponse = Api(alice).get(f"/files/{file.pk}")
    assert (response.status_code, response.json()["code"]) == (404, "content_lost")


async def test_a_line_that_breaks_half_way_ends_the_answer(alice: User, s3: S3Server) -> None:
    """It never looks whole: fewer bytes come than were promised."""
    file = await in_thread(stored, alice, CONTENT)
    s3.fail("cut", "GET")
    response = await asked(alice, file)
    assert response["Content-Length"] == str(SIZE)
    came: list[bytes] = []

    async def read_on() -> None:
        async for piece in response:
            came.append(piece)

    with pytest.raises(StorageAwayError):
        await read_on()
    assert len(b"".join(came)) < SIZE


async def test_never_is_all_of_it_in_memory(alice: User, s3: S3Server) -> None:
    """Each piece is asked of the storage when the one before is sent."""
    file = await in_thread(stored, alice, CONTENT)
    pieces = [len(piece) async for piece in await asked(alice, file)]
    assert sum(pieces) == SIZE
    assert max(pieces) <= 64 * 1024
