"""A model, a voice and ears that do nothing but keep times: what Kith adds between them is what is measured.

What it hears is a number; the answer's first sentence tells it again, so that the times of one turn are found by it.
"""

import asyncio
import json
import re
import sys
import time
from dataclasses import asdict, dataclass, field

import numpy as np
from aiohttp import web

from providers.sound import Sound, encode_wav

ENGINE_SECONDS, PIECE_SECONDS = 0.15, 0.025
AFTER = ["And", "this", "is", "a", "second", "sentence.", "Here", "it", "ends."]
NUMBER = re.compile(r"Number (\d+)")
RATE, SOUND_SECONDS = 24_000, 2.5


@dataclass
class Turn:
    """When the last piece of the first sentence left, and from when until when the engine was at that sentence."""

    sent: float = 0.0
    asked: float = 0.0
    spoken: float = 0.0


@dataclass
class Times:
    turns: dict[int, Turn] = field(default_factory=dict)
    heard: int = 0


TIMES = web.AppKey("times", Times)
SOUND = web.AppKey("sound", bytes)


def tone() -> bytes:
    """What every sentence sounds like."""
    times = np.arange(round(RATE * SOUND_SECONDS)) / RATE
    samples = 9_000 * np.sin(2 * np.pi * 220 * times) * (0.6 + 0.4 * np.sin(2 * np.pi * 4 * times))
    return encode_wav(Sound(samples.astype(np.int16), RATE))


async def hear(request: web.Request) -> web.Response:
    await request.read()
    times = request.app[TIMES]
    times.heard += 1
    times.turns[times.heard] = Turn()
    return web.json_response({"text": f"Number {times.heard}."})


async def chat(request: web.Request) -> web.StreamResponse:
    body = await request.text()
    number = int(NUMBER.findall(body)[-1])
    first = f"Number {number} is what I have heard just now. ".split(" ")[:-1]
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for at, word in enumerate([*first, *AFTER], 1):
        await response.write(_event({"content": f"{word} "}))
        if at == len(first):
            request.app[TIMES].turns[number].sent = time.time()
        await asyncio.sleep(PIECE_SECONDS)
    await response.write(_event({}, "stop") + b"data: [DONE]\n\n")
    return response


def _event(delta: dict[str, str], reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    told = {"id": "0", "object": "chat.completion.chunk", "created": 0, "model": "times", "choices": [choice]}
    return b"data: " + json.dumps(told).encode() + b"\n\n"


async def speak(request: web.Request) -> web.Response:
    asked, text = time.time(), (await request.json())["input"]
    await asyncio.sleep(ENGINE_SECONDS)
    if found := NUMBER.search(text):
        turn = request.app[TIMES].turns[int(found[1])]
        turn.asked, turn.spoken = asked, time.time()
    return web.Response(body=request.app[SOUND], content_type="audio/wav")


async def times(request: web.Request) -> web.Response:
    return web.json_response({number: asdict(turn) for number, turn in request.app[TIMES].turns.items()})


async def models(_request: web.Request) -> web.Response:
    return web.json_response({"object": "list", "data": [{"id": "times", "object": "model"}]})


async def serve() -> None:
    """Listen on a free port of the loopback address, print it, and never end."""
    app = web.Application(client_max_size=2**24)
    app[TIMES], app[SOUND] = Times(), tone()
    app.add_routes(
        [
            web.post("/v1/audio/transcriptions", hear),
            web.post("/v1/chat/completions", chat),
            web.post("/v1/audio/speech", speak),
            web.get("/v1/models", models),
            web.get("/times", times),
        ]
    )
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    sys.stdout.write(f"{runner.addresses[0][1]}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve())
