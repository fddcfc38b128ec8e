"""Slots for long tasks in this process, so that those of one person never take all of its threads."""

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from threading import Lock


class Slots:
    """At most `most` slots are taken at once, and at most one for each key, e.g. a user."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, Lock()
        self._taken, self._missed = set[Hashable](), set[Hashable]()

    @contextmanager
    def take(self, key: Hashable) -> Iterator[bool]:
        """Take a slot for the block if there is one; yield whether there was."""
        with self._lock:
            is_free = key not in self._taken and len(self._taken) < self._most
            (self._taken if is_free else self._missed).add(key)
            if is_free:
                self._missed.discard(key)
        try:
            yield is_free
        finally:
            if is_free:
                with self._lock:
                    self._taken.discard(key)

    def pop_missed(self) -> set[Hashable]:
        """Return the keys for which there was no slot since this was last asked, and which have had none since."""
        with self._lock:
            missed, self._missed = self._missed, set()
        return missed
