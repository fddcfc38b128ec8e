"""The authentication of sockets, by the site's session or a bearer token, and whether a socket may stay open."""

import contextlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpRequest
from django.http.cookie import parse_cookie

from accounts.authentication import find_token_user
from accounts.errors import TokenError
from accounts.models import User
from companions.models import Companion

DEFAULT_PORTS = {"http": 80, "https": 443}
NOT_SIGNED_IN, NO_SUCH_COMPANION = 4401, 4404


def may_connect(scope: Mapping[str, Any]) -> bool:
    """Return whether a socket may be opened from its origin, which must be Kith's own.

    Without an Origin header, a request with cookies must have a bearer token too, which no browser can send.
    """
    origin = _get_header(scope, b"origin")
    if origin is None:
        return bool(_get_bearer(scope)) or not _get_header(scope, b"cookie")
    known = settings.CSRF_TRUSTED_ORIGINS
    if not settings.IS_PRODUCTION and urlsplit(origin).hostname in settings.ALLOWED_HOSTS:
        host = _get_header(scope, b"host")
        known = [f"http://{host}", f"https://{host}"]
    found = _split_origin(origin)
    return found is not None and found in map(_split_origin, known)


def _split_origin(origin: str) -> tuple[str, str, int] | None:
    """Return scheme, host and port of an http(s) origin, or None if it is no such origin."""
    try:
        parts = urlsplit(origin)
        port = parts.port or DEFAULT_PORTS[parts.scheme]
    except (ValueError, KeyError):
        return None
    return (parts.scheme, parts.hostname, port) if parts.hostname else None


def find_sender(scope: Mapping[str, Any], now: datetime) -> User | None:
    """Return the active user of the bearer token or, without one, of the session; None if there is none."""
    if bearer := _get_bearer(scope):
        with contextlib.suppress(TokenError):
            return find_token_user(bearer, now)
        return None
    request = HttpRequest()
    cookies = parse_cookie(_get_header(scope, b"cookie") or "")
    request.session = SessionStore(cookies.get(settings.SESSION_COOKIE_NAME))
    user = get_user(request)
    return user if isinstance(user, User) and user.is_active else None


def _get_bearer(scope: Mapping[str, Any]) -> str | None:
    scheme, _, token = (_get_header(scope, b"authorization") or "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def _get_header(scope: Mapping[str, Any], name: bytes) -> str | None:
    values: list[bytes] = [value for key, value in scope["headers"] if key == name]
    return values[0].decode("latin-1") if values else None


def find_ending(
    scope: Mapping[str, Any], user_id: int, companion_id: UUID | None, now: datetime
) -> int | None:
    """Return the code with which the user's socket, for that companion if any, must be closed; None if it may stay."""
    sender = find_sender(scope, now)
    if sender is None or sender.pk != user_id:
        return NOT_SIGNED_IN
    if companion_id and not Companion.objects.owned_by(sender).filter(pk=companion_id).exists():
        return NO_SUCH_COMPANION
    return None
