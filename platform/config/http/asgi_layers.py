"""The ASGI layers around Django: a context per request, body limits, database connections, static files, lifespan."""

import asyncio
import contextlib
import contextvars
import gc
import re
import resource
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cached_property
from io import BytesIO
from typing import Any, cast

import orjson
import structlog
from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.db import DatabaseError
from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.utils import timezone, translation
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile

from accounts.errors import GateError, RefusedError
from accounts.limits.admission import address_of, arriving, identifying, step_aside, visiting
from companions.replies.turn import beat_on, drain
from companions.sockets.authorization import find_sender
from database.queries import is_disk_full
from files.storage import refuse_full_disk
from files.uploads import FORM_OVERHEAD_BYTES
from jobs.background import in_request_thread, in_thread
from providers.http.clients import aclose_clients

log = structlog.get_logger(__name__)
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Any, Any, Any], Coroutine[Any, Any, None]]
# Python's default is six on two cores: too few when some of them wait for the database.
MAX_THREADS = 32
MAX_OPEN_FILES = 65_536
PIECE_BYTES = 256 << 10  # most static files are smaller


class OwnContext:
    """Serves each request and socket in an empty context.

    The web server may begin a request, e.g. a pipelined one, in the context of the request before it. The later request
    would inherit the earlier one's person, language and thread. The thread ends with the earlier request, and a
    database connection that the later one opened there would be lost to the pool.
    """

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        answering = self._application(scope, receive, send)
        await asyncio.create_task(answering, context=contextvars.Context())


# Paths to which signed-in people upload archives, cards and earlier talk, larger than anything else. Django writes them
# to a file, and each operation has a smaller limit.
LARGE_PATHS = re.compile(
    r"/companions/(?:new/card|[^/]+/lore/import)/"
    r"|/api/v1/(?:cards/preview|pasts/preview|companions/import/(?:archive|card)|companions/[^/]+/import/past)"
)
# Decoding a form in which each letter is written as %41 takes most of a second and 300 MB for each megabyte.
FORM_TYPE = b"application/x-www-form-urlencoded"


class BodyTooLargeError(RefusedError):
    """The request's body is larger than allowed."""

    status = 413

    def __init__(self, limit: int) -> None:
        super().__init__("too_large", f"A request can be at most {limit / 1_000_000:g} MB.")
        self.limit = limit


class BodyLimit:
    """Answers 413 if a request declares a larger body than allowed, or sends one undeclared.

    Django would write the whole body to a file before any view could check its size. Only whoever is signed in may send
    a large body, and an address only a few at once. A GateError that is raised before Django has a request to answer is
    answered 429, and a full disk of the temporary folder, to which Django writes the body, 503.
    """

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        is_form = headers.get(b"content-type", b"").strip().lower().startswith(FORM_TYPE)
        limit = settings.FORM_BODY if is_form else settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        declared = headers.get(b"content-length", b"0")
        is_large_way = LARGE_PATHS.fullmatch(scope.get("path", "")) is not None
        if is_large_way and not is_form and await in_thread(_is_signed_in, scope):
            limit = settings.ARCHIVE_BYTES
        if declared.isdigit() and int(declared) > limit + FORM_OVERHEAD_BYTES:
            return await _refuse_body(scope, send, BodyTooLargeError(limit))
        with ExitStack() as large_body:
            try:
                await self._application(scope, _count_bytes(receive, limit, large_body, scope), send)
            except BodyTooLargeError as error:
                await _refuse_body(scope, send, error)
            except GateError as error:
                await _refuse(send, error, "too many")
            except OSError as error:
                if not is_disk_full(error):
                    raise
                await _refuse(send, refuse_full_disk(error), "storage away")


def _is_signed_in(scope: Mapping[str, Any]) -> bool:
    return find_sender(scope, timezone.now()) is not None


def _count_bytes(receive: Receive, limit: int, large_body: ExitStack, scope: Message) -> Receive:
    """Return `receive`, counting the body's bytes; raise BodyTooLargeError beyond `limit` and a form's overhead.

    A body above LARGE_BODY counts against its address until `large_body` is closed, and is refused if nobody is signed
    in.
    """
    count, is_large = 0, False

    async def counted() -> Message:
        nonlocal count, is_large
        message = await receive()
        count += len(message.get("body", b""))
        if count > limit + FORM_OVERHEAD_BYTES:
            raise BodyTooLargeError(limit)
        if count > settings.LARGE_BODY and not is_large:
            is_large = True
            large_body.enter_context(arriving("bodies", address_of(scope)))
            async with identifying():
                if not await in_thread(_is_signed_in, scope):
                    raise BodyTooLargeError(settings.LARGE_BODY)
        return message

    return counted


async def _refuse_body(scope: Message, send: Send, error: BodyTooLargeError) -> None:
    """Answer that the request is too large: with a page to a form that somebody sent, otherwise as `_refuse` does."""
    if b"text/html" not in dict(scope["headers"]).get(b"accept", b""):
        return await _refuse(send, error, "too large")
    with translation.override(translation.get_language_from_request(ASGIRequest(scope, BytesIO()))):
        page = render_to_string("413.html", {"megabytes": f"{error.limit / 1_000_000:g}"})
    headers = [(b"content-type", b"text/html; charset=utf-8"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": page.encode()})


async def _refuse(send: Send, error: RefusedError, title: str) -> None:
    """Answer with the error, without reading the rest of the request and without a thread."""
    problem = {"type": "about:blank", "title": title, "status": error.status, "code": error.code}
    more = [(name.lower().encode(), value.encode()) for name, value in error.headers.items()]
    headers = [(b"content-type", b"application/problem+json"), (b"connection", b"close"), *more]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": orjson.dumps(problem | {"detail": str(error.detail)})})


class SignedOutError(Exception):
    """A person was signed out or deactivated while a response was streamed to them."""


class Handler(ASGIHandler):
    """Django's handler, which serves each request as a visit, limited by `accounts.limits.admission`.

    A streamed response is cut off once its person's session or token has ended (see `_while_signed_in`).

    It also returns the database connection to the pool as soon as the response is made, where Django's own keeps it
    until a slow client has read everything. And it closes a response that cannot be sent, e.g. to the second of two
    pipelined requests whose client is gone: Django's own would leave it open, and its connection lost to the pool.
    """

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer the request within a visit; raise GateError if too many requests arrive from its address."""
        async with visiting(address_of(scope)) as visit:
            visit.arrive()
            await super().handle(scope, receive, send)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response, and free place and connection before it is sent: a streamed body takes new ones."""
        response: HttpResponseBase = await super().get_response_async(request)
        step_aside()
        await in_request_thread(lambda: None)  # which returns that thread's connection to the pool
        if isinstance(response, StreamingHttpResponse) and response.is_async:
            pieces = cast(AsyncIterator[bytes], response.streaming_content)
            response.streaming_content = _while_signed_in(pieces, cast(ASGIRequest, request).scope)
        return response

    async def send_response(self, response: Any, send: Any) -> None:
        """Send the response, and close it if that fails."""
        try:
            await super().send_response(response, send)
        except SignedOutError:  # not completed, so that the client takes it for cut off
            await sync_to_async(response.close)()
            log.warning("stream_cut_off", reason="signed_out")
        except Exception:
            await sync_to_async(response.close)()
            raise


async def _while_signed_in(pieces: AsyncIterator[bytes], scope: Mapping[str, Any]) -> AsyncIterator[bytes]:
    """Yield the pieces; raise SignedOutError once the session or token has ended, or its person is deactivated.

    That is checked before a piece, if it was not within the last SOCKET_CHECKED_SECONDS. Only whoever is signed in gets
    anything in asynchronous pieces.
    """
    checked_at = time.monotonic()
    async for piece in pieces:
        if time.monotonic() - checked_at >= settings.SOCKET_CHECKED_SECONDS:
            with contextlib.suppress(DatabaseError):
                if not await in_thread(_is_signed_in, scope):
                    raise SignedOutError
            checked_at = time.monotonic()
        yield piece


class StaticFiles:
    """Sends static files without Django: a page needs forty of them, which the browser requests all at once.

    Whitenoise's own middleware would also hold a thread for the whole of each request to Django.
    """

    def __init__(self, application: Application) -> None:
        self._application = application

    @cached_property
    def _files(self) -> dict[str, StaticFile]:
        """Return what is in STATIC_ROOT, by path, read when first asked for: a first start may still collect it."""
        files: dict[str, StaticFile] = WhiteNoiseMiddleware().files
        return files

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        file = self._files.get(scope["path"])
        if file is None:
            return await self._application(scope, receive, send)
        request_headers = {
            f"HTTP_{name.decode('latin-1').upper().replace('-', '_')}": value.decode("latin-1")
            for name, value in scope["headers"]
        }
        answer = file.get_response(scope["method"], request_headers)
        texts = [*answer.headers, ("X-Content-Type-Options", "nosniff")]
        headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in texts]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        with answer.file or BytesIO() as content:
            while piece := content.read(PIECE_BYTES):
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body"})


class Lifespan:
    """Handles ASGI's lifespan events, which Django's own application refuses: the start and end of a web process."""

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        await receive()
        gc.collect()
        gc.freeze()  # exempts what is imported from garbage collection
        _soft, limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(limit, MAX_OPEN_FILES), limit))
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="visit"))
        heartbeat = loop.create_task(beat_on(timezone.now), context=contextvars.Context())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await drain()
        heartbeat.cancel()
        await aclose_clients()
        await send({"type": "lifespan.shutdown.complete"})
