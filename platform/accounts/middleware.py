from collections.abc import Awaitable, Callable
from typing import cast

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone

from accounts import place
from accounts.models import User
from database.threads import in_request_thread

Response = HttpResponseBase
GetResponse = Callable[[HttpRequest], Response | Awaitable[Response]]


def person(request: HttpRequest) -> User | None:
    """Who is signed in; a request without a session cookie costs no query."""
    if settings.SESSION_COOKIE_NAME not in request.COOKIES:
        return None
    return request.user if request.user.is_authenticated else None


class PersonMiddleware:
    """Answers a signed-in person in their language and time zone, everyone else in UTC."""

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
        known = settings.SESSION_COOKIE_NAME in request.COOKIES
        self._enter(await in_request_thread(person, request) if known else None)
        return await cast(Awaitable[Response], self.get_response(request))

    @staticmethod
    def _enter(user: User | None) -> None:
        timezone.deactivate()  # a thread keeps the zone of the request before
        if user is not None:
            place.enter(user)
