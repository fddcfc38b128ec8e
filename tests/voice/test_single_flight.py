"""What several ask for at once is made once; it is given up only when the last of them has left."""

import asyncio

import pytest

from voice.provider_calls import make_once


class Work:
    """Something that takes until it is told to end."""

    def __init__(self) -> None:
        self.begun, self.left = 0, 0
        self.may_end = asyncio.Event()

    async def make(self) -> str:
        self.begun += 1
        try:
            await self.may_end.wait()
        except asyncio.CancelledError:
            self.left += 1
            raise
        return f"made {self.begun}"

    def asked(self, count: int) -> list[asyncio.Task[str]]:
        return [asyncio.create_task(make_once("key", self.make)) for _ in range(count)]


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_it_is_made_once_for_all_who_ask_meanwhile() -> None:
    work = Work()
    asked = work.asked(3)
    await settle()
    work.may_end.set()
    assert await asyncio.gather(*asked) == ["made 1"] * 3
    assert await make_once("key", work.make) == "made 2"


async def test_who_stays_has_it_when_another_leaves() -> None:
    work = Work()
    leaving, staying = work.asked(2)
    await settle()
    leaving.cancel()
    await settle()
    work.may_end.set()
    assert await staying == "made 1"
    assert work.left == 0


async def test_when_all_leave_it_ends_and_whoever_comes_after_has_it_made_anew() -> None:
    work = Work()
    asked = work.asked(2)
    await settle()
    for one in asked:
        one.cancel()
    await settle()
    work.may_end.set()
    assert work.left == 1
    assert await make_once("key", work.make) == "made 2"


async def test_all_hear_of_its_failure() -> None:
    async def fail() -> str:
        await asyncio.sleep(0)
        raise ValueError("no")

    asked = [asyncio.create_task(make_once("other", fail)) for _ in range(2)]
    for one in asked:
        with pytest.raises(ValueError, match="no"):
            await one
