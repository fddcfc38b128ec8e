"""Time to the first piece: through Kith's socket, and by the same request made straight to the same provider."""

import asyncio
import random
import time
from dataclasses import dataclass, field
from uuid import UUID, uuid4

import numpy as np
import openai
import orjson
from websockets.asyncio.client import ClientConnection, connect

from accounts.models import ModelCall
from bench.common.rows import Person
from bench.common.sentences import question
from companions.models import Reply
from memory.models import Recall
from tests.fixtures.rehearsal import RehearsalServer

ANSWER = "I remember that well. You told me of it, and then we talked about something else."
WARM_UP = 5
READING_SECONDS = 1.5  # nobody asks again before the answer is read; by then what was said last is embedded


@dataclass
class Pair:
    """One question's times in milliseconds; `sent_at` and `came_at` in seconds since 1970."""

    reply_id: UUID
    cue: str
    sent_at: float
    saved_at: float
    came_at: float
    straight: float = 0.0
    parts: dict[str, float] = field(default_factory=dict)

    @property
    def through_kith(self) -> float:
        return (self.came_at - self.sent_at) * 1000

    @property
    def added(self) -> float:
        return self.through_kith - self.straight


async def measure(
    port: int, person: Person, rehearsal: RehearsalServer, pairs: int, chance: random.Random
) -> list[Pair]:
    """So many pairs, the two ways by turns; the first few, which find everything cold, are left out."""
    header = dict([person.header.split(": ", 1)])
    straight = openai.AsyncOpenAI(base_url=rehearsal.url, api_key="none")
    measured = []
    async with connect(f"ws://127.0.0.1:{port}{person.path}", additional_headers=header) as socket:
        for _ in range(pairs + WARM_UP):
            await asyncio.sleep(READING_SECONDS)
            rehearsal.reset()
            rehearsal.script({"answer": ANSWER, "repeat": 2})
            pair = await _ask_kith(socket, question(chance))
            pair.straight = await _ask_straight(straight, rehearsal.requests()[-1])
            measured.append(pair)
    await straight.close()
    return measured[WARM_UP:]


async def _ask_kith(socket: ClientConnection, cue: str) -> Pair:
    sent_at = time.time()
    await socket.send(
        orjson.dumps({"type": "message.send", "text": cue, "client_id": str(uuid4())}), text=True
    )
    came: dict[str, float] = {}
    while True:
        frame = orjson.loads(await socket.recv())
        came.setdefault(frame["type"], time.time())
        if frame["type"] in {"reply.failed", "reply.interrupted", "error"}:
            raise RuntimeError(f"Kith did not answer: {frame}")
        if frame["type"] == "reply.done":
            return Pair(UUID(frame["id"]), cue, sent_at, came["message.saved"], came["reply.piece"])


async def _ask_straight(client: openai.AsyncOpenAI, body: dict[str, object]) -> float:
    """Milliseconds to the first piece, and the rest read."""
    began, first = time.perf_counter(), 0.0
    stream = await client.chat.completions.create(**body)  # type: ignore[call-overload]
    async for event in stream:
        if not first and event.choices and event.choices[0].delta.content:
            first = time.perf_counter()
    return (first - began) * 1000


def explain(pairs: list[Pair]) -> dict[str, float]:
    """Where the time went: the median of each part in milliseconds, from the rows that the turns left."""
    for pair in pairs:
        pair.parts = _parts(pair)
    names = pairs[0].parts
    return {name: float(np.median([pair.parts[name] for pair in pairs])) for name in names}


def _parts(pair: Pair) -> dict[str, float]:
    reply = Reply.objects.get(pk=pair.reply_id)
    call = ModelCall.objects.filter(reply=reply).order_by("started_at")[0]
    recall = Recall.objects.filter(reply=reply).order_by("at")[0]
    assert reply.started_at
    assert reply.first_piece_at
    recalling, began = recall.at.timestamp(), max(reply.started_at.timestamp(), pair.saved_at)
    model = float(call.first_piece_milliseconds or 0)
    preparing = (reply.first_piece_at.timestamp() - recalling) * 1000
    return {
        "save the message and its memory": (pair.saved_at - pair.sent_at) * 1000,
        "take the turn up": (recalling - began) * 1000,
        "recall: rank, and fetch": float(recall.milliseconds),
        "look back, wait for what was looked for, render, write rows": preparing
        - recall.milliseconds
        - model,
        "the provider's first piece": model,
        "out to the socket": (pair.came_at - reply.first_piece_at.timestamp()) * 1000,
    }
