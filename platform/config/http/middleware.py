"""Middleware that checks the port of the Host header, which ALLOWED_HOSTS ignores, compresses pages, explains errors to
the API's clients and logs requests.
"""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import cast
from urllib.parse import urlsplit

import structlog
from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.http.request import split_domain_port
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.urls import Resolver404, resolve
from django.utils.decorators import sync_and_async_middleware
from django.utils.translation import gettext as _
from django_structlog.middlewares import RequestMiddleware

from accounts.authentication import API_PREFIX
from accounts.limits.admission import address_of
from config.api import problem

Response = HttpResponseBase
GetResponse = Callable[[HttpRequest], Response | Awaitable[Response]]
COMPRESSED = ("text/html", "image/svg+xml")
DEFAULT_PORTS = {"http": 80, "https": 443}


def refuse_host(request: HttpRequest) -> HttpResponse | None:
    """Return problem details if the Host header of a request to the API is wrong; for others raise DisallowedHost, which
    is answered with a page. Return None if it is right.
    """
    try:
        require_port(request)
    except DisallowedHost:
        if not request.path.startswith(API_PREFIX):
            raise
        detail = _("Kith does not answer at this address. Its operator can tell you the right one.")
        return problem(request, 400, "bad_request", detail)
    return None


def require_port(request: HttpRequest) -> None:
    """Raise DisallowedHost if the Host header is not one of ALLOWED_HOSTS, or has another port than KITH_URL.

    A host without a port passes, as many proxies leave it out. Outside of production any port passes, e.g. a tunnel's.
    """
    _, port = split_domain_port(request.get_host())
    address = urlsplit(settings.KITH_URL)
    wanted = address.port or DEFAULT_PORTS[address.scheme]
    if settings.IS_PRODUCTION and port and port != str(wanted):
        raise DisallowedHost(f"The Host header has port {port}; KITH_URL has port {wanted}.")


@sync_and_async_middleware
def host_port_middleware(get_response: GetResponse) -> GetResponse:
    """Return middleware that refuses requests with a wrong Host header."""
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> Response:
            return refuse_host(request) or await cast(Awaitable[Response], get_response(request))

        return answer_async

    def answer(request: HttpRequest) -> Response:
        return refuse_host(request) or cast(Response, get_response(request))

    return answer


@sync_and_async_middleware
def api_problem_middleware(get_response: GetResponse) -> GetResponse:
    """Return middleware that answers API requests that reach no operation with problem details, not with a page."""
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> Response:
            return explain_to_api(request, await cast(Awaitable[Response], get_response(request)))

        return answer_async

    def answer(request: HttpRequest) -> Response:
        return explain_to_api(request, cast(Response, get_response(request)))

    return answer


def explain_to_api(request: HttpRequest, response: Response) -> Response:
    """Return the response, with problem details instead of a page if it is an error below the API's address."""
    is_page = response.status_code >= 400 and response.get("Content-Type", "").startswith("text/html")
    if not (is_page and isinstance(response, HttpResponse) and request.path.startswith(API_PREFIX)):
        return response
    code = HTTPStatus(response.status_code).name.lower()
    detail = {
        404: _("There is no such address in the API. /api/v1/docs shows every operation."),
        405: _("This address only takes %(methods)s.") % {"methods": response.get("Allow", "")},
        429: _("There are too many requests at once. Wait a moment, then try again."),
    }.get(response.status_code, response.reason_phrase)
    response.content = problem(request, response.status_code, code, detail).content
    response["Content-Type"] = "application/problem+json"
    response.cookies.clear()  # the page's, for its forms
    return response


class PageCompression(GZipMiddleware):
    """Compresses pages, parts of pages and drawn faces, except where another site could have chosen some of their text.

    Whoever sees the lengths of encrypted responses, and can have a person's browser request pages that repeat a text of
    their choice beside a secret one, may guess the secret from what compresses well (BREACH). Another site cannot send a
    body in a person's name (SameSite), so that leaves the query. Django adds bytes of a random length besides.
    """

    def process_response(self, request: HttpRequest, response: Response) -> Response:
        """Return the response, compressed if it is a page that nobody else had a hand in."""
        is_page = response.status_code == 200 and response.get("Content-Type", "").startswith(COMPRESSED)
        is_ours = (
            not request.META.get("QUERY_STRING") or request.headers.get("Sec-Fetch-Site") == "same-origin"
        )
        if response.streaming or not (is_page and is_ours):
            return response
        compressed: Response = super().process_response(request, response)
        return compressed


class RequestLog(RequestMiddleware):
    """Logs the start and end of each request with its route instead of its path and query, which may hold keys."""

    @classmethod
    def bind_ip(cls, request: HttpRequest) -> None:
        """Bind the client's address, seen through KITH_PROXIES proxies alone, since others' headers may be forged."""
        scope = getattr(request, "scope", None)
        ip = address_of(scope) if scope else request.META.get("REMOTE_ADDR")
        structlog.contextvars.bind_contextvars(ip=ip)

    @staticmethod
    def bind_user_id(request: HttpRequest) -> None:
        """Do nothing, and so look no user up: `activate_locale` binds the id once the person is known."""

    @staticmethod
    def format_request(request: HttpRequest) -> str:
        return f"{request.method} /{pattern_of(request.path_info)}"


def pattern_of(path: str) -> str:
    """Return the route that matches the path, such as `companions/<uuid:companion_id>/`."""
    try:
        return resolve(path).route
    except Resolver404:
        return "(no such page)"
