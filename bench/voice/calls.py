"""Calls as a browser holds them: an utterance over the socket, and the answer's sentences over HTTP."""

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

import aiohttp
import numpy as np

from providers.sound import Sound, wav

if TYPE_CHECKING:
    from bench.rows import Person

PATIENCE = aiohttp.ClientTimeout(total=60)
ENDS = {"reply.done", "reply.failed", "reply.stopped", "reply.interrupted"}


@dataclass(frozen=True, slots=True)
class Heard:
    """One turn: the number that was said, when the first byte of the first sentence came, and when the utterance left."""

    number: int
    said_at: float
    heard_at: float


async def hold(port: int, people: list["Person"], rounds: int) -> list[Heard]:
    """What these people hear, all calling at once, each speaking so many times as the answer before has ended."""
    calls = await asyncio.gather(
        *(_call(port, one, rounds, at / len(people)) for at, one in enumerate(people))
    )
    return [heard for call in calls for heard in call]


async def _call(port: int, person: "Person", rounds: int, after_seconds: float) -> list[Heard]:
    await asyncio.sleep(after_seconds)
    name, _, value = person.header.partition(": ")
    async with (
        aiohttp.ClientSession(f"http://127.0.0.1:{port}", headers={name: value}, timeout=PATIENCE) as session,
        session.ws_connect(f"{person.path}call/") as socket,
    ):
        return [await _turn(session, socket, person) for _round in range(rounds)]


async def _turn(
    session: aiohttp.ClientSession, socket: aiohttp.ClientWebSocketResponse, person: "Person"
) -> Heard:
    await socket.send_json({"type": "call.utterance", "client_id": uuid4().hex})
    said_at = time.time()
    await socket.send_bytes(utterance())
    hearing = None
    while (frame := await socket.receive_json())["type"] not in ENDS:
        if frame["type"] == "error":
            raise RuntimeError(frame["detail"])
        if frame["type"] == "message.saved":
            which = int("".join(filter(str.isdigit, frame["message"]["text"])))
            hearing = asyncio.create_task(_first_byte(session, person, frame["reply"]["id"]))
    assert hearing is not None
    return Heard(which, said_at, await hearing)


async def _first_byte(session: aiohttp.ClientSession, person: "Person", reply: str) -> float:
    path = f"/api/v1/companions/{person.companion.pk}/replies/{reply}/speech"
    async with session.get(f"{path}/0") as response:
        response.raise_for_status()
        await response.content.readany()
        heard_at = time.time()
        await response.read()
    return heard_at


def utterance() -> bytes:
    """A second and a half of sound."""
    times = np.arange(24_000) / 16_000
    return wav(Sound((9_000 * np.sin(2 * np.pi * 200 * times)).astype(np.int16), 16_000))
