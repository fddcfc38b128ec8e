"""What the guarded client streams: it follows redirects as far as it would ask there at first, and waits for nobody."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from providers.http.guarded_http import BLOCK_BYTES, MAX_REDIRECTS, OutboundError, open_stream
from tests.fixtures.file_server import FileServer

CONTENT = bytes(range(256)) * 3000


@pytest.fixture
def server(settings: Any) -> Iterator[FileServer]:
    with FileServer(CONTENT) as running:
        settings.OUTBOUND_ALLOWED = {running.host}
        yield running


@pytest.fixture
def other(server: FileServer, settings: Any) -> Iterator[FileServer]:
    with FileServer(CONTENT) as running:
        settings.OUTBOUND_ALLOWED = {server.host, running.host}
        yield running


def read(url: str, **options: Any) -> bytes:
    with open_stream(url, **options) as stream:
        return b"".join(stream.blocks)


@pytest.mark.parametrize("has_length", [True, False])
def test_the_whole_body_comes_in_blocks(server: FileServer, has_length: bool) -> None:
    server.has_length = has_length
    with open_stream(server.url) as stream:
        blocks = list(stream.blocks)
    assert b"".join(blocks) == CONTENT
    assert {len(block) for block in blocks[:-1]} == {BLOCK_BYTES}


def test_a_redirect_is_followed_and_no_credential_goes_along(server: FileServer, other: FileServer) -> None:
    server.location = other.url
    headers = {"Authorization": "Bearer secret", "Cookie": "a=b", "Range": "bytes=5-", "If-Range": '"one"'}
    assert read(server.url, headers=headers) == CONTENT[5:]
    assert server.headers[0]["Authorization"] == "Bearer secret"
    assert other.ranges == ["bytes=5-"]
    assert other.headers[0]["Host"] == other.host
    assert not {"Authorization", "Cookie"} & set(other.headers[0])


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1:{port}/",
        "https://127.0.0.1/",
        "https://10.0.0.1/",
        "https://[::1]/",
        "https://169.254.169.254/latest",
        "//127.0.0.1:{port}/",
        "https://inside.example.org/",
        "https://me:secret@files.example.org/",
        "file:///etc/passwd",
        "ftp://files.example.org/",
        "https://files.example.org:22/",
    ],
)
def test_a_redirect_to_where_nobody_may_ask_is_refused(server: FileServer, location: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)
        server.location = location.format(port=listener.getsockname()[1])

        def resolve(host: str, port: int) -> list[str]:
            return ["93.184.216.34", "192.168.1.1"] if host.startswith("inside") else [host]

        with pytest.raises(OutboundError) as refused:
            read(server.url, resolve=resolve)
        assert refused.value.code == "redirect"
        with pytest.raises(TimeoutError):
            listener.accept()


def test_a_name_that_means_another_number_after_the_redirect_is_checked_again(server: FileServer) -> None:
    numbers = iter([["127.0.0.1"], ["127.0.0.1"]])
    server.location = "https://127.0.0.1.example.org/"
    with pytest.raises(OutboundError) as refused:
        read(server.url, resolve=lambda host, port: next(numbers))
    assert refused.value.code == "redirect"


def test_redirects_in_a_circle_end(server: FileServer) -> None:
    server.location = server.url
    with pytest.raises(OutboundError) as refused:
        read(server.url)
    assert refused.value.code == "redirect"
    assert len(server.ranges) == MAX_REDIRECTS + 1


def test_one_who_says_no_more_is_left(server: FileServer) -> None:
    server.stall_after = 2 * BLOCK_BYTES
    with open_stream(server.url, stall_seconds=0.3) as stream:
        assert next(stream.blocks) + next(stream.blocks) == CONTENT[: 2 * BLOCK_BYTES]
        with pytest.raises(OutboundError) as failed:
            next(stream.blocks)
    assert failed.value.code == "too_slow"


def test_a_body_that_breaks_off_is_not_taken_for_whole(server: FileServer) -> None:
    server.cut_after = BLOCK_BYTES
    with pytest.raises(OutboundError) as failed:
        read(server.url)
    assert failed.value.code == "unreachable"


def test_what_fails_at_the_reader_stays_the_readers(server: FileServer) -> None:
    with pytest.raises(PermissionError), open_stream(server.url):
        raise PermissionError
