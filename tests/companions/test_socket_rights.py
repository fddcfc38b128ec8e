"""An open socket ends with the right to it."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import redis
from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from accounts.limits.admission import Share
from accounts.models import Token, User
from companions.models import Companion
from config.asgi import application
from jobs.background import in_thread
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.turns import Socket, Wire, bearer, connected

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("web")]

ENDS: dict[str, tuple[Callable[[], object], int]] = {
    "the token is revoked": (lambda: Token.objects.update(revoked_at=timezone.now()), 4401),
    "the person is shut out": (lambda: User.objects.update(is_active=False), 4401),
    "the companion is deleted": (lambda: Companion.objects.get().delete(), 4404),
    "it is given away": (
        lambda: Companion.objects.update(user=User.objects.create_user("c@example.org")),
        4404,
    ),
}


@pytest.mark.parametrize("what", ENDS)
async def test_a_socket_closes_when(alice: User, mira: Companion, settings: Any, what: str) -> None:
    settings.SOCKET_CHECKED_SECONDS = 0.1
    end, code = ENDS[what]
    socket = Socket(mira.pk, await bearer(alice))
    assert (await socket.wire.connect(timeout=30))[0]
    await in_thread(end)
    assert (await socket.wire.receive_output(timeout=30)).get("code") == code


def signed_in(user: User, client: Client) -> list[tuple[bytes, bytes]]:
    client.force_login(user)
    cookie = f"sessionid={client.cookies['sessionid'].value}".encode()
    return [(b"host", b"127.0.0.1:8000"), (b"origin", b"http://127.0.0.1:8000"), (b"cookie", cookie)]


async def test_a_socket_of_a_session_closes_when_one_signs_out(
    alice: User, mira: Companion, settings: Any
) -> None:
    settings.SOCKET_CHECKED_SECONDS = 0.1
    socket = Socket(mira.pk, *await in_thread(signed_in, alice, Client()))
    assert (await socket.wire.connect(timeout=30))[0]
    assert await socket.wire.receive_nothing(timeout=4)
    await in_thread(Session.objects.all().delete)
    assert (await socket.wire.receive_output(timeout=30))["code"] == 4401


ANNOUNCED: dict[str, Callable[[], object]] = {
    "the token is revoked": lambda: Token.objects.get().revoke(timezone.now()),
    "the token is deleted": lambda: Token.objects.get().delete(),
    "the person is shut out": lambda: change(User.objects.get(), is_active=False),
    "the person is deleted": lambda: User.objects.get().delete(),
}


def change(user: User, **fields: Any) -> None:
    for name, value in fields.items():
        setattr(user, name, value)
    user.save(update_fields=list(fields))


@pytest.mark.parametrize("what", ANNOUNCED)
@pytest.mark.parametrize("address", ["companion", "me"])
async def test_a_socket_need_not_wait_to_be_checked_when(
    alice: User, mira: Companion, settings: Any, what: str, address: str
) -> None:
    settings.SOCKET_CHECKED_SECONDS = 3600.0
    path = "/ws/me/" if address == "me" else f"/ws/companions/{mira.pk}/"
    wire = Wire(application, path, headers=[await bearer(alice)])
    assert (await wire.connect(timeout=30))[0]
    if address == "companion":
        await wire.send_to(text_data="{}")
    await wire.receive_output(timeout=30)  # what is unread, or that this is no frame: it is open
    await in_thread(ANNOUNCED[what])
    assert (await wire.receive_output(timeout=30)) == {"type": "websocket.close", "code": 4401}


@pytest.mark.parametrize("how", ["signing out", "a new password"])
async def test_a_sessions_socket_need_not_wait_to_be_checked_after(
    alice: User, mira: Companion, settings: Any, how: str
) -> None:
    settings.SOCKET_CHECKED_SECONDS = 3600.0
    client = Client()
    socket = Socket(mira.pk, *await in_thread(signed_in, alice, client))
    assert (await socket.wire.connect(timeout=30))[0]
    await socket.send("nothing.known")
    assert (await socket.frame())["code"] == "unknown_frame"
    if how == "signing out":
        await in_thread(client.post, "/accounts/logout/")
    else:
        alice.set_password("another one")
        await in_thread(alice.save)
    assert (await socket.wire.receive_output(timeout=30))["code"] == 4401


async def test_what_ends_elsewhere_closes_no_other_socket(
    alice: User, bob: User, mira: Companion, tian: Companion
) -> None:
    async with connected(alice, mira) as hers, connected(bob, tian) as his:
        await his.send("nothing.known")
        await his.frame()
        await in_thread(lambda: Token.objects.get(user=bob).revoke(timezone.now()))
        assert (await his.wire.receive_output(timeout=30))["code"] == 4401
        await hers.send("nothing.known")
        assert (await hers.frame())["code"] == "unknown_frame"


async def test_what_came_before_a_socket_closed_is_passed_over(alice: User, mira: Companion) -> None:
    socket = Socket(mira.pk, await bearer(alice))
    assert (await socket.wire.connect(timeout=30))[0]
    for _ in range(70):
        await socket.send("nothing.known")
    answers = [await socket.wire.receive_output(timeout=30) for _ in range(61)]
    assert answers[-1].get("code") == 4429
    assert await socket.wire.receive_nothing(timeout=1)


async def test_a_line_that_falls_while_something_is_sent_leaves_no_place_taken(
    alice: User, mira: Companion
) -> None:
    """Whoever sends on it gets an error; the socket is told of no end any more."""
    scope = Socket(mira.pk, await bearer(alice)).wire.scope
    coming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    coming.put_nowait({"type": "websocket.connect"})
    coming.put_nowait({"type": "websocket.receive", "text": "no frame"})

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "websocket.send":
            raise ConnectionError

    key = Share("sockets", f"user:{alice.pk}").key
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        with pytest.raises(ConnectionError):
            await application(scope, coming.get, send)
        assert client.zcard(key) == 0


@pytest.mark.parametrize("what", ["the token is revoked", "the person is shut out"])
async def test_an_event_stream_is_cut_off_when(
    alice: User, mira: Companion, rehearsal: RehearsalServer, settings: Any, what: str
) -> None:
    settings.SOCKET_CHECKED_SECONDS = 0.1
    rehearsal.script({"pieces": [f"{number} " for number in range(60)], "delay_between": 0.1})
    headers = [
        *(await bearer(alice), (b"host", b"127.0.0.1:8000")),
        *((b"accept", b"text/event-stream"), (b"content-type", b"application/json")),
    ]
    scope = {"type": "http", "method": "POST", "path": f"/api/v1/companions/{mira.pk}/messages"}
    line = ApplicationCommunicator(application, scope | {"query_string": b"", "headers": headers})
    await line.send_input({"type": "http.request", "body": b'{"text": "Count"}'})
    assert (await line.receive_output(30))["status"] == 201
    pieces = b""
    while b"reply.piece" not in pieces:
        pieces += (await line.receive_output(30))["body"]
    await in_thread(ENDS[what][0])
    await line.wait(30)
    while not line.output_queue.empty():
        rest = line.output_queue.get_nowait()
        pieces += rest["body"]
        assert rest["more_body"]
    assert b"reply.done" not in pieces
