"""One visitor, with or without an account, ends nobody else's visit, and the pool of connections stays whole."""

import time

import pytest

from tests.crowd.site import POOL, Site, Visitor, reset, wire

pytestmark = pytest.mark.processes
NO_SESSION = {"Cookie": "sessionid=nosuchsessionatall"}
PAGES = {
    "a page with a session's cookie": ("/accounts/login/", NO_SESSION),
    "a page": ("/accounts/login/", {}),
    "the API": ("/api/v1/companions", {"Authorization": "Bearer kith_no"}),
    "the contract": ("/api/v1/openapi.json", NO_SESSION),
}


@pytest.mark.parametrize("name", PAGES)
def test_pipelined_requests_whose_sender_vanishes_cost_no_connection(
    site: Site, alice: Visitor, name: str
) -> None:
    path, headers = PAGES[name]
    with site.watched(alice) as statuses:
        for _ in range(40):
            peer = site.connect()
            peer.sendall(wire("GET", path, headers) * 2)
            time.sleep(0.004)
            reset(peer)
    assert set(statuses) == {200}
    assert site.usable_connections(alice) == POOL
