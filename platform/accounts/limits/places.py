"""The process's few places for work, which people take in turn."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from django.conf import settings

from jobs.background import one_per_loop


class Places:
    """A fair semaphore: at most `most` places are taken at once, and at most `most_each` by one person.

    The persons who wait are served in turn, and each one's waiters first in, first out: a hundred requests of one
    person do not hold up another's. A person is any string, such as `user:7` or `address:::1`.
    """

    def __init__(self, most: int, most_each: int) -> None:
        self._most, self._most_each = most, most_each
        self._busy: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}  # in the order in which they are served

    async def acquire(self, whose: str) -> None:
        """Take a place for the person, waiting until one is free."""
        if whose not in self._waiting and self._is_free(whose):
            self._busy[whose] += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(whose, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it was given a place at the same moment
                self.release(whose)
            else:
                waiting = self._waiting.get(whose, deque())
                if turn in waiting:
                    waiting.remove(turn)
                if not waiting:
                    self._waiting.pop(whose, None)
            raise

    def release(self, whose: str) -> None:
        """Free the person's place, and give it to the next person in the queue who may have one."""
        self._busy[whose] -= 1
        if not self._busy[whose]:
            del self._busy[whose]
        for person in list(self._waiting):
            if self._is_free(person) and self._serve(person):
                return

    @asynccontextmanager
    async def at(self, whose: str) -> AsyncIterator[None]:
        """Hold a place for the person within the block, waiting until one is free."""
        await self.acquire(whose)
        try:
            yield
        finally:
            self.release(whose)

    def _is_free(self, whose: str) -> bool:
        return self._busy.total() < self._most and self._busy[whose] < self._most_each

    def _serve(self, whose: str) -> bool:
        """Give a place to the person's first waiter; return False if all of theirs have been cancelled."""
        turns = self._waiting.pop(whose)
        while turns:
            turn = turns.popleft()
            if not turn.done():
                turn.set_result(None)
                self._busy[whose] += 1
                if turns:
                    self._waiting[whose] = turns  # behind all others
                return True
        return False


@one_per_loop
def _get_places() -> dict[str, Places]:
    return {kind: Places(*counts) for kind, counts in settings.AT_WORK.items()}


def places(kind: str) -> Places:
    """Return the running event loop's places of a kind: `visits` of people, or `turns` of their companions."""
    return _get_places()[kind]
