"""A person's own address: whatever it says, and whatever it stands for a moment later, nothing of ours is asked."""

import asyncio
import gzip
import json
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import httpx2
import openai
import pytest
from aiohttp import web
from django.core.exceptions import ValidationError

from providers.chat.client import ChatClient, Timeouts
from providers.chat.events import Piece
from providers.discovery.listing import ListingError, read_server
from providers.errors import AddressRefused, ProviderError, ProviderRefused
from providers.failures import Failure, classify
from providers.http.guarded_client import build_guard
from providers.http.guarded_http import OutboundError
from providers.models import OwnProvider
from tests.fixtures.model_servers import listed, serve
from tests.providers.test_guarded_http import BAD, OURS
from tests.providers.test_guarded_http_tls import certificate

TIMEOUTS = Timeouts(connect_seconds=2, first_piece_seconds=5, silence_seconds=5, retries=0)
SPELLINGS = [
    "localhost",
    "127.1",
    "2130706433",
    "0x7f.1",
    "017700000001",
    "0x7f000001",
    "LOCALHOST.",
    "[::1]",
]
HOSTS = [*SPELLINGS, *(f"[{number}]" if ":" in number else number for number in OURS if "%" not in number)]
OTHERS = ["https://example.org/v1?key=1", "https://example.org:8443/v1", "https://0177.0.0.1/v1"]
WORDS = b'data: {"choices": [{"delta": {"content": "Hello"}}]}\n\ndata: [DONE]\n\n'


def find_second_address() -> str:
    """The address of this machine by which others would see it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wire:
        wire.connect(("192.0.2.1", 9))  # nothing is sent
        return str(wire.getsockname()[0])


class Listener:
    """Takes whatever connects to any address of this machine on its port, and counts."""

    def __init__(self) -> None:
        self.count = 0
        self._listening = socket.create_server(("", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _address = self._listening.accept()
            except OSError:
                return
            self.count += 1  # before it closes, for whoever connected goes on then
            connection.close()

    def close(self) -> None:
        self._listening.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    listening = Listener()
    yield listening
    listening.close()


async def stream(base_url: str, key: str = "sk-of-alice-4711", *, is_guarded: bool = True) -> str:
    client = ChatClient(base_url, key, "m", TIMEOUTS, is_guarded=is_guarded)
    try:
        async with aclosing(client.stream([{"role": "user", "content": "Hello"}])) as events:
            return "".join([event.text async for event in events if isinstance(event, Piece)])
    finally:
        await client.aclose()


async def test_no_number_of_ours_is_asked_in_any_spelling(listener: Listener) -> None:
    with pytest.raises(ProviderError):  # it is there, and only the guard keeps from it
        await stream(f"http://127.0.0.1:{listener.port}/v1", is_guarded=False)
    assert listener.count == 1
    hosts = [*HOSTS, find_second_address()]
    assert len(hosts) >= 35
    for host in hosts:
        for base_url in (f"https://{host}/v1", f"http://{host}:{listener.port}/v1"):
            with pytest.raises(ProviderError) as refused:
                await stream(base_url)
            is_unknown = refused.value.said == "There is no such host."
            assert is_unknown or classify(refused.value) == Failure.FORBIDDEN, base_url
            with pytest.raises(ListingError) as unlisted:
                await read_server(base_url, "sk-1", is_guarded=True)
            codes = {"not_public", "not_https", "bad_port", "no_such_host", "bad_address"}
            assert unlisted.value.said in codes, base_url
    assert listener.count == 1


@pytest.mark.parametrize("address", [*BAD, *OTHERS], ids=repr)
def test_an_address_that_nobody_may_give_is_not_kept(address: str) -> None:
    with pytest.raises(ValidationError) as refused:
        OwnProvider(name="a", base_url=address, model="m").clean_fields(exclude=["user"])
    assert list(refused.value.message_dict) == ["base_url"]


async def test_a_name_that_is_another_number_by_then_leads_to_the_one_that_was_checked(
    listener: Listener, settings: Any
) -> None:
    settings.OWN_PROVIDERS_ALLOWED = {f"localhost:{listener.port}"}
    guard = build_guard(lambda host, port: ["192.0.2.1"])  # for documents: nobody has it
    async with openai.DefaultAioHttpClient(timeout=0.5, **guard) as client:
        with pytest.raises(httpx2.TransportError):
            await client.get(f"http://localhost:{listener.port}/v1")
    assert listener.count == 0


@pytest.mark.parametrize(
    "numbers", [["127.0.0.1"], ["93.184.216.34", "10.0.0.1"], ["::ffff:7f00:1"]], ids=str
)
async def test_a_name_that_stands_for_anything_of_ours_is_refused(numbers: list[str]) -> None:
    async with openai.DefaultAioHttpClient(**build_guard(lambda host, port: numbers)) as client:
        with pytest.raises(OutboundError) as refused:
            await client.post("https://llm.example.org/v1/chat/completions")
    assert refused.value.code == "not_public"


async def test_nobody_is_sent_on_and_no_key_goes_along(listener: Listener, settings: Any) -> None:
    seen = []

    async def move(request: web.Request) -> web.Response:
        seen.append(request.headers["Authorization"])
        raise web.HTTPTemporaryRedirect(f"http://127.0.0.1:{listener.port}/v1/chat/completions")

    with serve({"/v1/chat/completions": move, "/v1/models": move}) as url:
        settings.OWN_PROVIDERS_ALLOWED = {url.removeprefix("http://")}
        for key in ("sk-1", ""):
            with pytest.raises(ProviderRefused) as refused:
                await stream(f"{url}/v1", key)
            assert classify(refused.value) == Failure.REDIRECT
        with pytest.raises(ListingError):
            await read_server(f"{url}/v1", "sk-1", is_guarded=True)
    assert (listener.count, seen[0]) == (0, "Bearer sk-1")


async def test_of_a_server_only_a_list_of_modest_length_is_read(settings: Any) -> None:
    seen, names = [], ["m"]

    async def answer(request: web.Request) -> web.Response:
        seen.append(request.path)
        return web.json_response(listed(*names))

    pages = ("/v1/models", "/api/v0/models", "/api/tags", "/api/ps", "/api/show")
    with serve(dict.fromkeys(pages, answer)) as url:
        settings.OWN_PROVIDERS_ALLOWED = {url.removeprefix("http://")}
        server = await read_server(f"{url}/v1", is_guarded=True)
        assert [model.name for model in server.models] == ["m"]
        names += [f"{number}-{'m' * 190}" for number in range(5_000)]
        with pytest.raises(ListingError, match="endless"):
            await read_server(f"{url}/v1", is_guarded=True)
    assert seen == ["/v1/models"] * 2


async def test_names_that_are_looked_up_slowly_keep_no_thread_from_other_work() -> None:
    is_over = threading.Event()

    def resolve(host: str, port: int) -> list[str]:
        is_over.wait(20)
        return []

    async with openai.DefaultAioHttpClient(**build_guard(resolve)) as client:
        asked = [client.get(f"https://{number}.example.org/") for number in range(40)]
        waiting = [asyncio.create_task(request) for request in asked]
        await asyncio.sleep(0.1)
        try:
            assert await asyncio.wait_for(asyncio.to_thread(lambda: "done"), 5) == "done"
        finally:
            is_over.set()
            await asyncio.gather(*waiting, return_exceptions=True)


def test_an_address_that_push_services_may_have_is_none_for_a_model(settings: Any) -> None:
    settings.OUTBOUND_ALLOWED = {"nas.example.org:8080"}
    own = OwnProvider(name="a", base_url="http://nas.example.org:8080/v1", model="m")
    with pytest.raises(ValidationError):
        own.clean_fields(exclude=["user"])
    settings.OWN_PROVIDERS_ALLOWED = settings.OUTBOUND_ALLOWED
    own.clean_fields(exclude=["user"])


async def test_pieces_come_as_they_are_said_and_what_is_packed_is_not_unpacked(settings: Any) -> None:
    is_packed, has_first, packed = False, asyncio.Event(), []

    async def answer(request: web.Request) -> web.StreamResponse:
        assert request.headers["Accept-Encoding"] == "identity"
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        if is_packed:
            packed.append(request)
            response.headers["Content-Encoding"] = "gzip"
        await response.prepare(request)
        await response.write(gzip.compress(WORDS) if is_packed else WORDS.split(b"\n\n")[0] + b"\n\n")
        while not is_packed and not has_first.is_set():
            await asyncio.sleep(0.01)
        await response.write(b"" if is_packed else b"data: [DONE]\n\n")
        return response

    with serve({"/v1/chat/completions": answer}) as url:
        settings.OWN_PROVIDERS_ALLOWED = {url.removeprefix("http://")}
        retrying = replace(TIMEOUTS, retries=2, first_backoff_seconds=0.01)
        client = ChatClient(f"{url}/v1", "", "m", retrying, is_guarded=True)
        async with aclosing(client.stream([{"role": "user", "content": "Hello"}])) as events:
            assert await anext(aiter(events)) == Piece("Hello")
            has_first.set()
            _rest = [event async for event in events]
        is_packed = True
        with pytest.raises(ProviderError, match="packed"):
            await anext(client.stream([{"role": "user", "content": "Hello"}]))
        await client.aclose()
    assert len(packed) == 1


class Teller(BaseHTTPRequestHandler):
    """Lists a model, and keeps by which name it was asked."""

    asked: ClassVar[list[str | None]] = []

    def do_GET(self) -> None:
        self.asked.append(self.headers["Host"])
        body = json.dumps({"data": [{"id": "m"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing."""


@pytest.fixture
async def secure(tmp_path: Path, settings: Any) -> AsyncIterator[tuple[int, ssl.SSLContext]]:
    """The port of a server on this machine with the certificate of llm.example.org, and who trusts that."""
    path = certificate(tmp_path, "llm.example.org")
    server = HTTPServer(("127.0.0.1", 0), Teller)
    Teller.asked.clear()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    names = ("llm.example.org", "other.example.org")
    settings.OWN_PROVIDERS_ALLOWED = {f"{name}:{server.server_port}" for name in names}
    yield server.server_port, ssl.create_default_context(cafile=str(path))
    server.shutdown()
    server.server_close()


async def test_the_host_is_asked_by_its_own_name_and_certificate(
    secure: tuple[int, ssl.SSLContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    port, trusting = secure
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    guard = build_guard(lambda host, port: ["127.0.0.1"])
    async with openai.DefaultAioHttpClient(verify=trusting, timeout=5, **guard) as client:
        assert (await client.get(f"https://llm.example.org:{port}/v1/models")).status_code == 200
        assert Teller.asked == [f"llm.example.org:{port}"]
        with pytest.raises(httpx2.TransportError):
            await client.get(f"https://other.example.org:{port}/v1/models")
    assert len(Teller.asked) == 1


async def test_an_address_refused_is_no_failure_of_the_server() -> None:
    with pytest.raises(AddressRefused) as refused:
        await stream("https://169.254.169.254/v1")
    assert "not on the public Internet" in refused.value.said
