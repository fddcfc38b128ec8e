"""When a stream is given up."""

import asyncio

import pytest

from providers.chat.stream import Deadline
from providers.errors import ProviderUnavailable


def now() -> float:
    return asyncio.get_running_loop().time()


async def wait(deadline: Deadline, seconds: float) -> None:
    async with deadline.bound():
        await asyncio.sleep(seconds)


async def test_the_first_piece_is_waited_for_until_one_moment_whatever_else_comes() -> None:
    deadline = Deadline(now() + 0.1, silence_seconds=60)

    async def keep_waiting() -> None:
        for _ in range(100):
            await wait(deadline, 0.02)

    with pytest.raises(ProviderUnavailable, match="first piece"):
        await keep_waiting()


async def test_silence_is_counted_from_where_reading_goes_on() -> None:
    deadline = Deadline(now() + 60, silence_seconds=0.6)
    for _ in range(3):
        deadline.extend()
        await wait(deadline, 0.01)
        await asyncio.sleep(0.8)  # the reader's own time
    deadline.extend()
    with pytest.raises(ProviderUnavailable, match="silent"):
        await wait(deadline, 60)


async def test_what_is_no_event_does_not_end_the_silence() -> None:
    deadline = Deadline(now() + 60, silence_seconds=0.1)
    deadline.extend()

    async def keep_waiting() -> None:
        for _ in range(100):
            await wait(deadline, 0.02)

    with pytest.raises(ProviderUnavailable, match="silent"):
        await keep_waiting()


async def test_an_answer_that_goes_on_and_on_is_given_up() -> None:
    deadline = Deadline(now() + 60, silence_seconds=60, answer_seconds=0.1)

    async def keep_answering() -> None:
        for _ in range(100):
            deadline.extend()
            await wait(deadline, 0.02)

    with pytest.raises(ProviderUnavailable, match=r"did not end within 0.1 s"):
        await keep_answering()
