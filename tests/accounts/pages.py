"""Addresses for the tests of the middleware: what a page sees of the person."""

from django.http import HttpRequest, JsonResponse
from django.urls import path
from django.utils import timezone
from django.utils.translation import get_language
from structlog.contextvars import get_contextvars


def place(request: HttpRequest) -> JsonResponse:
    return JsonResponse(
        {
            "language": get_language(),
            "time_zone": timezone.get_current_timezone_name(),
            "user_id": get_contextvars().get("user_id"),
        }
    )


async def async_place(request: HttpRequest) -> JsonResponse:
    return place(request)


urlpatterns = [path("place", place), path("aplace", async_place)]
