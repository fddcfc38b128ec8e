"""Bad input at the socket: each a clear error frame or a closing code, and nothing half-written."""

import uuid
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from accounts.models import Token, User
from companions.models import Companion, Message
from companions.sockets.authorization import may_connect
from config.asgi import application
from jobs.background import in_thread
from tests.fixtures.turns import Socket, Wire, bearer, connected

# Of a frame that cannot be read, the error names the client id, if that can be read.
CLIENT_ID = {
    '{"type": "message.send", "text": 7, "client_id": "a"}': "a",
    '{"type": "message.send", "text": "hi", "client_id": "a\\u0000b"}': "a\0b",
    '{"type": "message.send", "text": "", "client_id": "a"}': "a",
    '{"type": "message.send", "text": " \\n ", "client_id": "a"}': "a",
    '{"type": "message.send", "text": "a\\u0000b", "client_id": "a"}': "a",
    '{"type": "message.send", "text": "' + "x" * 100_000 + '", "client_id": "a"}': "a",
}
NOBODYS = "00000000-0000-4000-8000-000000000000"
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("web")]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", "bad_frame"),
        ("[]", "bad_frame"),
        ("null", "bad_frame"),
        ("{}", "bad_frame"),
        ('{"type": "message.delete"}', "unknown_frame"),
        ('{"type": "message.send"}', "bad_frame"),
        ('{"type": "message.send", "text": 7, "client_id": "a"}', "bad_frame"),
        ('{"type": "message.send", "text": "hi", "client_id": ""}', "bad_frame"),
        ('{"type": "message.send", "text": "hi", "client_id": "a\\u0000b"}', "bad_frame"),
        ('{"type": "message.send", "text": "", "client_id": "a"}', "empty_message"),
        ('{"type": "message.send", "text": " \\n ", "client_id": "a"}', "empty_message"),
        ('{"type": "message.send", "text": "a\\u0000b", "client_id": "a"}', "bad_text"),
        ('{"type": "message.send", "text": "' + "x" * 100_000 + '", "client_id": "a"}', "message_too_long"),
        ('{"type": "reply.stop", "id": "7"}', "bad_frame"),
        ('{"type": "reply.stop", "id": "' + NOBODYS + '"}', "no_such_reply"),
        ('{"type": "reply.resume", "id": "' + NOBODYS + '", "after": 0}', "no_such_reply"),
        ('{"type": "reply.resume", "id": "' + NOBODYS + '", "after": -1}', "bad_frame"),
        ("[" * 5_000, "bad_frame"),
        ('{"type": "reply.stop", "id": "' + NOBODYS + '", "more": "' + "x" * 1_000_000 + '"}', "bad_frame"),
    ],
    ids=lambda value: value[:50],
)
async def test_a_bad_frame_gets_an_error_and_the_socket_stays(
    alice: User, mira: Companion, text: str, code: str
) -> None:
    async with connected(alice, mira) as socket:
        await socket.wire.send_to(text_data=text)
        error = await socket.frame()
        assert (error["type"], error["code"]) == ("error", code)
        assert error["detail"]
        assert error.get("client_id") == CLIENT_ID.get(text)
        await socket.wire.send_to(text_data='{"type": "reply.stop", "id": "' + NOBODYS + '"}')
        assert (await socket.frame())["code"] == "no_such_reply"
    assert not await in_thread(Message.objects.exists)


async def test_a_ping_is_answered(alice: User, mira: Companion) -> None:
    async with connected(alice, mira) as socket:
        await socket.send("ping")
        assert await socket.frame() == {"type": "pong"}


async def test_bytes_get_an_error(alice: User, mira: Companion) -> None:
    async with connected(alice, mira) as socket:
        await socket.wire.send_to(bytes_data=b"\xff\xfe")
        assert (await socket.frame())["code"] == "bad_frame"


async def test_a_lone_surrogate_is_refused(alice: User, mira: Companion) -> None:
    async with connected(alice, mira) as socket:
        await socket.wire.send_to(text_data='{"type": "message.send", "text": "\\ud800", "client_id": "a"}')
        assert (await socket.frame())["type"] == "error"
    assert not await in_thread(Message.objects.exists)


async def test_frames_before_sign_in_do_nothing(mira: Companion) -> None:
    socket = Socket(mira.pk)
    await socket.wire.connect(timeout=30)
    await socket.send("message.send", text="hi", client_id="a")
    assert await socket.wire.receive_output(5) == {"type": "websocket.close", "code": 4401}
    assert not await in_thread(Message.objects.exists)


async def test_an_unknown_companion_closes_the_socket(alice: User) -> None:
    socket = Socket(uuid.uuid4(), await bearer(alice))
    await socket.wire.connect(timeout=30)
    assert await socket.wire.receive_output(5) == {"type": "websocket.close", "code": 4404}


async def test_a_revoked_token_opens_nothing(alice: User, mira: Companion) -> None:
    header = await bearer(alice)
    from django.utils import timezone

    await in_thread(lambda: Token.objects.get().revoke(timezone.now()))
    socket = Socket(mira.pk, header)
    await socket.wire.connect(timeout=30)
    assert await socket.wire.receive_output(5) == {"type": "websocket.close", "code": 4401}


def signed_in(user: User) -> bytes:
    client = Client()
    client.force_login(user)
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}".encode()


@pytest.mark.parametrize(
    ("host", "origin", "opens"),
    [
        ("localhost", "http://localhost", True),
        ("localhost:8000", "http://localhost:8000", True),
        ("localhost", "http://evil.example", False),
        ("localhost", "http://localhost.evil.example", False),
        ("localhost:8000", "http://localhost:9000", False),
        ("evil.example", "http://evil.example", False),
        ("localhost", "null", False),
        ("localhost:8000", "chrome-extension://localhost:8000", False),
        ("localhost:8000", "http://localhost:99999", False),
        ("localhost", None, False),
    ],
    ids=str,
)
async def test_a_session_opens_a_socket_from_kiths_own_pages_only(
    alice: User, mira: Companion, host: str, origin: str | None, opens: bool
) -> None:
    headers = [(b"cookie", await in_thread(signed_in, alice)), (b"host", host.encode())]
    headers += [(b"origin", origin.encode())] if origin else []
    wire: Any = Wire(application, f"/ws/companions/{mira.pk}/", headers=headers)
    is_open, _ = await wire.connect(timeout=30)
    assert is_open is opens
    await wire.disconnect()


@pytest.mark.parametrize(
    ("origin", "opens"),
    [
        ("https://kith.example", True),
        ("https://kith.example:443", True),
        ("http://kith.example", False),
        ("https://kith.example:8443", False),
        ("chrome-extension://kith.example", False),
        ("https://evil.example", False),
    ],
)
def test_in_production_a_socket_comes_from_kith_urls_origin(settings: Any, origin: str, opens: bool) -> None:
    settings.IS_PRODUCTION, settings.ALLOWED_HOSTS = True, ["kith.example"]
    settings.CSRF_TRUSTED_ORIGINS = ["https://kith.example"]
    headers = [
        (b"host", origin.partition("://")[2].encode()),
        (b"origin", origin.encode()),
        (b"cookie", b"a=b"),
    ]
    assert may_connect({"headers": headers}) is opens


async def test_an_address_where_there_is_no_socket_is_refused() -> None:
    for path in ("/ws/nowhere/", "/ws/companions/none/", "/"):
        wire = Wire(application, path)
        assert await wire.connect(timeout=30) == (False, 1000)


async def test_too_many_frames_close_the_socket(alice: User, mira: Companion, settings: Any) -> None:
    settings.SOCKET_FRAMES_PER_10_SECONDS = 3
    async with connected(alice, mira) as socket:
        for _ in range(4):
            await socket.send("nonsense")
        outputs = [await socket.wire.receive_output(5) for _ in range(4)]
    assert outputs[-1] == {"type": "websocket.close", "code": 4429}


async def test_a_silent_socket_is_closed(alice: User, mira: Companion, settings: Any) -> None:
    settings.SOCKET_IDLE_SECONDS = 0.1
    async with connected(alice, mira) as socket:
        assert await socket.wire.receive_output(5) == {"type": "websocket.close", "code": 4408}


async def test_more_messages_than_the_gate_allows_are_refused(alice: User, mira: Companion) -> None:
    alice.messages_per_minute = 1
    await in_thread(alice.save)
    async with connected(alice, mira) as socket:
        await socket.send("message.send", text="One", client_id="1")
        await socket.until("reply.done")
        await socket.send("message.send", text="Two", client_id="2")
        error = await socket.frame()
    assert (error["code"], error["client_id"]) == ("too_many_messages", "2")
    assert await in_thread(Message.objects.filter(role="user").count) == 1
