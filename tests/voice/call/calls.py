"""Calls without a microphone: sounds go over the socket as a browser sends them."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from accounts.models import User
from companions.models import Companion
from providers.sound import encode_wav
from tests.fixtures.sound import hum
from tests.fixtures.turns import Socket, connected

ENDINGS = ("reply.done", "reply.stopped", "reply.interrupted", "reply.failed", "error")


@contextlib.asynccontextmanager
async def calling(user: User, companion: Companion) -> AsyncIterator[Socket]:
    async with connected(user, companion, "call/") as socket:
        yield socket


async def say(socket: Socket, client_id: str, content: bytes | None = None, **fields: Any) -> None:
    """Send what was said, a second of sound where nothing else is given."""
    await socket.send("call.utterance", client_id=client_id, **fields)
    await socket.wire.send_to(bytes_data=encode_wav(hum(1.0)) if content is None else content)
