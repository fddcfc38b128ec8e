"""When a stream is given up."""

import asyncio

import pytest

from providers.clock import Clock
from providers.errors import ProviderUnavailable


def now() -> float:
    return asyncio.get_running_loop().time()


async def wait(clock: Clock, seconds: float) -> None:
    with clock:
        await asyncio.sleep(seconds)


async def test_the_first_piece_is_waited_for_until_one_moment_whatever_else_comes() -> None:
    clock = Clock(now() + 0.1, silence_seconds=60)

    async def hear_empty_events() -> None:
        for _ in range(100):
            await wait(clock, 0.02)
            clock.go_on(has_begun=False)

    with pytest.raises(ProviderUnavailable, match="first piece"):
        await hear_empty_events()


async def test_silence_is_counted_from_where_reading_goes_on() -> None:
    clock = Clock(now() + 60, silence_seconds=0.6)
    for _ in range(3):
        clock.go_on(has_begun=True)
        await wait(clock, 0.01)
        await asyncio.sleep(0.8)  # the reader's own time, in which the timer runs out
    with pytest.raises(ProviderUnavailable, match="silent"):
        await wait(clock, 60)


async def test_what_is_no_event_does_not_end_the_silence() -> None:
    clock = Clock(now() + 60, silence_seconds=0.1)
    clock.go_on(has_begun=True)

    async def hear_comments() -> None:
        for _ in range(100):
            await wait(clock, 0.02)

    with pytest.raises(ProviderUnavailable, match="silent"):
        await hear_comments()


async def test_a_cancellation_from_outside_stays_one_even_when_it_is_late_as_well() -> None:
    clock = Clock(now() + 0.05, silence_seconds=60)
    waiting = asyncio.create_task(wait(clock, 60))
    await asyncio.sleep(0)
    asyncio.get_running_loop().call_at(now() + 0.05, waiting.cancel)
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_what_was_given_up_leaves_no_cancellation_behind() -> None:
    clock = Clock(now() + 0.01, silence_seconds=60)
    with pytest.raises(ProviderUnavailable):
        await wait(clock, 60)
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
