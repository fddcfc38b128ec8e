"""What the sockets of one person have in common: who is there, what they listen to, and when they close."""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import orjson
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.utils import timezone

from accounts.errors import GateError
from accounts.models import User
from accounts.shares import Visit, address_of, being_identified
from companions.replies.layer import AWAY as REDIS_AWAY
from companions.replies.layer import layer, new_channel
from companions.socket_end import CHECK, group_of_sockets
from companions.socket_sender import may_connect, sender
from companions.socket_stay import NO_SUCH_COMPANION, NOT_SIGNED_IN, Opened, stays
from database.threads import in_thread

Source = Callable[[], Awaitable[dict[str, Any]]]
IDLE, TOO_FAST, AWAY = 4408, 4429, 1013


class PersonSocket(AsyncWebsocketConsumer):
    """A socket of a signed-in person, which listens to one group of the channel layer.

    A subclass says to what, what it does with what it hears, and what it does every second.
    """

    user: User
    group: str = ""
    channel: str = ""
    channel_layer_alias = ""  # Channels would open a second one
    companion_id: UUID | None = None
    is_open = False
    is_closing = False

    def find(self) -> str | None:
        """The group to listen to; None where there is nothing of this person's at this address."""
        raise NotImplementedError

    async def opened(self) -> None:
        """What is done once the person is known and listened to."""

    async def heard(self, event: dict[str, Any]) -> None:
        """What is done with an event of the group."""
        raise NotImplementedError

    async def look(self) -> None:
        """What is done while nothing happens, as often as `look_seconds` says."""

    look_seconds = 1.0

    async def connect(self) -> None:
        self.tasks: list[asyncio.Task[None]] = []
        self.frame_times: deque[float] = deque()
        self.idle: asyncio.Task[None] | None = None
        self.listening = asyncio.Event()
        self.visit = Visit(address_of(self.scope))
        if not may_connect(self.scope):
            await self.close()
            return
        await self.accept()
        if refusal := await self._refusal():
            await self.close(refusal)
            await self.visit.end()
            return
        self.is_open = True
        self.wait_for_frames()
        await self.opened()
        self.tasks = [asyncio.create_task(self._hear(one)) for one in self.sources()]
        self.tasks.append(asyncio.create_task(self._watch()))

    def sources(self) -> list[Source]:
        """Where the next event of the group may come from."""
        return [self._told]

    async def _refusal(self) -> int | None:
        """The code with which the socket closes at once; None where the person and what they ask for are found."""
        try:
            async with being_identified(self.visit):
                user = await in_thread(sender, self.scope, timezone.now())
            if user is None:
                return NOT_SIGNED_IN
            self.user = user
            await self.visit.take("sockets", user.pk)
            group = await in_thread(self.find)
            if group is None:
                return NO_SUCH_COMPANION
            self.group = group
            await self._listen()
            # What ended before this socket listened was told to others only.
            if await in_thread(sender, self.scope, timezone.now()) is None:
                return NOT_SIGNED_IN
        except DatabaseError:
            return AWAY
        except GateError:
            return TOO_FAST
        return None

    async def _listen(self) -> None:
        """Hear what other processes tell; while Redis is away this is tried again with each look."""
        with contextlib.suppress(*REDIS_AWAY):
            self.channel = self.channel or await new_channel()
            for group in (self.group, group_of_sockets(self.user.pk)):
                await layer().group_add(group, self.channel)
            self.listening.set()

    async def _told(self) -> dict[str, Any]:
        """What the next event is that the group was told."""
        await self.listening.wait()
        told: dict[str, Any] = await layer().receive(self.channel)
        return told

    async def disconnect(self, code: int) -> None:
        for task in filter(None, (self.idle, *self.tasks)):
            task.cancel()
        if self.channel:
            with contextlib.suppress(*REDIS_AWAY):
                await layer().group_discard(self.group, self.channel)
                await layer().group_discard(group_of_sockets(self.user.pk), self.channel)
        await self.visit.end()

    async def _hear(self, source: Source) -> None:
        """Pass on what the group is told; a socket that cannot be told anything is closed.

        A channel of its own and no handler of Channels', which would start two tasks and a thread for each frame.
        """
        try:
            while True:
                event = await source()
                if event["type"] == CHECK:
                    self._check_soon()
                else:
                    await self.heard(event)
        except (DatabaseError, RuntimeError, *REDIS_AWAY):
            with contextlib.suppress(RuntimeError, OSError):
                await self.close(AWAY)

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
            if not self.listening.is_set():
                await self._listen()
            if time.monotonic() - checked_at >= seconds:
                checked_at = time.monotonic()
                await self._close_if_ended()
                if self.is_closing:
                    return
            await self.look()

    async def _close_if_ended(self) -> None:
        """Close where session, token or companion have ended."""
        if ending := await self._no_longer():
            await self.close(ending)

    async def _no_longer(self) -> int | None:
        """The code with which the socket closes where its session or token has ended, or the companion is gone."""
        with contextlib.suppress(DatabaseError, InterfaceError):
            return await stays().ending(Opened(self.scope, self.user.pk, self.companion_id))
        return None

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
