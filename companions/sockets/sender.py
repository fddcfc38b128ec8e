"""Who is at the other end of a socket: by the site's own session with its origin checked, or by a bearer token."""

import contextlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpRequest
from django.http.cookie import parse_cookie

from accounts.authentication import token_holders, token_user
from accounts.errors import TokenExpiredError
from accounts.models import User

DEFAULT_PORTS = {"http": 80, "https": 443}


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
    """Scheme, host and port of an origin on the web; None where it is none."""
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
