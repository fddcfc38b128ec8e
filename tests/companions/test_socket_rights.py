"""An open socket ends with the right to it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from accounts.models import Token, User
from companions.models import Companion
from database.threads import in_thread
from tests.fixtures.turns import Socket, bearer

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
    assert (await socket.wire.connect(timeout=5))[0]
    await in_thread(end)
    assert (await socket.wire.receive_output(timeout=10)).get("code") == code


def signed_in(user: User) -> list[tuple[bytes, bytes]]:
    client = Client()
    client.force_login(user)
    cookie = f"sessionid={client.cookies['sessionid'].value}".encode()
    return [(b"host", b"127.0.0.1:8000"), (b"origin", b"http://127.0.0.1:8000"), (b"cookie", cookie)]


async def test_a_socket_of_a_session_closes_when_one_signs_out(
    alice: User, mira: Companion, settings: Any
) -> None:
    settings.SOCKET_CHECKED_SECONDS = 0.1
    socket = Socket(mira.pk, *await in_thread(signed_in, alice))
    assert (await socket.wire.connect(timeout=5))[0]
    assert await socket.wire.receive_nothing(timeout=4)
    await in_thread(Session.objects.all().delete)
    assert (await socket.wire.receive_output(timeout=10))["code"] == 4401


async def test_what_came_before_a_socket_closed_is_passed_over(alice: User, mira: Companion) -> None:
    socket = Socket(mira.pk, await bearer(alice))
    assert (await socket.wire.connect(timeout=5))[0]
    for _ in range(70):
        await socket.send("nothing.known")
    answers = [await socket.wire.receive_output(timeout=10) for _ in range(61)]
    assert answers[-1].get("code") == 4429
    assert await socket.wire.receive_nothing(timeout=1)
