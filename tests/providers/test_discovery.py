"""Which servers are found on this machine, told apart by what they answer, with their models; and what bad ones are."""

import asyncio
import threading
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiohttp import web

from config.up.ports import find_free_port
from providers.discovery import listing
from providers.discovery.hosted import find_hosted, load_hosted
from providers.discovery.listing import MAX_AT_ONCE, ListingError, find_servers, read_server
from providers.discovery.models import Kind, Model
from tests.fixtures.model_servers import listed, llama_cpp, lm_studio, ollama, serve

QWEN = {"family": "qwen3", "size": 5_200_000_000, "capabilities": ["completion", "tools"], "context": 4096}
BGE = {"family": "bert", "size": 1_200_000_000, "capabilities": ["embedding"]}
STUDIO = [
    {"id": "text-embedding-nomic", "type": "embeddings", "state": "loaded", "max_context_length": 2048},
    {"id": "qwen2-vl", "type": "vlm", "arch": "qwen2_vl", "quantization": "4bit", "state": "not-loaded",
     "max_context_length": 32768},
    {"id": "llama-8b", "type": "llm", "arch": "llama", "quantization": "Q4_K_M", "state": "loaded",
     "max_context_length": 131072, "loaded_context_length": 8192},
]  # fmt: skip


@pytest.mark.parametrize(
    ("pages", "kind", "models"),
    [
        (
            ollama(bge_m3=BGE, qwen3__8b=QWEN),
            Kind.OLLAMA,
            [Model("qwen3:8b", "qwen3 · 8.2B · Q4_K_M", 5_200_000_000, 4096, is_loaded=True)],
        ),
        (
            ollama(is_old=True, nomic=BGE, qwen3__8b=QWEN),
            Kind.OLLAMA,
            [Model("qwen3:8b", "qwen3 · 8.2B · Q4_K_M", 5_200_000_000, 4096, is_loaded=True)],
        ),
        (
            lm_studio(*STUDIO),
            Kind.LM_STUDIO,
            [
                Model("llama-8b", "llama · Q4_K_M", 0, 8192, is_loaded=True),
                Model("qwen2-vl", "qwen2_vl · 4bit", 0, 32768),
            ],
        ),
        (llama_cpp("small", 8192), Kind.LLAMA_CPP, [Model("small", "", 5_020_000_000, 8192, is_loaded=True)]),
        (
            {"/v1/models": listed("Qwen/Qwen3-8B", owned_by="vllm", max_model_len=40960)},
            Kind.VLLM,
            [Model("Qwen/Qwen3-8B", "", 0, 40960, is_loaded=True)],
        ),
        (  # as hosted services list theirs, Together's without an object around
            {"/v1/models": [{"id": "text-embedding-3-large"}, {"id": "gpt-5", "context_length": 400000}]},
            Kind.OTHER,
            [Model("gpt-5", "", 0, 400000)],
        ),
    ],
)
async def test_a_server_is_told_by_what_it_answers_and_lists_what_can_talk(
    pages: dict[str, object], kind: Kind, models: list[Model]
) -> None:
    with serve(pages) as address:
        server = await read_server(f"{address}/v1/")
    assert (server.kind, list(server.models), server.trouble) == (kind, models, "")
    assert server.base_url == f"{address}/v1"


async def test_all_usual_ports_are_asked_at_once_and_kith_itself_is_not_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    both = threading.Barrier(2)

    async def meet(_request: web.Request) -> web.Response:
        """Answers once the other is asked too."""
        await asyncio.to_thread(both.wait, 30)
        return web.json_response(listed("another", owned_by="vllm"))

    async def hang(_request: web.Request) -> web.Response:
        await asyncio.sleep(60)
        return web.Response()

    monkeypatch.setattr(listing, "LOCAL_TIMEOUT_SECONDS", 2.0)
    with ExitStack() as stack:
        pages = (
            {"/v1/models": meet},
            {"/v1/models": listed("mira-3f2a", owned_by="kith")},  # as its rehearsal model answers
            {"/v1/models": listed("own", owned_by="vllm")},
            {"/v1/models": meet},
            {"/v1/models": hang},
        )
        ports = [urlsplit(stack.enter_context(serve(each))).port or 0 for each in pages]
        wanted = dict.fromkeys([*ports, find_free_port()], Kind.OLLAMA)
        found = await find_servers(own_port=ports[2], ports=wanted)
    assert [urlsplit(server.base_url).port for server in found] == [ports[0], ports[3], ports[4]]
    assert [(server.kind, bool(server.models)) for server in found] == [
        (Kind.VLLM, True),
        (Kind.VLLM, True),
        (Kind.OLLAMA, False),
    ]
    assert "did not answer within 2 seconds" in found[2].trouble


async def redirect(_request: web.Request) -> web.Response:
    raise web.HTTPFound("https://elsewhere.test/v1/models")


async def refuse(_request: web.Request) -> web.Response:
    raise web.HTTPUnauthorized


async def fail(_request: web.Request) -> web.Response:
    raise web.HTTPBadGateway


async def flood(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    for _ in range(1000):
        await response.write(b" " * 100_000)
    return response


async def page(_request: web.Request) -> web.Response:
    return web.Response(text="<!doctype html><p>Router login", content_type="text/html")


@pytest.mark.parametrize(
    ("pages", "sentence"),
    [
        ({"/v1/models": page}, "it is not a model server"),
        ({"/v1/models": {"status": "ok"}}, "it is not a model server"),
        ({"/v1/models": {"data": "many"}}, "it is not a model server"),
        ({"/": page}, "it is not a model server"),
        ({"/v1/models": flood}, "it is not a model server"),
        ({"/v1/models": redirect}, "redirects to https://elsewhere.test/v1/models"),
        ({"/v1/models": refuse}, "requires a valid key"),
        ({"/v1/models": fail}, "answered with an error (502)"),
    ],
)
async def test_what_is_no_model_server_is_told_in_one_sentence(
    pages: dict[str, object], sentence: str
) -> None:
    with serve(pages) as address:
        with pytest.raises(ListingError) as raised:
            await read_server(f"{address}/v1", "key")
        port = urlsplit(address).port or 0
        (found,) = await find_servers(own_port=0, ports={port: Kind.VLLM})
    assert sentence in str(raised.value.sentence)
    assert (found.kind, found.models, found.trouble) == (Kind.OTHER, (), str(raised.value.sentence))


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/v1", "http://no-such-host.invalid/v1"])
async def test_where_nothing_listens_it_says_so(address: str) -> None:
    with pytest.raises(ListingError) as raised:
        await read_server(address)
    assert "Nothing answers at" in str(raised.value.sentence)


@pytest.mark.parametrize("address", ["http://[::1", "ftp://somewhere/v1", "http://a b/v1"])
async def test_what_is_no_address_is_told(address: str) -> None:
    with pytest.raises(ListingError):
        await read_server(address)


@pytest.mark.parametrize(
    ("pages", "sentence"),
    [
        (ollama(), "Ollama answers but has no model yet"),
        ({"/v1/models": listed()}, "has no model yet"),
        (ollama(bge_m3=BGE), "none of its models can chat"),
    ],
)
async def test_a_server_without_a_model_for_talk_says_what_to_do(
    pages: dict[str, object], sentence: str
) -> None:
    with serve(pages) as address:
        server = await read_server(f"{address}/v1")
    assert not server.models
    assert sentence in server.trouble


async def test_a_thousand_models_are_listed_and_what_is_no_name_is_left_out() -> None:
    names = [f"model-{number}" for number in range(1000)]
    odd = [None, {"id": 7}, {"id": ""}, {"id": "a\x00b"}, {"id": "x" * 300}, {"id": "model-0"}]
    data = [*odd, *({"id": name, "context_length": "many"} for name in names)]
    with serve({"/v1/models": {"data": data}}) as address:
        server = await read_server(f"{address}/v1")
    assert [model.name for model in server.models] == names


def test_hosted_services_are_known_by_name_and_their_addresses_are_complete() -> None:
    services = load_hosted()
    assert len({service.base_url for service in services}) == len(services) >= 8
    for service in services:
        parts = urlsplit(service.base_url)
        assert (parts.scheme, parts.query, service.base_url[-1] != "/") == ("https", "", True)
        assert "chat" in service.supports
        assert find_hosted(f"{service.base_url}/") is service
    assert find_hosted("http://127.0.0.1:8000/v1") is None


async def test_details_are_asked_for_a_few_at_a_time() -> None:
    models = {
        f"m{number}": {"family": "llama", "size": 1, "capabilities": ["completion"]} for number in range(30)
    }
    pages, under_way, most = ollama(**models), 0, 0
    show: Any = pages["/api/show"]

    async def count(request: web.Request) -> web.StreamResponse:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.02)
        under_way -= 1
        answer: web.StreamResponse = await show(request)
        return answer

    with serve({**pages, "/api/show": count}) as address:
        server = await read_server(f"{address}/v1")
    assert len(server.models) == 30
    assert 1 < most <= MAX_AT_ONCE
