"""The bound on what a request may send, kept before anything of it is stored."""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from contextlib import ExitStack
from typing import Any

import orjson
from django.conf import settings

from accounts.arrivals import arriving
from accounts.errors import GateError
from accounts.shares import address_of

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Any, Any, Any], Awaitable[None]]

SLACK = 100_000  # the parts of a form around a file


class TooMuchError(Exception):
    """More bytes came than a request may have."""


class BodyLimit:
    """Answers 413 where a request declares more bytes than it may have, or goes on past them without saying so.

    Django would keep them all in a file before anybody could look at their number. Of one address a few large bodies
    are taken at once. Whatever is refused before Django has a request to answer (GateError) is answered 429.
    """

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE + SLACK
        if _declared(scope) > most:
            return await _refuse(send)
        with ExitStack() as large:
            try:
                await self._application(scope, _counted(receive, most, large, scope), send)
            except TooMuchError:
                await _refuse(send)
            except GateError as error:
                await _refuse_for_now(send, error)


def _declared(scope: Message) -> int:
    """The declared length; 0 where none is told, or none that is a number."""
    told = dict(scope["headers"]).get(b"content-length", b"0")
    return int(told) if told.isdigit() else 0


def _counted(receive: Receive, most: int, large: ExitStack, scope: Message) -> Receive:
    """Return `receive` with its bytes counted; `large` is entered once the body is a large one."""
    came, is_large = 0, False

    async def counted() -> Message:
        nonlocal came, is_large
        message = await receive()
        came += len(message.get("body", b""))
        if came > most:
            raise TooMuchError
        if came > settings.LARGE_BODY and not is_large:
            is_large = True
            large.enter_context(arriving("bodies", address_of(scope)))
        return message

    return counted


async def _refuse(send: Send) -> None:
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE // 1_000_000
    await _problem(send, 413, "too large", "too_large", f"A request can hold {limit} MB.")


async def _refuse_for_now(send: Send, error: GateError) -> None:
    """Answer 429 without reading what comes, and without a thread."""
    more = [(name.lower().encode(), value.encode()) for name, value in error.headers.items()]
    await _problem(send, error.status, "too many", error.code, str(error.detail), more)


async def _problem(
    send: Send, status: int, title: str, code: str, detail: str, more: Iterable[tuple[bytes, bytes]] = ()
) -> None:
    body = orjson.dumps(
        {"type": "about:blank", "title": title, "status": status, "code": code, "detail": detail}
    )
    headers = [(b"content-type", b"application/problem+json"), (b"connection", b"close"), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
