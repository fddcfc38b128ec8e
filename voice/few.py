"""So many of one person's at once: others wait for the same hands."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from django.utils.functional import Promise

from accounts.gate import GateError

WAIT_SECONDS = 5


class Few:
    """Counts what is under way of each person in this process."""

    def __init__(self, most: int, code: str, detail: Promise) -> None:
        self.most, self.code, self.detail = most, code, detail
        self._under_way: Counter[int] = Counter()
        self._counting = Lock()

    def under_way(self, user_id: int) -> int:
        """How many of this person are."""
        return self._under_way[user_id]

    @contextmanager
    def of(self, user_id: int) -> Iterator[None]:
        """One of the person's few; GateError where there are so many already."""
        with self._counting:  # some ask in threads
            if self._under_way[user_id] >= self.most:
                raise GateError(self.code, str(self.detail), WAIT_SECONDS)
            self._under_way[user_id] += 1
        try:
            yield
        finally:
            with self._counting:
                self._under_way[user_id] -= 1
                if not self._under_way[user_id]:
                    del self._under_way[user_id]
