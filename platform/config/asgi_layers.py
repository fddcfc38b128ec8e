"""The layers of the ASGI application around Django: a context a request, limits of bodies, connections, start and end."""

import asyncio
import contextvars
import gc
import resource
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import orjson
from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone

from accounts.admission import address_of, arriving, step_aside, visiting
from accounts.errors import GateError
from companions.replies.turn import beat_on, drain
from database.threads import in_request_thread
from providers.clients import aclose_clients

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Any, Any, Any], Awaitable[None]]
FORM_OVERHEAD_BYTES = 100_000  # the parts of a form around a file
# Python's 700, 10, 10 stops all streams of a busy process for 50 ms every other second.
COLLECTOR_THRESHOLDS = (20_000, 20, 50)
# Python would take six on two cores: too few to wait for a database and look at anything else besides.
MAX_THREADS = 32
MAX_OPEN_FILES = 65_536


class OwnContext:
    """Serves each request and socket in an empty context.

    The web server begins a pipelined request within the one before, and one that comes after a large body perhaps within
    that. It would have the other's person, language and thread, which ends with the other: whatever database connection
    it took there would be lost to the pool.
    """

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        served = self._serve(scope, receive, send)
        await asyncio.get_running_loop().create_task(served, context=contextvars.Context())

    async def _serve(self, scope: Any, receive: Any, send: Any) -> None:
        await self._application(scope, receive, send)


class BodyTooLargeError(Exception):
    """More bytes came than a request may have."""


class BodyLimit:
    """Answers 413 where a request declares more bytes than it may have, or goes on past them without saying so.

    Django would keep them all in a file before anybody could look at their number. Of one address a few large bodies
    are taken at once. Whatever is refused before Django has a request to answer (GateError) is answered 429.
    """

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE + FORM_OVERHEAD_BYTES
        if _declared_length(scope) > most:
            return await _refuse(send)
        with ExitStack() as large:
            try:
                await self._application(scope, _count_bytes(receive, most, large, scope), send)
            except BodyTooLargeError:
                await _refuse(send)
            except GateError as error:
                await _refuse_for_now(send, error)


def _declared_length(scope: Message) -> int:
    """The declared length; 0 where none is told, or none that is a number."""
    told = dict(scope["headers"]).get(b"content-length", b"0")
    return int(told) if told.isdigit() else 0


def _count_bytes(receive: Receive, most: int, large: ExitStack, scope: Message) -> Receive:
    """Return `receive` with its bytes counted; `large` is entered once the body is a large one."""
    came, is_large = 0, False

    async def counted() -> Message:
        nonlocal came, is_large
        message = await receive()
        came += len(message.get("body", b""))
        if came > most:
            raise BodyTooLargeError
        if came > settings.LARGE_BODY and not is_large:
            is_large = True
            large.enter_context(arriving("bodies", address_of(scope)))
        return message

    return counted


async def _refuse(send: Send) -> None:
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE // 1_000_000
    await _send_problem(send, 413, "too large", "too_large", f"A request can hold {limit} MB.")


async def _refuse_for_now(send: Send, error: GateError) -> None:
    """Answer 429 without reading what comes, and without a thread."""
    more = [(name.lower().encode(), value.encode()) for name, value in error.headers.items()]
    await _send_problem(send, error.status, "too many", error.code, str(error.detail), more)


async def _send_problem(
    send: Send, status: int, title: str, code: str, detail: str, more: Iterable[tuple[bytes, bytes]] = ()
) -> None:
    body = orjson.dumps(
        {"type": "about:blank", "title": title, "status": status, "code": code, "detail": detail}
    )
    headers = [(b"content-type", b"application/problem+json"), (b"connection", b"close"), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _nothing() -> None:
    """Do nothing, in the thread whose connection is given back."""


class Handler(ASGIHandler):
    """Gives the request's connection back as soon as its answer is made, and closes an answer that cannot be written.

    Each request is a visit, of which a person or an address has some at once (`accounts.admission`).

    Django's own keeps the connection until the answer has been sent: whoever reads slowly keeps it as long as they like.
    Where sending fails, as it does for the second of two pipelined requests whose sender is gone, it closes nothing at
    all, and the connection is lost to the pool.
    """

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer the request, within a visit; GateError where too many arrive from its address."""
        async with visiting(address_of(scope)) as visit:
            visit.arrive()
            await super().handle(scope, receive, send)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """Return the answer, made; what it streams later visits the database anew."""
        response: HttpResponseBase = await super().get_response_async(request)
        step_aside()
        await in_request_thread(_nothing)
        return response

    async def send_response(self, response: Any, send: Any) -> None:
        """Send the answer; however that fails, it is closed."""
        try:
            await super().send_response(response, send)
        except Exception:
            await sync_to_async(response.close)()
            raise


def _open_many_files() -> None:
    """Raise the number of files and connections that this process may have open to what the machine lets it."""
    _soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, MAX_OPEN_FILES), most))


class Lifespan:
    """The part of ASGI that Django's own application refuses."""

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        await receive()
        _tune_garbage_collector()
        _open_many_files()
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="visit"))
        heartbeat = loop.create_task(beat_on(timezone.now), context=contextvars.Context())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await drain()
        heartbeat.cancel()
        await aclose_clients()
        await send({"type": "lifespan.shutdown.complete"})


def _tune_garbage_collector() -> None:
    """Let it look no more at what was imported, and seldom at the rest."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTOR_THRESHOLDS)
