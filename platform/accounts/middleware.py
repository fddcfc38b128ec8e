from collections.abc import Awaitable, Callable
from typing import cast

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone

from accounts.activate_locale import activate_locale
from accounts.errors import GateError
from accounts.models import User
from accounts.shares import identifying
from database.threads import in_request_thread

API = "/api/"
Response = HttpResponseBase
GetResponse = Callable[[HttpRequest], Response | Awaitable[Response]]


def person(request: HttpRequest) -> User | None:
    """Who is signed in; a request without a session cookie costs no query."""
    if settings.SESSION_COOKIE_NAME not in request.COOKIES:
        return None
    return request.user if request.user.is_authenticated else None


def wait(request: HttpRequest, error: GateError) -> HttpResponse:
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
        self._enter(person(request))
        return self.get_response(request)

    async def __acall__(self, request: HttpRequest) -> Response:
        try:
            self._enter(await self._begin(request))
        except GateError as error:
            return await in_request_thread(wait, request, error)
        return await cast(Awaitable[Response], self.get_response(request))

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Ask to wait where a page's work is refused."""
        return wait(request, exception) if isinstance(exception, GateError) else None

    @staticmethod
    async def _begin(request: HttpRequest) -> User | None:
        """Who is signed in; the visit is theirs. The API begins it itself, by the token."""
        is_known = settings.SESSION_COOKIE_NAME in request.COOKIES
        async with identifying() as visit:
            user = await in_request_thread(person, request) if is_known else None
        if visit and not request.path.startswith(API):
            await visit.begin(user.pk if user else None)
        return user

    @staticmethod
    def _enter(user: User | None) -> None:
        timezone.deactivate()  # a thread keeps the zone of the request before
        if user is not None:
            activate_locale(user)
