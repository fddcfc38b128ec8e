"""Which Host headers Kith takes, and that its mails do not repeat them."""

from typing import Any

import pytest
from django.core import mail
from django.test import Client

from accounts.models import User
from tests.accounts.visits import sign_up, submit
from tests.fixtures.rest import problem

pytestmark = pytest.mark.django_db
ELSEWHERE = "localhost:6666"


@pytest.mark.parametrize(
    ("path", "email"),
    [
        ("/accounts/password/reset/", "alice@example.org"),
        ("/accounts/password/reset/", "nobody@example.org"),
        ("/accounts/signup/", "carol@example.org"),
        ("/accounts/signup/", "alice@example.org"),
    ],
)
def test_links_in_mails_lead_to_kith_url(
    visitor: Client, alice: User, settings: Any, path: str, email: str
) -> None:
    settings.KITH_URL, settings.KITH_SIGNUP = "https://kith.example:8443", "open"
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    visitor.defaults["HTTP_HOST"] = ELSEWHERE
    if "signup" in path:
        sign_up(visitor, email)
    else:
        submit(visitor, path, email=email)
    (letter,) = mail.outbox
    assert ELSEWHERE not in letter.body
    assert "https://kith.example:8443/accounts/" in letter.body


@pytest.mark.parametrize(
    ("url", "host", "status"),
    [
        ("https://kith.example", "kith.example", 200),
        ("https://kith.example", "kith.example:443", 200),
        ("https://kith.example", "kith.example:9999", 400),
        ("https://kith.example:8443", "kith.example:8443", 200),
        ("https://kith.example:8443", "kith.example", 200),
        ("https://kith.example:8443", "kith.example:443", 400),
    ],
)
def test_a_public_kith_takes_no_other_port(
    client: Client, settings: Any, url: str, host: str, status: int
) -> None:
    settings.KITH_URL, settings.IS_PRODUCTION, settings.ALLOWED_HOSTS = url, True, ["kith.example"]
    assert client.get("/accounts/login/", headers={"host": host}).status_code == status


@pytest.mark.parametrize("host", ["kith.example:9999", "other.example"])
def test_the_api_says_so_in_its_own_form(client: Client, settings: Any, host: str) -> None:
    settings.KITH_URL, settings.IS_PRODUCTION = "https://kith.example", True
    settings.ALLOWED_HOSTS = ["kith.example"]
    problem(client.get("/api/v1/companions", headers={"host": host}), 400, "bad_request")


def test_on_this_machine_any_port_will_do(client: Client) -> None:
    assert client.get("/accounts/login/", headers={"host": ELSEWHERE}).status_code == 200
