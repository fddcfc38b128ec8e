"""A signed-in person is answered in their language and time zone, whatever the request before was."""

import pytest
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.test import AsyncClient, Client
from django.utils import timezone
from django.utils.translation import get_language
from pytest_django import DjangoAssertNumQueries
from structlog.contextvars import bound_contextvars, get_contextvars

from accounts.authentication import PersonMiddleware
from accounts.models import User

pytestmark = pytest.mark.urls("tests.accounts.pages")


def test_the_persons_language_and_zone_hold(bob: User) -> None:
    client = Client()
    client.force_login(bob)
    seen = client.get("/place", headers={"accept-language": "en"}).json()
    assert seen == {"language": "zh-hans", "time_zone": "Asia/Shanghai", "user_id": bob.pk}


def test_without_a_language_of_their_own_the_requests_holds(alice: User) -> None:
    client = Client()
    client.force_login(alice)
    seen = client.get("/place", headers={"accept-language": "zh-Hans"}).json()
    assert seen == {"language": "zh-hans", "time_zone": "Europe/Berlin", "user_id": alice.pk}


def test_nobody_inherits_the_zone_of_the_request_before(bob: User) -> None:
    client = Client()
    client.force_login(bob)
    client.get("/place")
    seen = Client().get("/place", headers={"accept-language": "en"}).json()
    assert seen == {"language": "en", "time_zone": "UTC", "user_id": None}


def test_a_cookie_of_no_session_is_nobody(db: None) -> None:
    client = Client()
    client.cookies["sessionid"] = "nothing"
    assert client.get("/place").json()["time_zone"] == "UTC"


@pytest.mark.django_db(transaction=True)
async def test_the_same_holds_under_asgi(bob: User) -> None:
    client = AsyncClient()
    await client.aforce_login(bob)
    seen = (await client.get("/aplace")).json()
    assert seen == {"language": "zh-hans", "time_zone": "Asia/Shanghai", "user_id": bob.pk}
    seen = (await AsyncClient().get("/aplace", headers={"accept-language": "en"})).json()
    assert seen == {"language": "en", "time_zone": "UTC", "user_id": None}


def test_a_request_without_a_session_costs_no_query(
    db: None, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    def page(request: HttpRequest) -> HttpResponseBase:
        return HttpResponse(timezone.get_current_timezone_name())

    with django_assert_num_queries(0), bound_contextvars():
        PersonMiddleware(page)(HttpRequest())
        assert "user_id" not in get_contextvars()
    assert get_language()
