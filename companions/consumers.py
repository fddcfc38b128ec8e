"""The socket of one companion: frames in, frames out, as the public contract names them."""

import asyncio
import contextlib
import time
from collections import deque
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from accounts.gate import GateError
from accounts.models import User
from companions.errors import CompanionsError, TextError
from companions.models import Companion, Reply
from companions.replies import actions, frames
from companions.replies.ahead import start_and_look
from companions.replies.database import AWAY as DATABASE_AWAY
from companions.replies.database import visit
from companions.replies.follow import SILENCE_SECONDS, Follower
from companions.replies.layer import AWAY as REDIS_AWAY
from companions.replies.layer import layer
from companions.replies.publish import group_of, tell
from companions.replies.turn import take_up
from companions.socket_frames import FRAMES, MessageSend, ReplyResume, ReplyStop, read_frame
from companions.socket_sender import may_connect, sender

NOT_SIGNED_IN, NO_SUCH_COMPANION, IDLE, TOO_FAST, AWAY = 4401, 4404, 4408, 4429, 1013


class CompanionConsumer(AsyncWebsocketConsumer):
    """One person's socket to one companion of theirs. What another's socket asks for does not exist."""

    user: User
    companion: Companion

    async def connect(self) -> None:
        self.giving = asyncio.Lock()
        self.tasks: list[asyncio.Task[None]] = []
        self.frame_times: deque[float] = deque()
        self.idle: asyncio.Task[None] | None = None
        if not may_connect(self.scope):
            await self.close()
            return
        await self.accept()
        if refusal := await self._refusal():
            await self.close(refusal)
        else:
            self._wait_for_frames()
            self.tasks = [asyncio.create_task(self._hear()), asyncio.create_task(self._watch())]

    async def _refusal(self) -> int | None:
        """The code with which the socket closes at once; None where the person and the companion are found."""
        try:
            user = await visit(sender, self.scope, timezone.now())
            if user is None:
                return NOT_SIGNED_IN
            self.user = user
            companion = await visit(self._companion)
            if companion is None:
                return NO_SUCH_COMPANION
            self.channel = await layer().new_channel()
            await layer().group_add(group_of(companion.pk), self.channel)
        except (DatabaseError, *REDIS_AWAY):
            return AWAY
        self.companion, self.follower = companion, Follower(companion)
        return None

    async def disconnect(self, code: int) -> None:
        for task in filter(None, (self.idle, *self.tasks)):
            task.cancel()
        if hasattr(self, "companion"):
            with contextlib.suppress(*REDIS_AWAY):
                await layer().group_discard(group_of(self.companion.pk), self.channel)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if not hasattr(self, "companion"):
            return
        if self._is_too_fast():
            await self.close(TOO_FAST)
            return
        self._wait_for_frames()
        client_id = None
        try:
            with translation.override(self.user.language or "en"):
                frame = read_frame(text_data)
                client_id = getattr(frame, "client_id", None)
                await self._handle(frame)
        except (CompanionsError, GateError) as error:
            await self._refuse(error.code, str(error.detail), client_id)
        except DATABASE_AWAY:
            with translation.override(self.user.language or "en"):
                detail = _("Kith's database does not answer right now. Send it again in a moment.")
            await self._refuse("database_away", detail, client_id)

    async def _handle(self, frame: FRAMES) -> None:
        match frame:
            case MessageSend():
                await self._send_message(frame)
            case ReplyStop():
                await actions.stop(await self._reply(frame.id))
            case ReplyResume():
                await self._resume(await self._reply(frame.id), frame.after)

    async def _send_message(self, frame: MessageSend) -> None:
        async with self.giving:  # the reply's first frames wait until the message's own has gone out
            started, ahead = await start_and_look(self.companion, frame.text, frame.client_id, timezone.now())
            if started.is_new:
                self.follower.begin(started.reply.pk)
            saved = frames.saved(started)
            await self.send(orjson.dumps(saved).decode())
        await tell(self.companion.pk, saved, but=self.channel)
        if started.is_new:
            take_up(started, ahead)

    async def _resume(self, reply: Reply, after: int) -> None:
        """What follows piece `after`; where its pieces are gone, the text as it is on the row."""
        async with self.giving:
            self.follower.begin(reply.pk, after)
            for frame in await self.follower.catch_up(str(reply.pk)):
                await self.send(frame)

    async def _hear(self) -> None:
        """Pass on what this companion's listeners are told; a socket that cannot be told anything is closed.

        A channel of its own and no handler of Channels', which would start two tasks and visit a thread for each frame.
        """
        try:
            while True:
                event = await layer().receive(self.channel)
                if event["type"] == "reply.frames":
                    await self._pass_on(event["id"], event["frames"])
                elif event["but"] != self.channel:
                    await self.send(event["frame"])
        except (DatabaseError, RuntimeError, *REDIS_AWAY):
            with contextlib.suppress(RuntimeError, OSError):
                await self.close(AWAY)

    async def _pass_on(self, reply_id: str, entries: list[Any]) -> None:
        async with self.giving:
            for frame in await self.follower.take(reply_id, entries):
                await self.send(frame)

    async def _watch(self) -> None:
        """Look for what was missed of replies that have been silent, as they are when Redis was away."""
        seconds = settings.SOCKET_CHECKED_SECONDS
        share = self.companion.pk.int / 2**128  # sockets opened together are not all checked together
        checked_at = time.monotonic() - seconds * share
        while True:
            await asyncio.sleep(SILENCE_SECONDS)
            if time.monotonic() - checked_at >= seconds:
                checked_at = time.monotonic()
                if ending := await self._no_longer():
                    await self.close(ending)
                    return
            for reply_id in self.follower.silent():
                with contextlib.suppress(DatabaseError):
                    async with self.giving:
                        for frame in await self.follower.catch_up(reply_id):
                            await self.send(frame)

    async def _no_longer(self) -> int | None:
        """The code with which the socket closes where its session or token has ended, or the companion is gone."""
        with contextlib.suppress(DatabaseError):
            return await visit(self._standing, timezone.now())
        return None

    def _standing(self, now: datetime) -> int | None:
        if sender(self.scope, now) != self.user:
            return NOT_SIGNED_IN
        return NO_SUCH_COMPANION if self._companion() is None else None

    async def _refuse(self, code: str, detail: str, client_id: str | None) -> None:
        given = {"client_id": client_id} if client_id else {}
        await self.send(orjson.dumps({"type": "error", "code": code, "detail": detail, **given}).decode())

    async def _reply(self, reply_id: UUID) -> Reply:
        mine = Reply.objects.owned_by(self.user).filter(companion=self.companion)
        reply = await visit(mine.filter(pk=reply_id).first)
        if reply is None:
            raise TextError("no_such_reply", _("There is no such reply."))
        return reply

    def _companion(self) -> Companion | None:
        mine = Companion.objects.owned_by(self.user).select_related("user", "conversation")
        return mine.filter(pk=self.scope["url_route"]["kwargs"]["companion_id"]).first()

    def _is_too_fast(self) -> bool:
        now = time.monotonic()
        self.frame_times.append(now)
        while self.frame_times[0] < now - 10:
            self.frame_times.popleft()
        return len(self.frame_times) > settings.SOCKET_FRAMES_PER_10_SECONDS

    def _wait_for_frames(self) -> None:
        """Close after a long silence of the client."""
        if self.idle:
            self.idle.cancel()
        self.idle = asyncio.create_task(self._close_when_idle())

    async def _close_when_idle(self) -> None:
        await asyncio.sleep(settings.SOCKET_IDLE_SECONDS)
        await self.close(IDLE)

    is_closing = False

    async def close(self, code: int | bool | None = None, reason: str | None = None) -> None:
        """Close once: what had come already is passed over, and whoever else would close finds it done."""
        if not self.is_closing:
            self.is_closing = True
            await super().close(code, reason)
