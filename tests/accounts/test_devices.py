"""Where one is signed in: each device is listed, and signed out from any other."""

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.test import Client

from accounts.models import User
from accounts.pages.devices import name_browser
from accounts.tasks import drop_old_sessions
from tests.accounts.visits import sign_in, submit, who

PAGE = "/accounts/devices/"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def device(user: User, **headers: str) -> Client:
    client = Client(enforce_csrf_checks=True, headers=headers)
    sign_in(client, user.email)
    return client


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        (FIREFOX, "Firefox · Linux"),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1",
            "Safari · iPhone",
        ),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 Safari/537.36 Edg/140.0", "Edge · Windows"),
        ("Mozilla/5.0 (Linux; Android 16) Chrome/140.0 Mobile Safari/537.36", "Chrome · Android"),
        ("<script>", ""),
        ("", ""),
    ],
)
def test_a_browser_is_named_in_words(user_agent: str, name: str) -> None:
    assert name_browser(user_agent) == name


def test_one_device_signs_another_out(alice: User, bob: User) -> None:
    phone, desk, his = device(alice), device(alice, user_agent=FIREFOX), device(bob)
    page = phone.get(PAGE).content.decode()
    assert (page.count("this device"), page.count("Firefox · Linux"), page.count(">Firefox · Linux<")) == (
        1,
        2,
        1,
    )
    session = UserSession.objects.get(session_key=desk.session.session_key)
    assert submit(phone, f"{PAGE}{session.pk}/sign-out/", PAGE).url == PAGE
    assert (who(phone), who(desk), who(his)) == (str(alice.pk), None, str(bob.pk))


def test_all_others_are_signed_out_at_once(alice: User, bob: User) -> None:
    devices, his = [device(alice) for _ in range(3)], device(bob)
    submit(devices[0], PAGE)
    assert [who(client) is not None for client in [*devices, his]] == [True, False, False, True]


def test_another_persons_device_does_not_exist(alice: User, mallory: User) -> None:
    hers, other = device(alice), device(mallory)
    session = UserSession.objects.get(session_key=hers.session.session_key)
    assert submit(other, f"{PAGE}{session.pk}/sign-out/", PAGE).status_code == 404
    assert who(hers) == str(alice.pk)


def test_a_session_from_before_the_list_is_listed_once_it_looks(alice: User, client: Client) -> None:
    client.force_login(alice)
    assert client.get(PAGE).content.decode().count("token-row") == 1


def test_what_is_known_of_a_device_goes_with_its_session(alice: User) -> None:
    phone, desk = device(alice), device(alice)
    Session.objects.filter(session_key=phone.session.session_key).delete()
    drop_old_sessions()
    assert [row.session_key for row in UserSession.objects.all()] == [desk.session.session_key]
