from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from providers.chat import Chat, Patience
from providers.rehearsal.running import RehearsalServer


@pytest.fixture
def api_key() -> str:
    return "key-that-nobody-may-see"


@pytest.fixture(scope="module")
def server() -> Iterator[RehearsalServer]:
    with RehearsalServer() as running:
        yield running


@pytest.fixture
def rehearsal(server: RehearsalServer) -> RehearsalServer:
    server.reset()
    return server


@pytest.fixture
async def make_chat(rehearsal: RehearsalServer, api_key: str) -> AsyncIterator[Callable[..., Chat]]:
    """Makes a Chat for the rehearsal model, or for another address; closed after the test."""
    made: list[Chat] = []

    async def no_wait(seconds: float) -> None:
        del seconds

    def make(base_url: str = "", **patience: float) -> Chat:
        kept = {"connect_seconds": 2.0, "first_piece_seconds": 5.0, "silence_seconds": 5.0, "retries": 0}
        wanted = Patience(**(kept | patience))
        made.append(Chat(base_url or rehearsal.url, api_key, "rehearsal", wanted, sleep=no_wait))
        return made[-1]

    yield make
    for chat in made:
        await chat.aclose()
