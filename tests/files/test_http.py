"""A web server, a browser's kind of client and an S3 server: the whole way of a content."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
import uvicorn

from accounts.models import Token, User
from config.asgi import application
from config.up.ports import find_free_port
from files.models import StoredFile
from jobs.background import in_thread
from tests.files.conftest import stored
from tests.fixtures.storage import S3Server

pytestmark = pytest.mark.django_db(transaction=True)
CONTENT = bytes(range(256)) * 8_000  # 2 MB


@pytest.fixture
async def kith(alice: User) -> AsyncIterator[httpx.AsyncClient]:
    """Kith behind a real socket of this machine, asked by Alice's program."""
    _, token = await in_thread(Token.objects.issue, alice, "test")
    server = uvicorn.Server(
        uvicorn.Config(application, port=find_free_port(), lifespan="off", log_level="error")
    )
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    address = f"http://127.0.0.1:{server.config.port}"
    async with httpx.AsyncClient(base_url=address, headers={"Authorization": f"Bearer {token}"}) as client:
        yield client
    server.should_exit = True
    await serving


@pytest.fixture
def file(alice: User, s3: S3Server) -> StoredFile:
    return stored(alice, CONTENT)


async def test_it_comes_whole_and_in_parts(kith: httpx.AsyncClient, file: StoredFile) -> None:
    where = f"/api/v1/files/{file.pk}"
    whole = await kith.get(where)
    assert (whole.status_code, whole.content) == (200, CONTENT)
    part = await kith.get(where, headers={"Range": "bytes=1000000-", "If-Range": whole.headers["ETag"]})
    assert (part.status_code, part.content) == (206, CONTENT[1_000_000:])
    head = await kith.head(where)
    assert (head.headers["Content-Length"], head.content) == (str(len(CONTENT)), b"")
    again = await kith.get(where, headers={"If-None-Match": whole.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert (await kith.get(where, headers={"If-None-Match": "*"})).status_code == 304


async def test_half_of_it_is_never_taken_for_the_whole(
    kith: httpx.AsyncClient, file: StoredFile, s3: S3Server
) -> None:
    s3.fail("cut", "GET")
    with pytest.raises(httpx.RemoteProtocolError):
        await kith.get(f"/api/v1/files/{file.pk}")
    s3.heal()
    assert (await kith.get(f"/api/v1/files/{file.pk}")).content == CONTENT


async def test_a_storage_that_hangs_holds_up_nobody_else(
    kith: httpx.AsyncClient, file: StoredFile, s3: S3Server
) -> None:
    s3.fail("hang", "GET")
    waiting = asyncio.create_task(kith.get(f"/api/v1/files/{file.pk}", timeout=60))
    while not any(method == "GET" for method, _path in s3.requests):
        await asyncio.sleep(0.01)
    assert (await kith.get("/api/v1/files", timeout=30)).json()["used_bytes"] == len(CONTENT)
    assert not waiting.done()
    s3.heal()
    # The call that hung has failed; a second one may have come.
    assert (await waiting).status_code in {200, 503}
