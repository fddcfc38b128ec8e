"""A person's e-mail addresses: nobody takes another's."""

import re

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client

from accounts.models import User
from tests.accounts.visits import sign_up, submit
from tests.fixtures.people import PASSWORD

pytestmark = pytest.mark.django_db
PAGE = "/accounts/email/"


@pytest.fixture
def carol(visitor: Client) -> Client:
    """Someone whose own address nobody has verified, and who has just typed their password."""
    sign_up(visitor)
    submit(visitor, "/accounts/reauthenticate/", password=PASSWORD)
    return visitor


def test_anothers_address_can_be_listed_and_not_used(carol: Client, alice: User) -> None:
    submit(carol, PAGE, email="alice@example.org", action_add="")
    response = submit(carol, PAGE, email="alice@example.org", action_primary="")
    assert response.url == PAGE
    assert "There is already an account with this e-mail address." in carol.get(PAGE).content.decode()
    assert (
        User.objects.get(email="carol@example.org").emailaddress_set.get(primary=True).email
        == "carol@example.org"
    )


def test_ones_own_second_address_can_be_used(carol: Client) -> None:
    submit(carol, PAGE, email="carol@example.net", action_add="")
    submit(carol, PAGE, email="carol@example.net", action_primary="")
    assert User.objects.get().email == "carol@example.net"


def test_an_address_offers_only_what_can_be_done_with_it(carol: Client) -> None:
    def list_offers() -> set[str]:
        return set(re.findall(r'name="action_(\w+)"', carol.get(PAGE).content.decode())) - {"add"}

    assert list_offers() == {"send"}
    own = EmailAddress.objects.get()
    own.set_verified()
    assert list_offers() == set()
    submit(carol, PAGE, email="carol@example.net", action_add="")
    assert list_offers() == {"primary", "send", "remove"}
    own.delete()  # an address alone that is not in use
    assert list_offers() == {"primary", "send", "remove"}


def test_whoever_asks_for_a_second_mail_too_soon_is_told(carol: Client) -> None:
    for sent in (1, 1):
        submit(carol, PAGE, email="carol@example.org", action_send="")
        assert len(mail.outbox) == sent
    assert "once in three minutes" in carol.get(PAGE).content.decode()


def test_an_address_that_is_confirmed_meanwhile_gets_no_second_mail(carol: Client) -> None:
    EmailAddress.objects.get().set_verified()
    mail.outbox.clear()
    submit(carol, PAGE, email="Carol@\x00example.org", action_send="")  # as no browser sends it
    assert not mail.outbox
    assert "This address is confirmed already." in carol.get(PAGE).content.decode()


def test_an_address_that_is_too_long_is_refused(carol: Client) -> None:
    address = f"{'c' * 60}@{'.'.join(['d' * 60] * 4)}.org"
    assert submit(carol, PAGE, email=address, action_add="").status_code == 200
    assert submit(carol, "/accounts/password/reset/", email=address).status_code == 200
    assert EmailAddress.objects.count() == 1


def test_nobody_lists_addresses_without_end(carol: Client) -> None:
    for number in range(7):
        submit(carol, PAGE, email=f"carol{number}@example.net", action_add="")
    assert EmailAddress.objects.count() == 5


def test_an_address_is_added_by_who_knows_the_password(visitor: Client, alice: User) -> None:
    visitor.force_login(alice)
    response = submit(visitor, PAGE, email="mallory@example.net", action_add="")
    assert response.url.startswith("/accounts/reauthenticate/")
    submit(visitor, response.url, password="wrong")
    assert EmailAddress.objects.count() == 1
    page = visitor.get(response.url)
    assert "account/reauthenticate.html" in [template.name for template in page.templates]
    visitor.post(
        response.url, {"csrfmiddlewaretoken": page.context["csrf_token"], "password": PASSWORD}, follow=True
    )
    submit(visitor, PAGE, email="alice@example.net", action_add="")
    assert EmailAddress.objects.filter(user=alice, email="alice@example.net").exists()
