"""What a web process itself keeps out."""

from contextlib import suppress

import httpx
import pytest
from django.contrib.auth.hashers import make_password
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from accounts.models import User
from providers.http.options import get_tls_context
from tests.fixtures.people import PASSWORD
from tests.processes.house import House
from tests.processes.person import Person

pytestmark = pytest.mark.processes
CSRF = "c" * 32


def close_code(house: House, person: Person, frame: str) -> int | None:
    """With what the socket closes when this is sent; None where it answers."""
    address = f"{house.url(0).replace('http', 'ws')}/ws/{person.path}/"
    with connect(address, additional_headers=person.headers, close_timeout=0.5) as wire:
        with suppress(ConnectionClosed):
            wire.send(frame)
            assert "message_too_long" in str(wire.recv(timeout=10))
        return wire.close_code


def test_a_frame_that_no_message_needs_closes_the_socket(house: House, alice: Person) -> None:
    for text, code in (("\U0001f600" * 100_000, None), ("x" * 6_100_000, 1009)):
        frame = '{"type": "message.send", "client_id": "1", "text": "' + text + '"}'
        assert close_code(house, alice, frame) == code


def test_whoever_guesses_cannot_pretend_to_be_many(house: House) -> None:
    user = house.person().user
    house.rows(User).filter(pk=user.pk).update(password=make_password(PASSWORD))
    with httpx.Client(base_url=house.url(0), timeout=30, verify=get_tls_context()) as browser:
        assert sign_in(browser, user.email, PASSWORD, "10.0.0.98") == 302
        for number in range(12):
            sign_in(browser, f"somebody{number}@example.org", "a guess", f"10.0.0.{number}")
        assert sign_in(browser, user.email, PASSWORD, "10.0.0.99") != 302


def sign_in(browser: httpx.Client, email: str, password: str, claimed: str) -> int:
    """The status of the answer to somebody who claims to come from that address."""
    browser.cookies = httpx.Cookies({"csrftoken": CSRF})
    form = {"login": email, "password": password, "csrfmiddlewaretoken": CSRF}
    return browser.post("/accounts/login/", data=form, headers={"X-Forwarded-For": claimed}).status_code
