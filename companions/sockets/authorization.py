"""Who is at the other end of a socket, by the site's session or a bearer token, and whether it may stay open."""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpRequest
from django.http.cookie import parse_cookie
from django.utils import timezone

from accounts.authentication import token_holders, token_user
from accounts.errors import TokenExpiredError
from accounts.models import User
from companions.models import Companion
from database.threads import in_thread
from jobs.background import one_per_loop

DEFAULT_PORTS = {"http": 80, "https": 443}
NOT_SIGNED_IN, NO_SUCH_COMPANION = 4401, 4404
GATHER_SECONDS = 1.0


def may_connect(scope: Mapping[str, Any]) -> bool:
    """Whether the origin is Kith's own; without an origin only a bearer token comes in (no browser can send one)."""
    origin = _header(scope, b"origin")
    if origin is None:
        return bool(_bearer(scope)) or not _header(scope, b"cookie")
    known = settings.CSRF_TRUSTED_ORIGINS
    if not settings.IS_PRODUCTION and urlsplit(origin).hostname in settings.ALLOWED_HOSTS:
        host = _header(scope, b"host")
        known = [f"http://{host}", f"https://{host}"]
    found = _parts(origin)
    return found is not None and found in map(_parts, known)


def _parts(origin: str) -> tuple[str, str, int] | None:
    """Return scheme, host and port of an origin on the web; None where it is none."""
    try:
        parts = urlsplit(origin)
        port = parts.port or DEFAULT_PORTS[parts.scheme]
    except (ValueError, KeyError):
        return None
    return (parts.scheme, parts.hostname, port) if parts.hostname else None


def find_sender(scope: Mapping[str, Any], now: datetime) -> User | None:
    """Return the signed-in person, or None."""
    bearer = _bearer(scope)
    if not bearer:
        return _session_user(scope)
    with contextlib.suppress(TokenExpiredError):
        return token_user(bearer, now)
    return None


def find_sender_ids(scopes: Sequence[Mapping[str, Any]], now: datetime) -> list[int | None]:
    """Return the signed-in person's key for each of them, or None; those with tokens are looked up together."""
    bearers = [_bearer(scope) for scope in scopes]
    holders = token_holders(set(filter(None, bearers)), now)
    return [
        holders.get(bearer) if bearer else getattr(_session_user(scope), "pk", None)
        for scope, bearer in zip(scopes, bearers, strict=True)
    ]


def _session_user(scope: Mapping[str, Any]) -> User | None:
    request = HttpRequest()
    cookies = parse_cookie(_header(scope, b"cookie") or "")
    request.session = SessionStore(cookies.get(settings.SESSION_COOKIE_NAME))
    user = get_user(request)
    return user if isinstance(user, User) and user.is_active else None


def _bearer(scope: Mapping[str, Any]) -> str | None:
    scheme, _, token = (_header(scope, b"authorization") or "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def _header(scope: Mapping[str, Any], name: bytes) -> str | None:
    values: list[bytes] = [value for key, value in scope["headers"] if key == name]
    return values[0].decode("latin-1") if values else None


class Opened(NamedTuple):
    """What a socket was opened with, whose it is, and the companion that it is for, if it is for one."""

    scope: Mapping[str, Any]
    user_id: int
    companion_id: UUID | None


class Checker:
    """Asks for all the sockets of one event loop that ask within a second, in one visit to the database.

    Asked one by one, two hundred sockets took a twentieth of the processor time of a process that streams to all of
    them.
    """

    def __init__(self) -> None:
        self._asking: list[Opened] = []
        self._visit: asyncio.Task[list[int | None]] | None = None

    async def find_ending(self, opened: Opened) -> int | None:
        """Return the code with which the socket is to be closed; None where it may stay. DatabaseError,
        InterfaceError.
        """
        if self._visit is None:
            self._asking = []
            self._visit = asyncio.create_task(self._ask(self._asking))
        at = len(self._asking)
        self._asking.append(opened)
        return (await asyncio.shield(self._visit))[at]  # who goes meanwhile leaves the others their answer

    async def _ask(self, asking: Sequence[Opened]) -> list[int | None]:
        await asyncio.sleep(GATHER_SECONDS)
        self._visit = None
        return await in_thread(find_endings, asking, timezone.now())


def find_endings(asking: Sequence[Opened], now: datetime) -> list[int | None]:
    """Return for each, in their order, the code with which it is to be closed; None where it may stay."""
    there = find_sender_ids([opened.scope for opened in asking], now)
    ids = [opened.companion_id for opened in asking if opened.companion_id]
    owned = set(Companion.objects.filter(pk__in=ids).values_list("pk", "user"))
    endings: list[int | None] = []
    for (_scope, user_id, companion_id), sender in zip(asking, there, strict=True):
        is_gone = companion_id and (companion_id, user_id) not in owned
        endings.append(NOT_SIGNED_IN if sender != user_id else NO_SUCH_COMPANION if is_gone else None)
    return endings


@one_per_loop
def checker() -> Checker:
    """Return the checker of the running event loop."""
    return Checker()
