"""The guarded client: whatever the address says, nothing of ours is asked."""

import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, ClassVar

import pytest

from providers.http.guarded_http import (
    OutboundError,
    is_public,
    parse_address,
    require_public,
    resolve_host,
    send_request,
)

OURS = (
    "127.0.0.1",
    "127.8.9.1",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "fec0::1",
    "5f00::1",
    "100::1",
    "3fff::1",
    "::ffff:0:7f00:1",
    "::ffff:127.0.0.1",
    "::ffff:a9fe:a9fe",
    "fc00::1",
    "fe80::1",
    "fe80::1%eth0",
    "ff02::1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::a00:1",
    "2002:7f00:1::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:db8::1",
)
BAD = {
    "http://push.example.org/x": "not_https",
    "ftp://push.example.org/x": "not_https",
    "file:///etc/passwd": "not_https",
    "gopher://127.0.0.1:6379/_SET": "not_https",
    "javascript:alert(1)": "not_https",
    "//push.example.org/": "not_https",
    "": "not_https",
    "https://": "bad_address",
    "https:///push.example.org/": "bad_address",
    "https://me:secret@push.example.org/": "bad_address",
    "https://push.example.org@127.0.0.1/": "bad_address",
    "https://push.example.org:22/": "bad_port",
    "https://push.example.org:0/": "bad_port",
    "https://push.example.org:99999/": "bad_address",
    "https://[::1/": "bad_address",
    "https://[fe80::1%25eth0]/": "bad_address",
    "https://[fe80::1%eth0]/": "bad_address",
    "https://127.0.0.1%00.example.org/": "bad_address",
    "https://push.example.org:443:22/": "bad_address",
    "https://push.example.org:-1/": "bad_address",
    f"https://{'a' * 300}.org/": "bad_address",
}


@pytest.mark.parametrize("number", OURS)
def test_a_number_of_ours_is_not_public(number: str) -> None:
    assert not is_public(number)


@pytest.mark.parametrize("number", ["93.184.216.34", "2606:4700::1111", "::ffff:93.184.216.34"])
def test_a_number_of_the_internet_is(number: str) -> None:
    assert is_public(number)


@pytest.mark.parametrize("url", BAD, ids=repr)
def test_an_address_nobody_may_ask_is_refused_before_it_is_looked_up(url: str) -> None:
    def resolve(host: str, port: int) -> list[str]:
        raise AssertionError("looked up")

    with pytest.raises(OutboundError) as refused:
        send_request("POST", url, resolve=resolve)
    assert refused.value.code == BAD[url]


@pytest.mark.parametrize("number", OURS)
def test_a_name_that_stands_for_a_number_of_ours_is_refused(number: str) -> None:
    with pytest.raises(OutboundError) as refused:
        send_request(
            "POST", "https://push.example.org/", resolve=lambda host, port: ["93.184.216.34", number]
        )
    assert refused.value.code == "not_public"


@pytest.mark.parametrize(
    "numbers", [["10.0.0.1"], ["93.184.216.34", "::1"], ["::1", "2606:4700::1111"]], ids=str
)
def test_before_anything_is_kept_an_address_can_be_tried(numbers: list[str]) -> None:
    with pytest.raises(OutboundError) as refused:
        require_public("https://push.example.org/", resolve=lambda host, port: numbers)
    assert refused.value.code == "not_public"
    require_public("https://push.example.org/", resolve=lambda host, port: ["93.184.216.34"])


@pytest.mark.parametrize(
    "url",
    [
        "https://push.example.org\\@127.0.0.1/",
        "https://push.example.org#@127.0.0.1/",
        "https://127.0.0.1/@push.example.org",
        "https://push.example.org/?@127.0.0.1/",
        "https://PUSH.EXAMPLE.ORG/",
    ],
)
def test_only_the_host_that_was_read_is_looked_up(url: str) -> None:
    looked_up: list[str] = []

    def resolve(host: str, port: int) -> list[str]:
        looked_up.append(host)
        return ["127.0.0.1"]

    with pytest.raises(OutboundError):
        send_request("POST", url, resolve=resolve)
    assert looked_up == [parse_address(url).host]


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "[::1]", "localhost", "127.1"]
)
def test_a_number_of_ours_in_any_spelling_is_refused(host: str) -> None:
    with pytest.raises(OutboundError) as refused:
        send_request("POST", f"https://{host}/")
    assert refused.value.code in ("not_public", "no_such_host")


class Teller(BaseHTTPRequestHandler):
    """Answers as the path says, and keeps what it was asked."""

    asked: ClassVar[list[tuple[str, str, bytes]]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.asked.append((self.path, self.headers["Host"], body))
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/elsewhere")
            self.end_headers()
        elif self.path == "/long":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"x" * 1_000_000)
        elif self.path == "/noise":
            self.send_response(200)
            self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            self.wfile.write(b"no gzip")
        elif self.path == "/cut":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
        else:
            self.send_response(201)
            self.end_headers()
            self.wfile.write(body[::-1])

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing."""


@pytest.fixture
def teller(settings: Any) -> Iterator[str]:
    """The address of a server that the operator has let be asked."""
    server = HTTPServer(("127.0.0.1", 0), Teller)
    Teller.asked.clear()
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    settings.OUTBOUND_ALLOWED = {f"127.0.0.1:{server.server_port}"}
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_who_is_let_is_asked(teller: str) -> None:
    answer = send_request("POST", f"{teller}/tell?a=1", body=b"abc", headers={"TTL": "60", "Host": "other"})
    assert (answer.status, answer.body) == (201, b"cba")
    assert Teller.asked == [("/tell?a=1", teller.removeprefix("http://"), b"abc")]


def test_nobody_is_sent_on(teller: str) -> None:
    assert send_request("POST", f"{teller}/moved").status == 302
    assert len(Teller.asked) == 1


def test_no_more_is_read_than_is_allowed(teller: str) -> None:
    assert len(send_request("POST", f"{teller}/long", max_bytes=1000).body) == 1000


def test_an_answer_that_ends_too_soon_is_none(teller: str) -> None:
    with pytest.raises(OutboundError) as failed:
        send_request("POST", f"{teller}/cut")
    assert failed.value.code == "unreachable"


def test_who_is_let_on_one_port_is_not_on_another(teller: str) -> None:
    with pytest.raises(OutboundError):
        parse_address("http://127.0.0.1:1/")


def test_without_a_port_it_is_the_usual_one_of_its_scheme_that_has_to_be_let(settings: Any) -> None:
    settings.OUTBOUND_ALLOWED = {"nas.example.org:443"}
    with pytest.raises(OutboundError):
        parse_address("http://nas.example.org/")
    settings.OUTBOUND_ALLOWED = {"nas.example.org:80"}
    asked = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append(port)
        return ["10.0.0.1"]

    require_public("http://nas.example.org/", resolve=resolve)
    assert asked == [80]


def test_where_nobody_answers_there_is_an_error(settings: Any) -> None:
    settings.OUTBOUND_ALLOWED = {"127.0.0.1:9"}
    with pytest.raises(OutboundError) as failed:
        send_request("POST", "http://127.0.0.1:9/")
    assert failed.value.code == "unreachable"


def test_what_is_packed_is_not_unpacked(teller: str) -> None:
    assert send_request("POST", f"{teller}/noise").body == b"no gzip"


def test_a_header_cannot_be_smuggled_in(teller: str) -> None:
    with pytest.raises(OutboundError):
        send_request("POST", f"{teller}/tell", headers={"Topic": "a\r\nHost: 10.0.0.1"})
    send_request("POST", f"{teller}/tell\r\nHost:%20other")
    assert [host for _path, host, _body in Teller.asked] == [teller.removeprefix("http://")]


HEAD = b"HTTP/1.1 200 OK\r\n"
TRICKLES = {
    "nothing": (b"", b""),
    "its first line": (b"", b"H"),
    "its headers": (HEAD, b"X: y\r\n"),
    "one header": (HEAD, b"x"),
    "its body": (HEAD + b"Content-Length: 1000000\r\n\r\n", b"x"),
    "a body without a length": (HEAD + b"\r\n", b"x"),
    "pieces": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
    "the length of a piece": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n1", b";x"),
    "go on, go on": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
}


@pytest.fixture
def trickle(settings: Any, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of one who begins, and then says the same little thing for ever."""
    first, again = request.param
    listening = socket.create_server(("127.0.0.1", 0))
    is_over = threading.Event()

    def serve() -> None:
        wire, _ = listening.accept()
        with wire:
            try:
                wire.sendall(first)
                while not is_over.wait(0.02):
                    wire.sendall(again)
            except OSError:
                return

    thread = threading.Thread(target=serve)
    thread.start()
    host = f"127.0.0.1:{listening.getsockname()[1]}"
    settings.OUTBOUND_ALLOWED = {host}
    yield f"http://{host}/"
    is_over.set()
    listening.close()
    thread.join()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("trickle", list(TRICKLES.values()), ids=list(TRICKLES), indirect=True)
def test_who_trickles_is_cut_off(trickle: str) -> None:
    with pytest.raises(OutboundError) as failed:
        send_request("POST", trickle, timeout_seconds=0.3)
    assert failed.value.code in ("too_slow", "unreachable")


def test_a_name_that_is_never_found_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def look_up(host: str, port: int, **_: Any) -> list[Any]:
        time.sleep(2)
        return [(None, None, None, "", ("93.184.216.34", port))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with pytest.raises(OutboundError) as failed:
        resolve_host("slow.example.org", 443, timeout_seconds=0.05)
    assert failed.value.code == "no_such_host"
