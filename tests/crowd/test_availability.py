"""One visitor, with or without an account, ends nobody else's visit, and the pool of connections stays whole.

Each attack is made under the limits, which keep it from everybody else; those that could keep a connection, without them
as well.
"""

import contextlib
import select
import socket
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from uuid import uuid4

import orjson
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.crowd.site import (
    ARRIVALS,
    BODIES,
    CONNECTIONS,
    POOL,
    SOCKETS,
    Site,
    Visitor,
    eventually,
    reset,
    wire,
)

pytestmark = pytest.mark.processes
TOO_FAST = 4429  # how a socket is closed that is more than one person may have
ROUNDS = 15
NO_SESSION = {"Cookie": "sessionid=nosuchsessionatall"}
PAGES: list[tuple[str, dict[str, str]]] = [
    ("/accounts/login/", NO_SESSION),
    ("/accounts/login/", {}),
    ("/api/v1/companions", {"Authorization": "Bearer kith_no"}),
    ("/api/v1/openapi.json", NO_SESSION),
]
HEADERS = b"a: b\r\n" * 8_000
ENDLESS = [  # how it begins, and 50 kB that it goes on with
    (b"GET / HTTP/1.1\r\n", HEADERS),
    (b"GET / HTTP/1.1\r\na: ", b"b" * 50_000),
    (b"GET /", b"a" * 50_000),
    (wire("POST", "/accounts/login/", {"Transfer-Encoding": "chunked"}) + b"0\r\n", HEADERS),
]
WITH_AND_WITHOUT = pytest.mark.parametrize("site", ["1", "0"], indirect=True, ids=["with limits", "without"])


@contextmanager
def attacked(site: Site, alice: Visitor) -> Iterator[None]:
    """Under the limits another person is answered all the while; and in the end every connection is there."""
    with site.watched(alice) as statuses:
        yield
    if site.has_limits:
        assert set(statuses) == {200}
    assert site.has_all_connections()


@WITH_AND_WITHOUT
def test_pipelined_requests_whose_sender_vanishes_cost_no_connection(site: Site, alice: Visitor) -> None:
    with attacked(site, alice):
        for path, headers in PAGES * ROUNDS:
            peer = site.connect()
            peer.sendall(wire("GET", path, headers) * 2)
            time.sleep(0.004)
            reset(peer)


@WITH_AND_WITHOUT
def test_pipelined_requests_that_are_read_cost_no_connection_and_no_thread(
    site: Site, alice: Visitor, mallory: Visitor
) -> None:
    asked = mallory.request("GET", mallory.path)
    last = mallory.request("GET", mallory.path, Connection="close")
    with attacked(site, alice):
        before = site.threads
        for _ in range(12):
            peer = site.connect()
            peer.sendall(asked * 2 + last)
            assert _rest(peer, seconds=60)
    assert site.threads < before + 12


@WITH_AND_WITHOUT
@pytest.mark.usefixtures("long_past")
def test_slow_readers_of_an_export_hold_nothing_and_are_cut_off(
    site: Site, alice: Visitor, mallory: Visitor
) -> None:
    with attacked(site, alice):
        peers = _slow_exports(site, mallory, 12)
        statuses = Counter(_status(peer) for peer in peers)
        assert site.has_all_connections()  # while they are open
        time.sleep(4)  # longer than the site waits for a reader
        ends = [_rest(peer)[-5:] for peer in peers]
    if site.has_limits:
        assert statuses == {200: 4, 429: 8}
    else:
        assert statuses == {200: 12}
    assert b"0\r\n\r\n" not in ends  # no answer came whole


@WITH_AND_WITHOUT
def test_event_streams_hold_no_connection(site: Site, alice: Visitor, mallory: Visitor) -> None:
    with attacked(site, alice):
        peers = [site.stream(mallory) for _ in range(12)]
        assert {_status(peer) for peer in peers} == {201}
        assert site.usable_connections() == POOL  # while they are open
        for peer in peers:
            peer.close()


@WITH_AND_WITHOUT
@pytest.mark.usefixtures("long_past")
def test_exports_and_streams_together(site: Site, alice: Visitor, mallory: Visitor) -> None:
    with attacked(site, alice):
        peers = [*_slow_exports(site, mallory, 10), *(site.stream(mallory) for _ in range(10))]
        for peer in peers:
            _status(peer)
        for peer in peers:
            reset(peer)


def test_many_cheap_operations_of_one_person_take_turns(site: Site, alice: Visitor, mallory: Visitor) -> None:
    with attacked(site, alice), ThreadPoolExecutor(30) as crowd:
        asked = [crowd.submit(site.status, "GET", mallory, f"{mallory.path}/voice") for _ in range(60)]
        statuses = Counter(one.result() for one in asked)
    assert statuses == {200: 60}


def test_half_sent_requests_are_cut_off(site: Site, alice: Visitor, mallory: Visitor) -> None:
    whole = mallory.request("POST", f"{mallory.path}/messages", {"text": "Hello."})
    with attacked(site, alice):
        peers = [site.connect() for _ in range(200)]
        for number, peer in enumerate(peers):
            peer.sendall(whole[:40] if number % 2 else whole[:-5])
        assert all(eventually(lambda one=peer: _is_closed(one)) for peer in peers)  # type: ignore[misc]


def test_a_head_without_end_is_cut_off(site: Site, alice: Visitor) -> None:
    with attacked(site, alice):
        for begun, more in ENDLESS:
            peer = site.connect()
            peer.sendall(begun)
            with pytest.raises(ConnectionError):
                _pour(peer, more, 100)
            peer.close()


def test_one_address_has_so_many_large_bodies(site: Site, alice: Visitor, mallory: Visitor) -> None:
    large = wire("POST", mallory.path, {**mallory.headers, "Content-Length": "900000"}) + b"x" * 200_000
    with attacked(site, alice):
        peers = [site.connect() for _ in range(BODIES + 5)]
        for peer in peers:
            peer.sendall(large)
        refused = _refused(peers, 5)
        for peer in peers:
            peer.close()
    assert len(refused) == 5


def test_one_address_has_so_many_requests_of_whom_it_is_not_yet_known(site: Site, alice: Visitor) -> None:
    begun = wire("POST", "/accounts/login/", {"Content-Length": "900"}) + b"x" * 200
    with attacked(site, alice):
        peers = [site.connect() for _ in range(ARRIVALS + 5)]
        for peer in peers:
            peer.sendall(begun)
        refused = _refused(peers, 5)
        for peer in peers:
            peer.close()
    assert len(refused) == 5


def test_a_session_that_is_none_takes_no_connection_beside_the_places(site: Site, alice: Visitor) -> None:
    asked = wire("GET", "/accounts/login/", {"Cookie": f"sessionid={'x' * 32}"})
    with attacked(site, alice):
        peers = [site.connect() for _ in range(80)]
        for peer in peers:
            peer.sendall(asked)
        statuses = Counter(_status(peer) for peer in peers)
        for peer in peers:
            peer.close()
    assert set(statuses) <= {200, 429}


def test_one_address_has_so_many_connections(site: Site, alice: Visitor) -> None:
    with attacked(site, alice):
        peers = [site.connect() for _ in range(CONNECTIONS + 20)]
        assert eventually(lambda: len(_readable(peers)) >= 20)
        assert all(map(_is_closed, _readable(peers)))
        for peer in peers:
            peer.close()


@WITH_AND_WITHOUT
def test_sockets_of_one_person_are_few_and_their_frames_take_turns(
    site: Site, alice: Visitor, mallory: Visitor
) -> None:
    frame = orjson.dumps({"type": "reply.resume", "id": str(uuid4()), "after": 0}).decode()
    with attacked(site, alice), contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(_socket(site, mallory)) for _ in range(SOCKETS + 10)]
        for opened in sockets:
            with contextlib.suppress(ConnectionClosed):
                for _ in range(55):
                    opened.send(frame)
        if site.has_limits:
            assert eventually(lambda: sum(opened.close_code == TOO_FAST for opened in sockets) >= 10)


def _pour(peer: socket.socket, more: bytes, times: int) -> None:
    for _ in range(times):
        peer.sendall(more)
        time.sleep(0.01)


def _readable(peers: list[socket.socket]) -> list[socket.socket]:
    """Those to whom something came, or whom the other side has left."""
    return select.select(peers, [], [], 0)[0]


def _refused(peers: list[socket.socket], count: int) -> list[socket.socket]:
    """Those that were answered with 429, at least so many; nothing comes to the others while their bodies are awaited."""
    assert eventually(lambda: len(_readable(peers)) >= count)
    time.sleep(0.3)  # others that are refused as well would be by now
    answered = _readable(peers)
    assert all(peer.recv(12).endswith(b"429") for peer in answered)
    return answered


def _slow_exports(site: Site, visitor: Visitor, count: int) -> list[socket.socket]:
    peers = [site.connect(receive_bytes=2048) for _ in range(count)]
    for peer in peers:
        peer.sendall(visitor.request("GET", f"{visitor.path}/export"))
    return peers


def _status(peer: socket.socket) -> int:
    return int(peer.recv(12).split()[1])


def _rest(peer: socket.socket, seconds: float = 1) -> bytes:
    """The end of what still comes, until the other side ends it or says no more for so long."""
    peer.settimeout(seconds)
    got = b""
    with contextlib.suppress(OSError):
        while part := peer.recv(1_000_000):
            got = (got + part)[-100:]
    peer.close()
    return got


def _is_closed(peer: socket.socket) -> bool:
    """Whether the other side has ended it; what has come is read away."""
    peer.settimeout(0.2)
    try:
        return peer.recv(256) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


def _socket(site: Site, visitor: Visitor) -> ClientConnection:
    address = f"{site.url.replace('http', 'ws')}/ws/companions/{visitor.companion_id}/"
    # nobody reads what comes, so that a handshake to close would wait for nothing
    return connect(address, additional_headers=visitor.headers, open_timeout=60, close_timeout=0.05)
