"""Addresses for the tests of the bearer token: a real API of two operations, one sync and one async."""

from django.http import HttpRequest
from django.urls import path
from django.utils import timezone
from django.utils.translation import get_language
from ninja import NinjaAPI

from accounts.authentication import BearerToken

api = NinjaAPI(auth=BearerToken(), urls_namespace="tests.accounts")


@api.get("/sync")
def sync_whoami(request: HttpRequest) -> dict[str, str]:
    return whoami(request)


@api.get("/async")
async def async_whoami(request: HttpRequest) -> dict[str, str]:
    return whoami(request)


def whoami(request: HttpRequest) -> dict[str, str]:
    return {
        "user": str(request.user),
        "auth": str(request.auth),
        "language": get_language() or "",
        "time_zone": timezone.get_current_timezone_name(),
    }


urlpatterns = [path("api/", api.urls)]
