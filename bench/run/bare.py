"""The bare ASGI socket that Kith's is compared with: the same frames on a timer, with nothing behind them."""

import asyncio
import sys
import time
from typing import Any

from bench.run.plan import Plan, stamp
from config.up.ports import LOOPBACK
from config.up.web import serve

FRAME = '{"type":"reply.piece","id":"00000000-0000-0000-0000-000000000000","text":"%08x ","seq":%d}'


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Stream what the socket's first frame asks for."""
    await receive()
    if scope["type"] != "websocket":
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    await send({"type": "websocket.accept"})
    plan, due, seq = Plan.read((await receive())["text"]), time.time(), 0
    while due < plan.ends_at:
        await asyncio.sleep(due - time.time())
        due, seq = plan.after(due), seq + 1
        await send({"type": "websocket.send", "text": FRAME % (stamp(), seq)})
    await send({"type": "websocket.send", "text": '{"type":"reply.done"}'})
    await receive()


if __name__ == "__main__":
    serve(application, LOOPBACK, int(sys.argv[1]))
