import asyncio
from typing import Any

import pytest
from pytest_django import Settings
from uvicorn import Config
from uvicorn.server import ServerState

from accounts.errors import GateError
from accounts.limits.admission import Visit, address_of, shares, step_aside, take, visiting
from config.http.protocol import PatientProtocol
from jobs.background import get_redis

AWAY = "redis://127.0.0.1:1/0"


@pytest.fixture(autouse=True)
def _few(settings: Settings) -> None:
    settings.AT_ONCE = {"requests": 3, "streams": 1}
    settings.AT_WORK = {"visits": (4, 2)}


@pytest.mark.parametrize("redis_url", [None, AWAY], ids=["with Redis", "while Redis is away"])
async def test_so_many_requests_at_once_and_the_next_when_one_has_ended(
    settings: Settings, redis_url: str | None
) -> None:
    settings.REDIS_URL = redis_url or settings.REDIS_URL
    visits = [Visit("192.0.2.1") for _ in range(3)]
    for one in visits:
        await one.begin(None)
        one.step_aside()
    with pytest.raises(GateError) as caught:
        await Visit("192.0.2.1").begin(None)
    assert (caught.value.code, caught.value.status) == ("too_many_requests_at_once", 429)
    await Visit("192.0.2.2").begin(None)
    await visits[0].end()
    await Visit("192.0.2.1").begin(None)


async def test_another_process_counts_as_well_and_what_it_held_ends_with_it(settings: Settings) -> None:
    streaming = Visit("192.0.2.3")
    await streaming.take("streams")
    shares()._here.clear()  # as another process, which knows what is in Redis and nothing else
    with pytest.raises(GateError):
        await Visit("192.0.2.3").take("streams")
    await get_redis().zadd(streaming.shares[0].key, {streaming.shares[0].id: 1})  # long over
    await Visit("192.0.2.3").take("streams")


async def test_two_are_worked_on_and_the_third_when_one_waits_for_something_else() -> None:
    first, second, third = (Visit("192.0.2.4") for _ in range(3))
    await first.begin(7)
    await second.begin(7)
    waiting = asyncio.create_task(third.begin(7))
    await asyncio.sleep(0)
    for _ in range(20):
        await asyncio.sleep(0.01)
    assert not waiting.done()
    first.step_aside()
    await waiting
    for one in (first, second, third):
        await one.end()


async def test_what_a_visit_held_is_given_back_when_it_ends() -> None:
    async with visiting("192.0.2.5") as visit:
        await visit.begin(None)
        await take("streams")
        step_aside()
    assert not shares()._held
    await take("streams")  # outside of a visit nothing is counted
    await visit.take("streams")  # nor after it
    assert not shares()._held


@pytest.mark.parametrize(
    ("forwarded", "proxies", "address"),
    [
        ([], 0, "192.0.2.9"),
        ([b"198.51.100.7"], 0, "192.0.2.9"),
        ([b"198.51.100.7"], 1, "198.51.100.7"),
        ([b"203.0.113.1, 198.51.100.7"], 1, "198.51.100.7"),
        ([b"203.0.113.1", b"198.51.100.7"], 2, "203.0.113.1"),
        ([b"2001:db8:1:2:3::4"], 1, "2001:db8:1:2::/64"),
        ([b"::ffff:198.51.100.7"], 1, "198.51.100.7"),
        ([b"made up"], 1, "unknown"),
        ([], 1, "192.0.2.9"),
    ],
)
def test_an_address_is_told_by_the_proxies_that_are_counted(
    settings: Settings, forwarded: list[bytes], proxies: int, address: str
) -> None:
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = proxies
    headers: list[Any] = [(b"x-forwarded-for", one) for one in forwarded]
    assert address_of({"headers": headers, "client": ("192.0.2.9", 4000)}) == address


class Line(asyncio.Transport):
    """A connection from an address."""

    def __init__(self, address: str) -> None:
        super().__init__({"peername": (address, 4000)})
        self.is_cut = False

    def abort(self) -> None:
        self.is_cut = True

    def close(self) -> None:
        """Nothing is to be closed."""


@pytest.mark.parametrize(
    ("first", "second", "is_cut"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8:1:2::1", "2001:db8:1:2:3::4", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
    ],
)
async def test_an_address_has_so_many_connections_and_of_ipv6_its_network(
    settings: Settings, first: str, second: str, is_cut: bool
) -> None:
    settings.OF_ONE_ADDRESS = {"connections": 1}
    lines = [Line(first), Line(second)]
    protocols = [PatientProtocol(Config(lambda: None, lifespan="off"), ServerState(), {}) for _ in lines]
    for protocol, line in zip(protocols, lines, strict=True):
        protocol.connection_made(line)
    assert [line.is_cut for line in lines] == [False, is_cut]
    for protocol in protocols:
        protocol.connection_lost(None)
