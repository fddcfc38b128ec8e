import structlog
from django.http import HttpRequest
from django.urls import Resolver404, resolve
from django_structlog.middlewares import RequestMiddleware

from accounts.shares import address_of


class RequestLog(RequestMiddleware):
    """A line as a request begins and ends, with the address's pattern: no query, no key, nothing that was said."""

    @classmethod
    def bind_ip(cls, request: HttpRequest) -> None:
        """Put the address on the lines, as the proxies that KITH_PROXIES counts tell it; others may tell anything."""
        scope = getattr(request, "scope", None)
        ip = address_of(scope) if scope else request.META.get("REMOTE_ADDR")
        structlog.contextvars.bind_contextvars(ip=ip)

    @staticmethod
    def bind_user_id(request: HttpRequest) -> None:
        """Look nobody up, who may have sent a session that is none: whose it is is told once it is known."""

    @staticmethod
    def format_request(request: HttpRequest) -> str:
        return f"{request.method} /{pattern_of(request.path_info)}"


def pattern_of(path: str) -> str:
    """The route that the path takes, such as `companions/<uuid:companion_id>/`."""
    try:
        return resolve(path).route
    except Resolver404:
        return "(no such page)"
