"""What the sockets of one person have in common: who is there, what they listen to, and when they close."""

import asyncio
import contextlib
import time
from collections import deque
from uuid import UUID

import orjson
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.utils import timezone

from accounts.admission import Visit, address_of, being_identified
from accounts.errors import GateError
from accounts.models import User
from companions.events import REDIS_UNAVAILABLE, Event, group_of_sockets, hub
from companions.sockets.authorization import NO_SUCH_COMPANION, NOT_SIGNED_IN, Opened, checker
from companions.sockets.checks import CHECK
from companions.sockets.sender import find_sender, may_connect
from database.threads import in_thread

IDLE, TOO_FAST, UNAVAILABLE = 4408, 4429, 1013


class PersonSocket(AsyncWebsocketConsumer):
    """A socket of a signed-in person, which listens to one group of events.

    A subclass says to which, what it does with what it hears, and what it does every `look_seconds`.
    """

    user: User
    group: str = ""
    channel_layer_alias = ""  # there is none: events come from the hub
    companion_id: UUID | None = None
    look_seconds = 1.0
    is_open = False
    is_closing = False

    def find(self) -> str | None:
        """Return the group to listen to; None where there is nothing of this person's at this address."""
        raise NotImplementedError

    async def opened(self) -> None:
        """Do what is to be done once the person is known and listened to."""

    async def hear(self, event: Event) -> None:
        """Do what is to be done with an event of the group."""
        raise NotImplementedError

    async def look(self) -> None:
        """Do what is to be done while nothing happens."""

    async def connect(self) -> None:
        self.tasks: list[asyncio.Task[None]] = []
        self.frame_times: deque[float] = deque()
        self.idle: asyncio.Task[None] | None = None
        self.heard: asyncio.Queue[Event] = asyncio.Queue()
        self.listener = self.heard.put_nowait
        self.visit = Visit(address_of(self.scope))
        if not may_connect(self.scope):
            await self.close()
            return
        await self.accept()
        if refusal := await self._find_refusal():
            await self.close(refusal)
            await self.visit.end()
            return
        self.is_open = True
        self.wait_for_frames()
        await self.opened()
        self.tasks = [asyncio.create_task(self._hear_on()), asyncio.create_task(self._watch())]

    async def _find_refusal(self) -> int | None:
        """Return the code with which the socket closes at once; None where the person and what they ask for are found."""
        try:
            async with being_identified(self.visit):
                user = await in_thread(find_sender, self.scope, timezone.now())
            if user is None:
                return NOT_SIGNED_IN
            self.user = user
            await self.visit.take("sockets", user.pk)
            group = await in_thread(self.find)
            if group is None:
                return NO_SUCH_COMPANION
            self.group = group
            for one in (group, group_of_sockets(user.pk)):
                await hub().listen(one, self.listener)
            # What ended before this socket listened was told to others only.
            if await in_thread(find_sender, self.scope, timezone.now()) is None:
                return NOT_SIGNED_IN
        except DatabaseError:
            return UNAVAILABLE
        except GateError:
            return TOO_FAST
        return None

    async def disconnect(self, code: int) -> None:
        for task in filter(None, (self.idle, *self.tasks)):
            task.cancel()
        if self.group:
            for group in (self.group, group_of_sockets(self.user.pk)):
                hub().leave(group, self.listener)
        await self.visit.end()

    async def _hear_on(self) -> None:
        """Pass on what the group is told; a socket that cannot be told anything is closed."""
        try:
            while True:
                event = await self.heard.get()
                if event["type"] == CHECK:
                    self._check_soon()
                else:
                    await self.hear(event)
        except (DatabaseError, RuntimeError, *REDIS_UNAVAILABLE):
            with contextlib.suppress(RuntimeError, OSError):
                await self.close(UNAVAILABLE)

    def _check_soon(self) -> None:
        """Look whether the socket may stay, while it goes on hearing."""
        running = [task for task in self.tasks if not task.done()]
        self.tasks = [*running, asyncio.create_task(self._close_if_ended())]

    async def _watch(self) -> None:
        """Look around, and close where session, token or companion have ended."""
        seconds = settings.SOCKET_CHECKED_SECONDS
        share = (id(self) // 64 % 1024) / 1024  # sockets opened together are not all checked together
        checked_at = time.monotonic() - seconds * share
        while True:
            await asyncio.sleep(self.look_seconds)
            if time.monotonic() - checked_at >= seconds:
                checked_at = time.monotonic()
                await self._close_if_ended()
                if self.is_closing:
                    return
            await self.look()

    async def _close_if_ended(self) -> None:
        """Close where session or token have ended, or the companion is gone."""
        ending = None
        with contextlib.suppress(DatabaseError, InterfaceError):
            ending = await checker().find_ending(Opened(self.scope, self.user.pk, self.companion_id))
        if ending:
            await self.close(ending)

    async def give(self, frame: object) -> None:
        """Send a frame."""
        await self.send(orjson.dumps(frame).decode())

    async def is_too_fast(self) -> bool:
        """Whether another frame is one too many; the socket is closed then."""
        now = time.monotonic()
        self.frame_times.append(now)
        while self.frame_times[0] < now - 10:
            self.frame_times.popleft()
        if len(self.frame_times) <= settings.SOCKET_FRAMES_PER_10_SECONDS:
            return False
        await self.close(TOO_FAST)
        return True

    def wait_for_frames(self) -> None:
        """Close after a long silence of the client."""
        if self.idle:
            self.idle.cancel()
        self.idle = asyncio.create_task(self._close_when_idle())

    async def _close_when_idle(self) -> None:
        await asyncio.sleep(settings.SOCKET_IDLE_SECONDS)
        await self.close(IDLE)

    async def close(self, code: int | bool | None = None, reason: str | None = None) -> None:
        """Close once: what had come already is passed over, and whoever else would close finds it done."""
        if not self.is_closing:
            self.is_closing = True
            await super().close(code, reason)
