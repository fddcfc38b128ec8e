"""What is told of Kith's health, and what that costs."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpResponse
from django.test import AsyncClient, Client, RequestFactory
from django.utils.functional import SimpleLazyObject

from accounts.authentication import find_signed_in
from accounts.limits.admission import visiting
from accounts.limits.places import places
from config.api import openapi_document
from config.health import CHAT_PROBE_SECONDS, ChatProbe


def test_livez_asks_neither_database_nor_redis(client: Client, settings: Any) -> None:
    """Without the mark `django_db` whatever asks the database fails."""
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    response = client.get("/livez")
    assert (response.status_code, response.content) == (200, b"ok")


async def test_livez_waits_for_nobody(async_client: AsyncClient, settings: Any) -> None:
    settings.AT_WORK = {"visits": (1, 1)}
    async with asyncio.timeout(5), visiting("192.0.2.1"), places("visits").at("address:192.0.2.1"):
        assert (await async_client.get("/livez")).status_code == 200


@pytest.mark.parametrize("path", ["/livez", "/readyz", "/healthz"])
def test_health_is_told_without_looking_up_who_asks(rf: RequestFactory, settings: Any, path: str) -> None:
    """Without the mark `django_db` whatever asks the database fails."""
    request = rf.get(path, headers={"cookie": f"{settings.SESSION_COOKIE_NAME}=somebody"})
    SessionMiddleware(lambda _request: HttpResponse()).process_request(request)
    request.user = SimpleLazyObject(lambda: get_user(request))  # type: ignore[assignment]
    assert find_signed_in(request) is None


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("redis", "status"), [("", 200), ("redis://127.0.0.1:1/0", 503)])
def test_readyz_says_whether_database_and_redis_answer_and_asks_no_model(
    client: Client, settings: Any, redis: str, status: int
) -> None:
    settings.REDIS_URL = redis or settings.REDIS_URL
    response = client.get("/readyz")
    assert response.status_code == status
    assert set(response.json()["checks"]) == {"database", "redis"}


async def test_the_chat_provider_is_asked_once_in_a_while_however_many_want_to_know() -> None:
    asked = 0

    async def ask() -> bool:
        nonlocal asked
        asked += 1
        await asyncio.sleep(0)
        return asked > 1

    probe = ChatProbe(ask)
    assert await asyncio.gather(*(probe.is_up(100.0 + n) for n in range(5))) == [False] * 5
    assert asked == 1
    assert await probe.is_up(100.0 + CHAT_PROBE_SECONDS)
    assert asked == 2


def test_the_openapi_document_is_made_once_and_not_sent_twice(client: Client) -> None:
    first = client.get("/api/v1/openapi.json")
    assert first.json()["info"]["title"] == "Kith"
    again = client.get("/api/v1/openapi.json", headers={"if-none-match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/api/v1/openapi.json").content == first.content
    assert openapi_document.cache_info().misses == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("reserve", "state"), [(0, "ok"), (1 << 60, "degraded")])
def test_a_disk_that_is_almost_full_is_told(client: Client, settings: Any, reserve: int, state: str) -> None:
    settings.DISK_RESERVE_BYTES = reserve
    assert client.get("/healthz").json()["checks"]["disk"] == state


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("folder", "state"), [("missing", "ok"), ("file/unreadable", "degraded")])
def test_a_disk_that_cannot_be_read_is_told(
    client: Client, settings: Any, tmp_path: Path, folder: str, state: str
) -> None:
    (tmp_path / "file").touch()
    settings.KITH_HOME = tmp_path / folder
    assert client.get("/healthz").json()["checks"]["disk"] == state
