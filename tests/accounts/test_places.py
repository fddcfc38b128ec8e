"""Places at work: how many, whose, and who is next."""

import asyncio

from accounts.limits.places import Places


async def served(places: Places, whose: str, log: list[str]) -> None:
    async with places.at(whose):
        log.append(whose)
        await asyncio.sleep(0)


async def test_so_many_in_all_and_fewer_of_each() -> None:
    places = Places(3, 2)
    await places.acquire("alice")
    await places.acquire("alice")
    third = asyncio.create_task(places.acquire("alice"))
    await asyncio.sleep(0)
    assert not third.done()
    await places.acquire("bob")
    fourth = asyncio.create_task(places.acquire("carol"))
    await asyncio.sleep(0)
    assert not fourth.done()
    places.release("bob")
    await fourth
    assert not third.done()
    places.release("alice")
    await third


async def test_who_waits_is_served_person_after_person() -> None:
    places, log = Places(1, 1), list[str]()
    await places.acquire("someone")
    crowd = [
        asyncio.create_task(served(places, whose, log)) for whose in ["alice"] * 4 + ["bob"] * 2 + ["carol"]
    ]
    await asyncio.sleep(0)
    places.release("someone")
    await asyncio.gather(*crowd)
    assert log == ["alice", "bob", "carol", "alice", "bob", "alice", "alice"]


async def test_who_leaves_takes_no_place_with_them() -> None:
    places = Places(1, 1)
    await places.acquire("alice")
    gone, served_and_gone = (asyncio.create_task(places.acquire("bob")) for _ in range(2))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.sleep(0)
    places.release("alice")  # bob's second is served, and cancelled before it knows
    served_and_gone.cancel()
    await asyncio.gather(gone, served_and_gone, return_exceptions=True)
    await asyncio.wait_for(places.acquire("carol"), 1)
    places.release("carol")
    assert not places._busy
    assert not places._waiting


async def test_a_place_that_comes_free_while_somebody_leaves_goes_to_the_next() -> None:
    places, log = Places(1, 1), list[str]()
    await places.acquire("alice")
    gone, *_others = [asyncio.create_task(served(places, whose, log)) for whose in ["bob", "bob", "carol"]]
    await asyncio.sleep(0)
    gone.cancel()
    places.release("alice")  # before the task that was cancelled knows it
    await asyncio.wait(_others, timeout=1)
    assert log == ["bob", "carol"]
    assert not places._busy
    assert not places._waiting
