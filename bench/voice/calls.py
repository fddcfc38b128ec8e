"""Calls as a browser holds them: an utterance over the socket, and the answer's sentences over HTTP."""

import asyncio
import time
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING
from uuid import uuid4

import aiohttp
import numpy as np

from providers.sound import Sound, encode_wav

if TYPE_CHECKING:
    from bench.common.rows import Person

UTTERANCE_SECONDS = 1.5
TURN_SECONDS = 7.0  # about as long as it takes to say that and to hear the answer
NOTHING_MORE = 204
PATIENCE = aiohttp.ClientTimeout(total=60)
ENDS = {"reply.done", "reply.failed", "reply.stopped", "reply.interrupted"}


@dataclass(frozen=True, slots=True)
class Heard:
    """One turn: the number that was said, when the first byte of the first sentence came, and when the utterance left."""

    number: int
    said_at: float
    heard_at: float


async def hold(port: int, people: list["Person"], rounds: int, *, listens: bool = False) -> list[Heard]:
    """What these people hear, all calling at once, each speaking so many times.

    Who `listens` hears the answer to its end, and takes as long to say something as it sounds; nobody speaks in step with
    another. The others speak again as soon as the answer is written and its sound has come.
    """
    apart_seconds = (TURN_SECONDS if listens else 1.0) / len(people)
    calls = await asyncio.gather(
        *(_call(port, one, rounds, at * apart_seconds, listens) for at, one in enumerate(people))
    )
    return [heard for call in calls for heard in call]


async def _call(port: int, person: "Person", rounds: int, after_seconds: float, listens: bool) -> list[Heard]:
    await asyncio.sleep(after_seconds)
    name, _, value = person.header.partition(": ")
    async with (
        aiohttp.ClientSession(f"http://127.0.0.1:{port}", headers={name: value}, timeout=PATIENCE) as session,
        session.ws_connect(f"{person.path}call/") as socket,
    ):
        return [await _turn(session, socket, person, listens) for _round in range(rounds)]


async def _turn(
    session: aiohttp.ClientSession, socket: aiohttp.ClientWebSocketResponse, person: "Person", listens: bool
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
            hearing = asyncio.create_task(_heard_out(session, person, frame["reply"]["id"]))
    assert hearing is not None
    heard_at, seconds = await hearing
    if listens:
        await asyncio.sleep(heard_at + seconds + UTTERANCE_SECONDS - time.time())
    return Heard(which, said_at, heard_at)


async def _heard_out(session: aiohttp.ClientSession, person: "Person", reply: str) -> tuple[float, float]:
    """When the first byte of the first sentence came, and for how long the whole answer sounds."""
    path = f"/api/v1/companions/{person.companion.pk}/replies/{reply}/speech"
    heard_at = seconds = 0.0
    for number in count():
        async with session.get(f"{path}/{number}") as response:
            response.raise_for_status()
            if response.status == NOTHING_MORE:
                return heard_at, seconds
            await response.content.readany()
            heard_at = heard_at or time.time()
            await response.read()
            seconds += float(response.headers["X-Kith-Seconds"])


def utterance() -> bytes:
    """What somebody says."""
    times = np.arange(round(16_000 * UTTERANCE_SECONDS)) / 16_000
    return encode_wav(Sound((9_000 * np.sin(2 * np.pi * 200 * times)).astype(np.int16), 16_000))
