"""Which embedder is in force: the environment's, else the database's first, else the built-in one; and who stands in."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from cryptography.fernet import Fernet

from providers.availability import MAX_FAILURES
from providers.embedding.minilm import MiniLM
from providers.embedding.selection import get_embedder, get_embedders
from providers.errors import ProviderBusy, ProviderRefused, ProviderUnavailable
from providers.models import Provider
from providers.selection import forget_providers
from tests.memory.conftest import EmbeddingServer

pytestmark = pytest.mark.django_db
KEY = "sk-of-the-operator-4711"


@pytest.fixture
def servers(settings: Any) -> Iterator[list[EmbeddingServer]]:
    """Three servers of embeddings; the environment names none."""
    settings.EMBEDDING = {"base_url": "", "max_tokens": 300}
    with ExitStack() as stack:
        started = [stack.enter_context(EmbeddingServer()) for _ in range(3)]
        for server in started:
            threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield started
        for server in started:
            server.shutdown()


def add(server: EmbeddingServer, order: int = 0, model: str = "m", key: str = "", **fields: Any) -> Provider:
    address = f"http://127.0.0.1:{server.server_port}/v1"
    row = Provider(name=model, capability="embedding", base_url=address, model=model, order=order, **fields)
    row.api_key = key
    row.full_clean()
    row.save()
    forget_providers()
    return row


def change(row: Provider, **fields: Any) -> None:
    for name, value in fields.items():
        setattr(row, name, value)
    row.save()
    forget_providers()


def embed(text: str = "Tea.") -> None:
    embedder = get_embedder()
    assert embedder is not None
    embedder.embed_queries([text])


def asked(servers: list[EmbeddingServer]) -> list[int]:
    return [len(server.bodies) for server in servers]


def test_the_first_active_row_comes_before_the_built_in_one_and_after_the_environment(
    servers: list[EmbeddingServer], settings: Any
) -> None:
    assert isinstance(get_embedder(), MiniLM)
    add(servers[1], order=2, model="second", context_tokens=8192)
    first = add(servers[0], order=1, query_prefix="query: ", document_prefix="passage: ")
    add(servers[2], order=0, model="off", is_active=False)
    known = get_embedders()
    assert [each.model for each in known] == ["m", "second", "all-MiniLM-L6-v2"]
    assert [each.max_tokens for each in known[:2]] == [300, 8192]
    embed()
    known[0].embed_documents(["Milk."])
    assert [body["input"] for body in servers[0].bodies] == [["query: Tea."], ["passage: Milk."]]
    assert get_embedder() is known[0]
    settings.EMBEDDING = {"base_url": "http://127.0.0.1:9/v1", "api_key": "", "model": "environment"}
    assert [each.model for each in get_embedders()] == ["environment", "m", "second", "all-MiniLM-L6-v2"]
    settings.EMBEDDING = {}
    change(first, is_active=False)
    assert [each.model for each in get_embedders()] == ["second", "all-MiniLM-L6-v2"]


def test_who_is_asked_is_asked_as_its_row_says_now(servers: list[EmbeddingServer]) -> None:
    row = add(servers[0], key=KEY)
    embed()
    change(row, api_key="another")
    embed()
    change(row, base_url=f"http://127.0.0.1:{servers[1].server_port}/v1", api_key="")
    embed()
    assert (servers[0].keys, servers[1].keys) == ([KEY, "another"], ["none"])


def test_one_whose_key_is_lost_is_passed_over(servers: list[EmbeddingServer], settings: Any) -> None:
    add(servers[0], key=KEY)
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    add(servers[1], order=1)
    embed()
    assert asked(servers) == [0, 1, 0]


def test_where_a_server_fails_only_one_of_the_same_model_and_manner_stands_in(
    servers: list[EmbeddingServer],
) -> None:
    first, other, like = servers
    add(first, order=0, query_prefix="query: ")
    add(other, order=1)  # the same model, asked in another manner
    add(like, order=2, query_prefix="query: ")
    first.breaks_after = 0
    for _ in range(MAX_FAILURES + 2):
        embed()
    assert asked(servers) == [MAX_FAILURES, 0, MAX_FAILURES + 2]
    like.breaks_after = 0
    for _ in range(MAX_FAILURES):
        with pytest.raises(ProviderUnavailable, match="out of order"):
            embed()
    with pytest.raises(ProviderBusy):
        embed()
    assert other.bodies == []


def test_a_text_that_is_refused_is_asked_of_no_other_and_opens_no_breaker(
    servers: list[EmbeddingServer],
) -> None:
    add(servers[0])
    add(servers[1], order=1)
    for _ in range(MAX_FAILURES + 1):
        with pytest.raises(ProviderRefused, match="this is refused"):
            embed("REFUSED")
    assert asked(servers) == [MAX_FAILURES + 1, 0, 0]
