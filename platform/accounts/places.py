"""Places at work in a process: few in all, fewer for each person; who waits is served person after person."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary

from django.conf import settings


class Places:
    """Up to `most` at work, and up to `most_each` of one person.

    Of those who wait, the next is the first of the person who has waited longest since one of theirs was served: whoever
    asks a hundred things at once has their answers one after the other, and everybody else has theirs between.
    """

    def __init__(self, most: int, most_each: int) -> None:
        self._most, self._most_each = most, most_each
        self._busy: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}  # in the order in which they are served

    async def acquire(self, whose: str) -> None:
        """Take a place, or wait for one."""
        if whose not in self._waiting and self._is_free(whose):
            self._busy[whose] += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(whose, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it was served in the same moment
                self.release(whose)
            else:
                self._forget(whose, turn)
            raise

    def release(self, whose: str) -> None:
        """Leave the place to whoever is next."""
        self._busy[whose] -= 1
        if not self._busy[whose]:
            del self._busy[whose]
        for one in list(self._waiting):
            if self._is_free(one) and self._serve(one):
                return

    def _serve(self, whose: str) -> bool:
        """Give a place to the person's first; False where those who waited have all just been cancelled."""
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

    @asynccontextmanager
    async def at(self, whose: str) -> AsyncIterator[None]:
        """Take a place for the block."""
        await self.acquire(whose)
        try:
            yield
        finally:
            self.release(whose)

    def _is_free(self, whose: str) -> bool:
        return self._busy.total() < self._most and self._busy[whose] < self._most_each

    def _forget(self, whose: str, turn: asyncio.Future[None]) -> None:
        turns = self._waiting.get(whose, deque())
        if turn in turns:
            turns.remove(turn)
        if not turns:
            self._waiting.pop(whose, None)


_places: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Places]] = WeakKeyDictionary()


def places(kind: str) -> Places:
    """Return those of the running event loop: `visits` of people, `turns` of their companions, or `looks`
    for what a message brings to mind, which turns wait for."""
    mine = _places.setdefault(asyncio.get_running_loop(), {})
    if kind not in mine:
        mine[kind] = Places(*settings.AT_WORK[kind])
    return mine[kind]
