"""What all sockets of a person have in common: who may open one, what it listens to, and when it is closed."""

import asyncio
import contextlib
import time
from collections import deque
from random import random
from typing import Any
from uuid import UUID

import orjson
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.utils import timezone

from accounts.errors import GateError
from accounts.limits.admission import Visit, address_of, being_identified
from accounts.models import User
from companions.events import REDIS_UNAVAILABLE, Event, group_of_sockets, hub
from companions.sockets.authorization import (
    NO_SUCH_COMPANION,
    NOT_SIGNED_IN,
    find_ending,
    find_sender,
    may_connect,
)
from companions.sockets.signals import CHECK
from jobs.background import in_thread

IDLE, TOO_FAST, UNAVAILABLE = 4408, 4429, 1013


class PersonSocket(AsyncWebsocketConsumer):
    """Base of a signed-in person's sockets, which listen to one group of events.

    A subclass chooses the group, handles its events, and may poll at an interval.
    """

    user: User
    group: str = ""
    channel_layer_alias = ""  # no channel layer: events come from the hub
    companion_id: UUID | None = None
    is_open = False
    is_closing = False

    def find_group(self) -> str | None:
        """Return the group to listen to, or None if the address names nothing that this person owns."""
        raise NotImplementedError

    async def on_open(self) -> None:
        """Hook: called once the person is known and the socket listens to its group."""

    async def on_end(self) -> None:
        """Hook: called once the socket has ended, before the person has its place free again."""

    async def handle_event(self, event: Event) -> None:
        """Handle an event of the group."""
        raise NotImplementedError

    def poll_seconds(self) -> float:
        """Return how many seconds to wait before the next poll."""
        raise NotImplementedError

    async def poll(self) -> None:
        """Hook: called every `poll_seconds()`."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve the socket, and release what it holds however it ends; sending may raise if the connection is lost."""
        self.tasks: list[asyncio.Task[None]] = []
        self.frame_times: deque[float] = deque()
        self.idle: asyncio.Task[None] | None = None
        self.events: asyncio.Queue[Event] = asyncio.Queue()
        self.listener = self.events.put_nowait
        self.visit = Visit(address_of(scope))
        try:
            await super().__call__(scope, receive, send)
        finally:
            await asyncio.shield(self.end())

    async def connect(self) -> None:
        if not may_connect(self.scope):
            await self.close()
            return
        refusal = await self._find_refusal()
        await self.accept()  # once it listens: what is said from now on reaches the client
        if refusal:
            await self.close(refusal)
            await self.visit.end()  # even if the client does not close its side
            return
        self.is_open = True
        self.wait_for_frames()
        await self.on_open()
        self.tasks = [asyncio.create_task(self._handle_events()), asyncio.create_task(self._watch())]

    async def _find_refusal(self) -> int | None:
        """Identify the person and listen to the group; return None, or the code to close the socket with."""
        try:
            async with being_identified(self.visit):
                user = await in_thread(find_sender, self.scope, timezone.now())
            if user is None:
                return NOT_SIGNED_IN
            self.user = user
            await self.visit.take("sockets", user.pk)
            group = await in_thread(self.find_group)
            if group is None:
                return NO_SUCH_COMPANION
            self.group = group
            await hub().listen(group, self.listener)
            await hub().listen(group_of_sockets(user.pk), self.listener)
            # Check again: a session that ended before this socket listened was announced to the others only.
            if await in_thread(find_sender, self.scope, timezone.now()) is None:
                return NOT_SIGNED_IN
        except DatabaseError:
            return UNAVAILABLE
        except GateError:
            return TOO_FAST
        return None

    async def end(self) -> None:
        """Stop the socket's tasks, stop listening, finish what is to be finished, and end its visit."""
        for task in filter(None, (self.idle, *self.tasks)):
            task.cancel()
        if self.group:
            for group in (self.group, group_of_sockets(self.user.pk)):
                hub().leave(group, self.listener)
        try:
            await self.on_end()
        finally:
            await self.visit.end()

    async def _handle_events(self) -> None:
        """Handle the group's events one by one; close the socket if the database, Redis or the connection fails."""
        try:
            while True:
                event = await self.events.get()
                if event["type"] == CHECK:  # in a task, so that further events are handled meanwhile
                    running = [task for task in self.tasks if not task.done()]
                    self.tasks = [*running, asyncio.create_task(self._close_if_ended())]
                else:
                    await self.handle_event(event)
        except (DatabaseError, RuntimeError, *REDIS_UNAVAILABLE):
            with contextlib.suppress(RuntimeError, OSError):
                await self.close(UNAVAILABLE)

    async def _watch(self) -> None:
        """Poll at each interval, and check now and then whether the socket may stay open."""
        seconds = settings.SOCKET_CHECKED_SECONDS
        # At random, so that sockets opened together are not all checked together.
        checked_at = time.monotonic() - seconds * random()  # noqa: S311 (nothing secret hangs on it)
        while True:
            await asyncio.sleep(self.poll_seconds())
            if time.monotonic() - checked_at >= seconds:
                checked_at = time.monotonic()
                await self._close_if_ended()
                if self.is_closing:
                    return
            await self.poll()

    async def _close_if_ended(self) -> None:
        """Close the socket if the session or token has ended, or the companion is gone."""
        ending = None
        with contextlib.suppress(DatabaseError, InterfaceError):
            ending = await in_thread(find_ending, self.scope, self.user.pk, self.companion_id, timezone.now())
        if ending:
            await self.close(ending)

    async def send_frame(self, frame: object) -> None:
        """Send a frame as JSON."""
        await self.send(orjson.dumps(frame).decode())

    async def is_too_fast(self) -> bool:
        """Count a frame; if there were too many within ten seconds, close the socket and return True."""
        now = time.monotonic()
        self.frame_times.append(now)
        while self.frame_times[0] < now - 10:
            self.frame_times.popleft()
        if len(self.frame_times) <= settings.SOCKET_FRAMES_PER_10_SECONDS:
            return False
        await self.close(TOO_FAST)
        return True

    def wait_for_frames(self) -> None:
        """Start the idle timeout anew, after which the socket is closed."""
        if self.idle:
            self.idle.cancel()
        self.idle = asyncio.create_task(self._close_when_idle())

    async def _close_when_idle(self) -> None:
        await asyncio.sleep(settings.SOCKET_IDLE_SECONDS)
        await self.close(IDLE)

    async def close(self, code: int | bool | None = None, reason: str | None = None) -> None:
        """Close the socket, unless that was done already."""
        if not self.is_closing:
            self.is_closing = True
            await super().close(code, reason)
