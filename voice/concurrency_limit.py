"""So many of one person's at once: others wait for the same hands."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from django.utils.functional import Promise

from accounts.errors import GateError

RETRY_AFTER_SECONDS = 5


class ConcurrencyLimit:
    """Counts what is under way of each person in this process."""

    def __init__(self, limit: int, code: str, detail: Promise) -> None:
        self.limit, self.code, self.detail = limit, code, detail
        self._under_way: Counter[int] = Counter()
        self._lock = Lock()

    def count(self, user_id: int) -> int:
        """Return how many of this person's are under way."""
        return self._under_way[user_id]

    @contextmanager
    def of(self, user_id: int) -> Iterator[None]:
        """Count one of the person's; raise GateError where there are so many already."""
        with self._lock:  # some ask in threads
            if self._under_way[user_id] >= self.limit:
                raise GateError(self.code, str(self.detail), RETRY_AFTER_SECONDS)
            self._under_way[user_id] += 1
        try:
            yield
        finally:
            with self._lock:
                self._under_way[user_id] -= 1
                if not self._under_way[user_id]:
                    del self._under_way[user_id]
