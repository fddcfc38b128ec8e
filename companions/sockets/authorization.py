"""Whether open sockets may stay open: those who ask within a second are answered in one visit to the database.

Asked one by one, two hundred sockets took a twentieth of the processor time of a process that streams to all of them.
Tokens and companions are looked up together; each browser's session is still read by itself.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID
from weakref import WeakKeyDictionary

from django.utils import timezone

from companions.models import Companion
from companions.sockets.sender import find_sender_ids
from database.threads import in_thread

GATHER_SECONDS = 1.0
NOT_SIGNED_IN, NO_SUCH_COMPANION = 4401, 4404


class Opened(NamedTuple):
    """What a socket was opened with, whose it is, and the companion that it is for, if it is for one."""

    scope: Mapping[str, Any]
    user_id: int
    companion_id: UUID | None


class Checker:
    """Asks for all the sockets of one event loop."""

    def __init__(self) -> None:
        self._asking: list[Opened] = []
        self._visit: asyncio.Task[list[int | None]] | None = None

    async def find_ending(self, opened: Opened) -> int | None:
        """Return the code with which the socket is to be closed; None where it may stay. DatabaseError,
        InterfaceError.
        """
        if self._visit is None:
            self._asking = []
            self._visit = asyncio.create_task(self._ask(self._asking))
        at = len(self._asking)
        self._asking.append(opened)
        return (await asyncio.shield(self._visit))[at]  # who goes meanwhile leaves the others their answer

    async def _ask(self, asking: Sequence[Opened]) -> list[int | None]:
        await asyncio.sleep(GATHER_SECONDS)
        self._visit = None
        return await in_thread(find_endings, asking, timezone.now())


def find_endings(asking: Sequence[Opened], now: datetime) -> list[int | None]:
    """Return for each, in their order, the code with which it is to be closed; None where it may stay."""
    there = find_sender_ids([opened.scope for opened in asking], now)
    ids = [opened.companion_id for opened in asking if opened.companion_id]
    owned = set(Companion.objects.filter(pk__in=ids).values_list("pk", "user"))
    return [_ending(opened, sender, owned) for opened, sender in zip(asking, there, strict=True)]


def _ending(opened: Opened, sender: int | None, owned: set[tuple[UUID, int]]) -> int | None:
    if sender != opened.user_id:
        return NOT_SIGNED_IN
    is_gone = opened.companion_id and (opened.companion_id, opened.user_id) not in owned
    return NO_SUCH_COMPANION if is_gone else None


_checkers: WeakKeyDictionary[asyncio.AbstractEventLoop, Checker] = WeakKeyDictionary()


def checker() -> Checker:
    """Return that of the running event loop."""
    return _checkers.setdefault(asyncio.get_running_loop(), Checker())
