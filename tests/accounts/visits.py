"""What people do on the account pages, over HTTP."""

import re
from typing import Any

from django.test import Client

from tests.fixtures.people import PASSWORD

FRESH_PASSWORD = "a fresh pair of wings"


def submit(client: Client, path: str, page: str | None = None, **fields: str) -> Any:
    """Open the page, send its form with its CSRF token, and give the answer back."""
    token = re.search(
        r'name="csrfmiddlewaretoken" value="([^"]+)"', client.get(page or path).content.decode()
    )
    assert token, f"{page or path} has no form"
    return client.post(path, {"csrfmiddlewaretoken": token[1], **fields})


def sign_up(
    client: Client, email: str = "carol@example.org", page: str = "/accounts/signup/", **fields: str
) -> Any:
    return submit(client, "/accounts/signup/", page, **({"email": email, "password1": PASSWORD} | fields))


def sign_in(client: Client, email: str, password: str = PASSWORD) -> Any:
    return submit(client, "/accounts/login/", login=email, password=password)


def who(client: Client) -> str | None:
    """The id of who is signed in."""
    return client.session.get("_auth_user_id")
