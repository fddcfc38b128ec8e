"""Slots for long tasks in this process, so that those of one person never take all of its threads."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import Lock
from typing import Any, Generic, TypeVar

from django.db.models import QuerySet

from jobs.background import enqueue

Key = TypeVar("Key", bound=Hashable)


class Slots(Generic[Key]):
    """At most `most` slots are taken at once, and at most one for each key, e.g. a user."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, Lock()
        # The person whom each is for, by key.
        self._taken: dict[Key, Hashable] = {}
        self._missed: dict[Key, Hashable] = {}

    @contextmanager
    def take(
        self, key: Key, person: Hashable = None, *, pass_on: Callable[[Key], object] | None = None
    ) -> Iterator[bool]:
        """Take a slot for the block if there is one; yield whether there was. `person` is whom it is for.

        As the block leaves its slot, `pass_on` is called with the key whose turn is next, if one has missed a slot.
        """
        with self._lock:
            is_free = key not in self._taken and len(self._taken) < self._most
            if is_free:
                self._taken[key] = person
                self._missed.pop(key, None)
            else:
                self._missed.setdefault(key, person)
        try:
            yield is_free
        finally:
            if is_free:
                with self._lock:
                    del self._taken[key]
                if pass_on:
                    for missed in self.pop_missed(1):
                        pass_on(missed)

    def pop_missed(self, most: int | None = None) -> list[Key]:
        """Return the keys, at `most` so many, for which there was no slot and which have had none since. They are not
        returned again.

        Those of whoever has the fewest slots come first, and of these the one that has waited for longest.
        """
        with self._lock:
            taken = Counter(self._taken.values())
            popped = sorted(self._missed, key=lambda key: taken[self._missed[key]])[:most]
            for key in popped:
                del self._missed[key]
        return popped


# For tasks that wait for a model and that nobody waits for. If it is slow, or hangs, half of the worker's threads are
# left for others: reminders, embeddings, messages to devices.
FOR_MODELS = Slots[tuple[str, ...]](4)


def in_model_slot(users: QuerySet[Any, Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a task that waits for a model: it is done if there is a slot for it, and else enqueued once more when its
    turn comes, as others leave their slots. If that is lost, its sweep finds it. The persons whose tasks wait have their
    turns one after the other: `users` finds the person by the task's first id.
    """

    def decorate(work: Callable[..., None]) -> Callable[..., None]:
        @wraps(work)
        def run(*ids: str) -> None:
            person = users.filter(pk=ids[0]).first()
            key = (f"{work.__module__}.{work.__name__}", *ids)
            with FOR_MODELS.take(key, person, pass_on=lambda missed: enqueue(*missed)) as is_free:
                if is_free:
                    work(*ids)

        return run

    return decorate
