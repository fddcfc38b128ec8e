import base64
import json
import struct
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import httpx2
import numpy as np
import pytest
from aiohttp import web

from providers.embedding.minilm import MiniLM
from providers.embedding.remote import MAX_TOKENS, RemoteEmbedder
from providers.embedding.selection import get_embedder
from providers.errors import ProviderRefused, ProviderUnavailable
from providers.failures import classify
from tests.fixtures.model_servers import serve as serve_routes
from tests.fixtures.rehearsal import RehearsalServer

Serve = Callable[..., RemoteEmbedder]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """A server that gives the same answer to whatever is asked, and an embedder for it."""
    servers: list[HTTPServer] = []

    def start(answer: Any, *, status: int = 200, kind: str = "application/json") -> RemoteEmbedder:
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        server = HTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        return RemoteEmbedder(f"http://127.0.0.1:{server.server_port}/v1", "secret-key", "some-model")

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def data(*vectors: Any) -> dict[str, Any]:
    return {"data": [{"index": at, "embedding": vector} for at, vector in enumerate(vectors)]}


def test_texts_of_any_number_are_embedded_in_batches(server: RehearsalServer) -> None:
    embedder = RemoteEmbedder(server.url, "", "rehearsal-embedding")
    vectors = embedder.embed_documents([f"Letter number{at} from Lena" for at in range(150)])
    assert vectors.shape == (150, embedder.width) == (150, 256)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(150), abs=1e-5)
    assert int((vectors @ embedder.embed_queries(["letter number77 from lena"])[0]).argmax()) == 77


def test_a_long_text_is_embedded_whole(server: RehearsalServer) -> None:
    embedder = RemoteEmbedder(server.url, "", "rehearsal-embedding")
    text = "Rain fell on the roof. " * 400 + "A violin played."
    windows = embedder.windows(text)
    assert len(windows) > 2
    assert windows[-1].endswith("A violin played.")
    plain, ending = embedder.embed_documents([text.removesuffix("A violin played."), text])
    asked = embedder.embed_queries(["violin"])[0]
    assert ending @ asked > plain @ asked


def test_windows_cover_a_text_without_spaces(server: RehearsalServer) -> None:
    text = "".join(chr(0x4E00 + at) for at in range(1500))
    windows = RemoteEmbedder(server.url, "", "m").windows(text)
    assert set("".join(windows)) == set(text)
    assert all(len(window) <= MAX_TOKENS for window in windows)


def test_vectors_in_base64_are_read_and_put_in_order(serve: Serve) -> None:
    packed = base64.b64encode(struct.pack("<2f", 3.0, 4.0)).decode()
    assert serve(data(packed)).embed_queries(["x"])[0].tolist() == pytest.approx([0.6, 0.8])
    turned = {"data": [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}]}
    embedder = serve(turned)
    assert embedder.embed_documents(["a", "b"]).tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (data([1.0, 0.0], [1.0, 0.0]), "2 vectors for 1 texts"),
        (data(), "0 vectors for 1 texts"),
        (data([float("nan"), 0.0]), "NaN"),
        (data([[1.0, 0.0]]), "shape"),
        (data(["a", "b"]), "something else than vectors"),
        (data("%%%"), "something else than vectors"),
        ({"data": [{}]}, "something else than vectors"),
        ({"object": "list"}, "no data"),
        (b"<html>Sign in", "No JSON"),
    ],
)
def test_a_wrong_answer_is_refused_in_clear_words(serve: Serve, answer: Any, words: str) -> None:
    embedder = serve(answer)
    with pytest.raises(ProviderRefused, match=words):
        embedder.embed_queries(["x"])


def test_a_server_that_fails_is_unavailable_with_its_words_and_without_the_key(serve: Serve) -> None:
    body = {"error": {"message": "secret-key: the model is loading"}}
    with pytest.raises(ProviderUnavailable) as caught:
        serve(body, status=503).embed_queries(["x"])
    assert caught.value.said == "…: the model is loading"


def test_a_refusal_is_one(serve: Serve) -> None:
    with pytest.raises(ProviderRefused) as caught:
        serve({"error": {"message": "No such model"}}, status=404).embed_queries(["x"])
    assert caught.value.said == "No such model"


@pytest.mark.parametrize(("key", "is_followed"), [("secret-key", False), ("", True)])
def test_a_redirect_is_followed_only_where_there_is_no_key(key: str, is_followed: bool) -> None:
    asked: list[str] = []

    async def redirect(request: web.Request) -> web.Response:
        return web.Response(status=307, headers={"Location": "/elsewhere"})

    async def answer(request: web.Request) -> web.Response:
        asked.append(await request.text())
        return web.json_response(data([1.0, 0.0]))

    with serve_routes({"/v1/embeddings": redirect, "/elsewhere": answer}) as address:
        embedder = RemoteEmbedder(f"{address}/v1", key, "m")
        if is_followed:
            assert embedder.embed_queries(["x"]).shape == (1, 2)
        else:
            with pytest.raises(ProviderRefused) as caught:
                embedder.embed_queries(["x"])
            assert classify(caught.value) == "redirect"
    assert len(asked) == is_followed


def test_a_server_that_is_not_there_is_unavailable() -> None:
    timeout = httpx2.Timeout(1.0)
    with pytest.raises(ProviderUnavailable):
        RemoteEmbedder("http://127.0.0.1:9/v1", "", "m", timeout=timeout).embed_queries(["x"])


@pytest.mark.django_db
def test_the_settings_choose_the_embedder(server: RehearsalServer, settings: Any) -> None:
    settings.EMBEDDING = {"base_url": "", "api_key": "", "model": ""}
    assert isinstance(get_embedder(), MiniLM)
    assert get_embedder() is get_embedder()
    settings.EMBEDDING = {"base_url": server.url, "api_key": "", "model": "rehearsal-embedding"}
    chosen = get_embedder()
    assert isinstance(chosen, RemoteEmbedder)
    assert chosen.width == 256
