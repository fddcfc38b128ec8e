"""The bound on what a request may send, kept before anything of it is stored."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import orjson
from django.conf import settings

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Any, Any, Any], Awaitable[None]]

SLACK = 100_000  # the parts of a form around a file


class TooMuchError(Exception):
    """More bytes came than a request may have."""


class BodyLimit:
    """Answers 413 where a request declares more bytes than it may have, or goes on past them without saying so.

    Django would keep them all in a file before anybody could look at their number.
    """

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE + SLACK
        if _declared(scope) > most:
            return await _refuse(send)
        try:
            await self._application(scope, _counted(receive, most), send)
        except TooMuchError:
            await _refuse(send)


def _declared(scope: Message) -> int:
    """The declared length; 0 where none is told, or none that is a number."""
    told = dict(scope["headers"]).get(b"content-length", b"0")
    return int(told) if told.isdigit() else 0


def _counted(receive: Receive, most: int) -> Receive:
    left = most

    async def counted() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise TooMuchError
        return message

    return counted


async def _refuse(send: Send) -> None:
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE // 1_000_000
    problem = {"type": "about:blank", "title": "too large", "status": 413, "code": "too_large"}
    body = orjson.dumps({**problem, "detail": f"A request can hold {limit} MB."})
    headers = [(b"content-type", b"application/problem+json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})
