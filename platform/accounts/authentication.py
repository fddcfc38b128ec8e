"""How it is known who asks, by session or by bearer token, and in which language and time zone they read."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime
from typing import cast
from zoneinfo import ZoneInfoNotFoundError

import structlog
from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django_htmx.middleware import HtmxDetails
from ninja.security import HttpBearer

from accounts.admission import identifying
from accounts.errors import GateError, TokenExpiredError
from accounts.models import Token, User
from jobs.background import in_request_thread

API_PREFIX = "/api/"
Response = HttpResponseBase
GetResponse = Callable[[HttpRequest], Response | Awaitable[Response]]


class SignedInRequest(HttpRequest):
    """A request of a person whom `login_required` or a bearer token has let through."""

    user: User
    htmx: HtmxDetails


def activate_locale(user: User) -> None:
    """Activate this person's language and time zone from here on, and put their id on every log line.

    In a zone that this machine does not know the clock is UTC's, so that they can still choose another.
    """
    if user.language:
        translation.activate(user.language)
    with suppress(ZoneInfoNotFoundError, ValueError):
        timezone.activate(user.zone)
    structlog.contextvars.bind_contextvars(user_id=user.pk)


# -- by session -------------------------------------------------------------------------------------


def find_signed_in(request: HttpRequest) -> User | None:
    """Return who is signed in; a request without a session cookie costs no query."""
    if settings.SESSION_COOKIE_NAME not in request.COOKIES:
        return None
    return request.user if request.user.is_authenticated else None


def render_wait(request: HttpRequest, error: GateError) -> HttpResponse:
    """Return the page that asks somebody to wait."""
    response = render(request, "429.html", {"detail": error.detail}, status=error.status)
    for name, value in error.headers.items():
        response[name] = value
    return response


class PersonMiddleware:
    """Answers a signed-in person in their language and time zone, everyone else in UTC; whoever asks too much waits."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Response | Awaitable[Response]:
        if self.is_async:
            return self.__acall__(request)
        self._activate(find_signed_in(request))
        return self.get_response(request)

    async def __acall__(self, request: HttpRequest) -> Response:
        try:
            has_session = settings.SESSION_COOKIE_NAME in request.COOKIES
            async with identifying() as visit:
                user = await in_request_thread(find_signed_in, request) if has_session else None
            if visit and not request.path.startswith(API_PREFIX):  # the API begins it, by the token
                await visit.begin(user.pk if user else None)
        except GateError as error:
            return await in_request_thread(render_wait, request, error)
        self._activate(user)
        return await cast(Awaitable[Response], self.get_response(request))

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Ask to wait where a page's work is refused."""
        return render_wait(request, exception) if isinstance(exception, GateError) else None

    @staticmethod
    def _activate(user: User | None) -> None:
        timezone.deactivate()  # a thread keeps the zone of the request before
        if user is not None:
            activate_locale(user)


# -- by bearer token --------------------------------------------------------------------------------


def token_user(plaintext: str, now: datetime) -> User | None:
    """Return whose live token this is; its use is recorded at most once a minute. TokenExpiredError past its end."""
    if not plaintext.isascii():
        return None
    token = Token.objects.matching(plaintext)
    if token is None:
        return None
    if token.has_expired(now):
        raise TokenExpiredError(
            "token_expired", _("This token has expired. Make another one on the settings page.")
        )
    token.touch(now)
    return token.user


class BearerToken(HttpBearer):
    """`Authorization: Bearer TOKEN` and nothing else: a session's cookie opens nothing in the API.

    `request.user` and `request.auth` become the token's user.
    """

    async def authenticate(self, request: HttpRequest, token: str) -> User | None:
        async with identifying() as visit:
            user = await in_request_thread(token_user, token, timezone.now())
        if visit:
            await visit.begin(user.pk if user else None)
        if user is not None:
            request.user = user
            activate_locale(user)
        return user
