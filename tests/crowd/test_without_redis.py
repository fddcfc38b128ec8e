"""While Redis is away people sign in and are answered, under limits that each process keeps by itself."""

import json
import re

import httpx2
import pytest
from websockets.sync.client import connect

from tests.crowd.site import Site
from tests.fixtures.people import PASSWORD

pytestmark = pytest.mark.processes
NOBODY_LISTENS = "redis://127.0.0.1:1/0"
STREAMS = 3


@pytest.fixture(scope="module")
def alone(grounds: Site) -> Site:
    grounds.start_with(REDIS_URL=NOBODY_LISTENS, KITH_STREAMS_AT_ONCE=str(STREAMS))
    return grounds


def browser(site: Site) -> httpx2.Client:
    return httpx2.Client(base_url=site.url, timeout=30, follow_redirects=True)


def sign_in(visitor: httpx2.Client, email: str, password: str) -> httpx2.Response:
    token, *_ = re.findall(
        r'name="csrfmiddlewaretoken" value="([^"]+)"', visitor.get("/accounts/login/").text
    )
    fields = {"csrfmiddlewaretoken": token, "login": email, "password": password}
    return visitor.post("/accounts/login/", data=fields, headers={"Referer": str(visitor.base_url)})


def test_people_sign_in(alone: Site) -> None:
    with browser(alone) as visitor:
        assert sign_in(visitor, alone.alice.email, PASSWORD).url.path == "/companions/"


def test_who_guesses_is_stopped(alone: Site) -> None:
    with browser(alone) as visitor:
        for _ in range(5):
            assert sign_in(visitor, alone.mallory.email, "wrong").url.path == "/accounts/login/"
        assert sign_in(visitor, alone.mallory.email, PASSWORD).url.path == "/accounts/login/"


def test_people_are_answered(alone: Site) -> None:
    said = alone.ask("POST", alone.alice, f"{alone.alice.path}/messages?wait=20", {"text": "Are you there?"})
    assert said.status_code == 201
    assert said.json()["reply"]["state"] == "done"
    assert said.json()["reply"]["text"]


def test_people_talk_on_a_socket(alone: Site) -> None:
    address = f"{alone.url.replace('http', 'ws')}/ws{alone.alice.path.removeprefix('/api/v1')}/"
    said = {"type": "message.send", "text": "Are you there?", "client_id": "one"}
    with connect(address, additional_headers=alone.alice.headers, close_timeout=0.05) as socket:
        socket.send(json.dumps(said))
        types = [json.loads(socket.recv(timeout=30))["type"]]
        while types[-1] not in {"reply.done", "reply.failed", "error"}:
            types.append(json.loads(socket.recv(timeout=30))["type"])
    assert types[0] == "message.saved"
    assert types[-1] == "reply.done"


def test_one_persons_streams_are_few(alone: Site) -> None:
    peers = [alone.stream(alone.mallory) for _ in range(STREAMS + 2)]
    statuses = sorted(int(peer.recv(12).split()[1]) for peer in peers)
    for peer in peers:
        peer.close()
    assert statuses == [201] * STREAMS + [429] * 2
