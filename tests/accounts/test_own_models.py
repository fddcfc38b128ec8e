"""The page "Your own models": each person's own, tried with real requests; a key goes in and never comes out."""

import io
import logging
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web
from django.core.management import call_command
from django.db import connections
from django.test import Client

from accounts.models import User
from providers.chat_provider import OWN
from providers.models import OwnProvider
from providers.selection import follow_own_change
from tests.accounts.visits import submit
from tests.fixtures.model_servers import listed, serve
from tests.fixtures.people import PASSWORD, sign_in
from tests.fixtures.rehearsal import RehearsalServer

pytestmark = pytest.mark.django_db(transaction=True)
KEY = "sk-quokka-4711-zebra"
PAGE = "/settings/models/"


@pytest.fixture
def server(other_servers: tuple[RehearsalServer, RehearsalServer], settings: Any) -> RehearsalServer:
    """A server that persons may name."""
    settings.OWN_PROVIDERS_EACH, settings.CHAT_RETRIES = 2, 0
    settings.OWN_PROVIDERS_ALLOWED = {other_servers[0].url.split("/")[2]}
    return other_servers[0]


@pytest.fixture
def at_home(visitor: Client, alice: User) -> Client:
    sign_in(visitor, alice)
    return visitor


def send(client: Client, path: str, **fields: str) -> Any:
    return submit(client, path, PAGE, **fields)


def add(client: Client, base_url: str, **fields: str) -> Any:
    return send(
        client,
        f"{PAGE}add/",
        **({"name": "Mine", "base_url": base_url, "model": "mine", "api_key": KEY} | fields),
    )


def test_it_is_added_tried_changed_and_deleted(at_home: Client, alice: User, server: RehearsalServer) -> None:
    assert b"/settings/models/" in at_home.get("/settings/").content
    assert add(at_home, server.url).url == PAGE
    row = OwnProvider.objects.get()
    assert (row.user, row.api_key, row.base_url) == (alice, KEY, server.url)
    server.script({"answer": "Good evening to you."})
    assert send(at_home, f"{PAGE}{row.pk}/try/").url == PAGE
    shown = at_home.get(PAGE).content.decode()
    assert "Good evening to you." in shown
    edit = at_home.get(f"{PAGE}{row.pk}/").content.decode()
    assert KEY[-4:] in edit
    assert KEY not in shown + edit
    fields = {"name": "Hers", "base_url": server.url, "model": "other", "context_tokens": "4096"}
    assert send(at_home, f"{PAGE}{row.pk}/", **fields).url == PAGE
    row.refresh_from_db()
    assert (row.name, row.model, row.context_tokens, row.api_key) == ("Hers", "other", 4096, KEY)
    assert send(at_home, f"{PAGE}{row.pk}/delete/").url == PAGE
    assert not OwnProvider.objects.exists()


def test_a_key_is_sent_to_no_other_server(at_home: Client, server: RehearsalServer, settings: Any) -> None:
    add(at_home, server.url)
    row = OwnProvider.objects.get()
    with RehearsalServer() as other:
        settings.OWN_PROVIDERS_ALLOWED |= {other.url.split("/")[2]}  # only the key is in the way
        fields = {"name": "Mine", "base_url": other.url, "model": "mine"}
        refused = send(at_home, f"{PAGE}{row.pk}/", **fields)
        assert refused.status_code == 422
        assert "The address leads to a different server" in refused.content.decode()
        row.refresh_from_db()
        assert row.base_url == server.url
        assert send(at_home, f"{PAGE}{row.pk}/", **fields, api_key="sk-another").url == PAGE
        row.refresh_from_db()
        assert (row.base_url, row.api_key) == (other.url, "sk-another")


@pytest.mark.parametrize(
    ("step", "failure"),
    [
        ({"error": {"status": 401, "body": f"Bad key {KEY}"}}, "key"),
        ({"error": {"status": 402, "body": "Fill it up"}}, "money"),
        ({"error": {"status": 404, "body": "The model does not exist"}}, "model"),
        ({"answer": ""}, "empty"),
    ],
    ids=str,
)
def test_what_went_wrong_is_said_and_the_key_is_not(
    at_home: Client, server: RehearsalServer, step: dict[str, Any], failure: str
) -> None:
    add(at_home, server.url)
    row = OwnProvider.objects.get()
    server.script(step)
    send(at_home, f"{PAGE}{row.pk}/try/")
    row.refresh_from_db()
    assert row.last_error == failure
    shown = at_home.get(PAGE).content.decode()
    assert str(row.get_last_error_display()) in shown
    assert KEY not in shown


def test_half_of_a_surrogate_pair_is_shown_as_a_mark(at_home: Client, server: RehearsalServer) -> None:
    add(at_home, server.url)
    events = ['data: {"choices": [{"delta": {"content": "Hello \\ud83d!"}}]}\n\n', "data: [DONE]\n\n"]
    server.script({"events": events})
    send(at_home, f"{PAGE}{OwnProvider.objects.get().pk}/try/")
    assert "Hello \ufffd!" in at_home.get(PAGE).content.decode()


@pytest.mark.parametrize(
    "address",
    [
        "https://127.0.0.1/v1",
        "https://localhost/v1",
        "http://example.org/v1",
        "https://[::ffff:10.0.0.1]/v1",
        "file:///etc/passwd",
        "https://169.254.169.254/v1",
        "https://nowhere.invalid/v1",  # as for a name that only Kith's own network knows
    ],
)
def test_an_address_of_ours_is_refused_with_a_sentence(
    at_home: Client, server: RehearsalServer, address: str
) -> None:
    for path in (f"{PAGE}add/", f"{PAGE}list/"):
        response = send(at_home, path, name="a", base_url=address, model="m", api_key=KEY)
        assert response.status_code == (422 if path.endswith("add/") else 200)
        shown = response.content.decode()
        assert "public Internet" in shown or "An address begins with" in shown
        assert KEY not in shown
    assert not OwnProvider.objects.exists()


def test_its_models_are_listed_by_the_typed_key_or_its_own(at_home: Client, settings: Any) -> None:
    keys = []

    async def answer(request: web.Request) -> web.Response:
        keys.append(request.headers.get("Authorization"))
        return web.json_response(listed("mine", "yours"))

    settings.OWN_PROVIDERS_EACH = 1
    with serve({"/v1/models": answer}) as url:
        settings.OWN_PROVIDERS_ALLOWED = {url.removeprefix("http://")}
        shown = send(at_home, f"{PAGE}list/", base_url=f"{url}/v1", api_key=KEY).content.decode()
        assert '<option value="yours">' in shown
        add(at_home, f"{url}/v1")
        send(at_home, f"{PAGE}{OwnProvider.objects.get().pk}/list/", base_url=f"{url}/v1")
    assert keys == [f"Bearer {KEY}"] * 2


def test_no_connection_to_the_database_is_held_while_a_server_is_waited_for(
    at_home: Client, settings: Any
) -> None:
    connection, held = connections["default"], []

    async def look(_request: web.Request) -> web.Response:
        held.append(connection.connection is not None)
        return web.json_response({}, status=500)

    settings.OWN_PROVIDERS_EACH = 1
    with serve({"/v1/models": look, "/v1/chat/completions": look}) as url:
        settings.OWN_PROVIDERS_ALLOWED = {url.removeprefix("http://")}
        add(at_home, f"{url}/v1")
        send(at_home, f"{PAGE}list/", base_url=f"{url}/v1")
        send(at_home, f"{PAGE}{OwnProvider.objects.get().pk}/try/")
    assert held == [False, False]


def test_nobody_has_more_than_they_may_nor_one_model_twice(at_home: Client, server: RehearsalServer) -> None:
    add(at_home, server.url)
    assert list(add(at_home, server.url).context["form"].errors) == ["model"]
    add(at_home, server.url, model="second")
    assert add(at_home, server.url, model="third").status_code == 422
    assert OwnProvider.objects.count() == 2


def test_anothers_does_not_exist(
    at_home: Client, bob: User, server: RehearsalServer, make_bobs: Callable[[str], OwnProvider]
) -> None:
    row = make_bobs(server.url)
    assert "His secret server" not in at_home.get(PAGE).content.decode()
    assert at_home.get(f"{PAGE}{row.pk}/").status_code == 404
    for deed in ("", "try/", "delete/", "list/"):
        assert send(at_home, f"{PAGE}{row.pk}/{deed}", base_url=server.url).status_code == 404
    assert server.requests() == []
    assert OwnProvider.objects.get() == row


@pytest.fixture
def make_bobs(bob: User) -> Callable[[str], OwnProvider]:
    def make(base_url: str) -> OwnProvider:
        row = OwnProvider(user=bob, name="His secret server", base_url=base_url, model="his")
        row.api_key = KEY
        row.save()
        follow_own_change(bob.pk)
        return row

    return make


def test_where_the_operator_allows_none_there_is_no_page_but_for_deleting(
    at_home: Client,
    alice: User,
    bob: User,
    server: RehearsalServer,
    settings: Any,
    visitor: Client,
    make_bobs: Callable[[str], OwnProvider],
) -> None:
    row = make_bobs(server.url)
    settings.OWN_PROVIDERS_EACH = 0
    assert at_home.get(PAGE).status_code == 404
    assert b"/settings/models/" not in at_home.get("/settings/").content
    visitor.force_login(bob)
    assert visitor.get(PAGE).status_code == 200
    assert send(visitor, f"{PAGE}{row.pk}/try/").status_code == 404
    assert send(visitor, f"{PAGE}{row.pk}/delete/").status_code == 302
    assert server.requests() == []


def test_with_the_account_they_are_gone(
    at_home: Client, alice: User, bob: User, server: RehearsalServer, make_bobs: Callable[[str], OwnProvider]
) -> None:
    add(at_home, server.url)
    kept = make_bobs(server.url)
    submit(at_home, "/settings/delete/", "/settings/", password=PASSWORD)
    assert list(OwnProvider.objects.all()) == [kept]


def test_the_admin_shows_only_how_many_somebody_has(
    olive: User, bob: User, server: RehearsalServer, make_bobs: Callable[[str], OwnProvider], client: Client
) -> None:
    make_bobs(server.url)
    client.force_login(olive)
    page = client.get(f"/admin/accounts/user/{bob.pk}/change/").content.decode()
    assert "Own models" in page
    for address in (f"/admin/accounts/user/{bob.pk}/change/", "/admin/providers/provider/"):
        shown = client.get(address).content.decode()
        assert [word for word in (KEY, KEY[-4:], server.url, "His secret server") if word in shown] == []


def test_a_key_that_was_typed_is_in_no_report_of_an_error(
    at_home: Client, server: RehearsalServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    add(at_home, server.url)
    out = io.StringIO()
    call_command("dumpdata", "providers", stdout=out)
    assert KEY not in out.getvalue() + caplog.text
    assert OWN not in (server.url, KEY)
