import time
from collections.abc import AsyncIterator, Callable

import pytest

from providers.chat.client import ChatClient, Timeouts
from tests.fixtures.rehearsal import RehearsalServer


@pytest.fixture
def api_key() -> str:
    return "key-that-nobody-may-see"


@pytest.fixture(scope="module")
def server(one_more_server: RehearsalServer) -> RehearsalServer:
    one_more_server.reset()
    return one_more_server


@pytest.fixture
def rehearsal(server: RehearsalServer) -> RehearsalServer:
    server.reset()
    return server


@pytest.fixture
async def make_chat(rehearsal: RehearsalServer, api_key: str) -> AsyncIterator[Callable[..., ChatClient]]:
    """Makes a Chat for the rehearsal model, or for another address; closed after the test."""
    made: list[ChatClient] = []

    def make(
        base_url: str = "", clock: Callable[[], float] = time.monotonic, **patience: float
    ) -> ChatClient:
        kept = {"connect_seconds": 2.0, "first_piece_seconds": 5.0, "silence_seconds": 5.0, "retries": 0}
        kept["first_backoff_seconds"] = 0.0
        wanted = Timeouts(**(kept | patience))
        made.append(ChatClient(base_url or rehearsal.url, api_key, "rehearsal", wanted, clock))
        return made[-1]

    yield make
    for chat in made:
        await chat.aclose()
