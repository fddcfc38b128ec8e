"""Authentication by session or bearer token, and the language and time zone of who is authenticated."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime
from typing import cast
from urllib.parse import urlencode, urlsplit
from zoneinfo import ZoneInfoNotFoundError

import structlog
from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render, resolve_url
from django.template.loader import render_to_string
from django.urls import is_valid_path
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.views.defaults import page_not_found
from django_htmx.middleware import HtmxDetails
from ninja.security import HttpBearer

from accounts.errors import GateError, MailError, TokenError
from accounts.limits.admission import identifying
from accounts.models import Token, User
from database.queries import is_row_gone
from jobs.background import in_request_thread

API_PREFIX = "/api/"
LIFE_CHECK = "/livez"  # which answers as long as the process does, and so waits for no place
HEALTH_CHECKS = {LIFE_CHECK, "/readyz", "/healthz"}  # which answer the same to everybody
Response = HttpResponseBase
GetResponse = Callable[[HttpRequest], Response | Awaitable[Response]]


class SignedInRequest(HttpRequest):
    """A request that `login_required` or a bearer token has authenticated."""

    user: User
    htmx: HtmxDetails


def activate_locale(user: User) -> None:
    """Activate the person's language and time zone, and bind their id to the log lines that follow.

    A time zone that this machine does not know is ignored, so that the person can still choose another.
    """
    if user.language:
        translation.activate(user.language)
    with suppress(ZoneInfoNotFoundError, ValueError):
        timezone.activate(user.zone)
    structlog.contextvars.bind_contextvars(user_id=user.pk)


# -- by session -------------------------------------------------------------------------------------


def has_session(request: HttpRequest) -> bool:
    """Return whether the request has a session cookie that is to be looked up."""
    return settings.SESSION_COOKIE_NAME in request.COOKIES and request.path not in HEALTH_CHECKS


def find_signed_in(request: HttpRequest) -> User | None:
    """Return the signed-in user, or None. A request without a session cookie costs no query, nor does a health check.

    Health checks would otherwise fail in a signed-in operator's browser when the database does.
    """
    if not has_session(request):
        return None
    return request.user if request.user.is_authenticated else None


def render_wait(request: HttpRequest, error: GateError | MailError) -> HttpResponse:
    """Return the error as a page that asks the person to wait, with the error's status and headers."""
    response = render(request, "429.html", {"detail": error.detail}, status=error.status)
    for name, value in error.headers.items():
        response[name] = value
    return response


def return_to_page(request: HttpRequest, response: Response) -> Response:
    """Let a redirect to the sign-in page come back to the page the person was on, if what they asked for is not a page.

    An action can only be sent, and part of a page is of no use alone.
    """
    is_page = request.method in {"GET", "HEAD"} and "HX-Request" not in request.headers
    if is_page or "Location" not in response.headers:
        return response
    sign_in, page = resolve_url(settings.LOGIN_URL), urlsplit(request.headers.get("Referer", ""))
    if response["Location"].startswith(f"{sign_in}?") and page.netloc == request.get_host():
        response["Location"] = (
            f"{sign_in}?{urlencode({'next': page._replace(scheme='', netloc='').geturl()})}"
        )
    return response


def is_action_opened(request: HttpRequest, response: Response) -> bool:
    """Return whether the address of an action was opened like a page, e.g. by switching the language after an error."""
    return response.status_code == 405 and request.method == "GET" and not request.path.startswith(API_PREFIX)


def lead_above(request: HttpRequest, response: Response) -> Response:
    """Fill the response to an opened action with a page that leads to the page above it."""
    above = request.path_info
    while not is_valid_path(above := above.rstrip("/").rpartition("/")[0] + "/"):
        pass
    cast(HttpResponse, response).content = render_to_string("405.html", {"above": above}, request).encode()
    return response


class PersonMiddleware:
    """Activates a signed-in person's language and time zone (UTC for others), answers a GateError, a write to what is
    gone and an opened action with a page, and returns who must sign in first to the page they were on.
    """

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
        response = cast(Response, self.get_response(request))
        if is_action_opened(request, response):
            return lead_above(request, response)
        return return_to_page(request, response)

    async def __acall__(self, request: HttpRequest) -> Response:
        if request.path == LIFE_CHECK:
            self._activate(None)
            return await cast(Awaitable[Response], self.get_response(request))
        try:
            async with identifying() as visit:
                user = await in_request_thread(find_signed_in, request) if has_session(request) else None
            if visit and not request.path.startswith(API_PREFIX):  # `BearerToken` begins the API's
                await visit.begin(user.pk if user else None)
        except GateError as error:
            return await in_request_thread(render_wait, request, error)
        self._activate(user)
        response = await cast(Awaitable[Response], self.get_response(request))
        if is_action_opened(request, response):
            return await in_request_thread(lead_above, request, response)
        return return_to_page(request, response)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Return the page that asks to wait if a view raised GateError or MailError, and the 404 page if it wrote to what
        was gone.
        """
        if is_row_gone(exception):
            return page_not_found(request, exception)
        return render_wait(request, exception) if isinstance(exception, GateError | MailError) else None

    @staticmethod
    def _activate(user: User | None) -> None:
        timezone.deactivate()  # the thread may still have the zone of an earlier request
        if user is not None:
            activate_locale(user)


# -- by bearer token --------------------------------------------------------------------------------


def find_token_user(plaintext: str, now: datetime) -> User | None:
    """Return the token's user, or None if it is revoked or mistyped; raise TokenError if it has expired or the account is
    closed. Its use is recorded at most once a minute.
    """
    if not plaintext.isascii():
        return None
    token = Token.objects.matching(plaintext)
    if token is None:
        return None
    if not token.user.is_active:
        raise TokenError(
            "account_closed", _("This account is closed. The operator of this Kith can tell you why.")
        )
    if token.has_expired(now):
        raise TokenError("token_expired", _("This token has expired. Create a new one on the settings page."))
    token.touch(now)
    return token.user


class BearerToken(HttpBearer):
    """The API's only authentication, `Authorization: Bearer TOKEN`: session cookies are not accepted.

    `request.user` and `request.auth` become the token's user.
    """

    async def authenticate(self, request: HttpRequest, token: str) -> User | None:
        async with identifying() as visit:
            user = await in_request_thread(find_token_user, token, timezone.now())
        if visit:
            await visit.begin(user.pk if user else None)
        if user is not None:
            request.user = user
            activate_locale(user)
        return user
