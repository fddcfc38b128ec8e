"""The socket of one companion: frames in, frames out, as the public contract names them."""

import asyncio
import time
from collections import deque
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
from companions.replies import actions, frames, stream
from companions.replies.database import visit
from companions.replies.layer import AWAY as REDIS_AWAY
from companions.replies.publish import group_of
from companions.replies.start import start
from companions.replies.turn import spawn
from companions.socket_frames import FRAMES, MessageSend, ReplyResume, ReplyStop, read_frame
from companions.socket_sender import may_connect, sender

NOT_SIGNED_IN, NO_SUCH_COMPANION, IDLE, TOO_FAST, AWAY = 4401, 4404, 4408, 4429, 1013


class CompanionConsumer(AsyncWebsocketConsumer):
    """One person's socket to one companion of theirs. What another's socket asks for does not exist."""

    user: User
    companion: Companion

    async def connect(self) -> None:
        self.told: dict[str, int] = {}
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

    async def _refusal(self) -> int | None:
        """The code with which the socket closes at once; None where the person and the companion are found."""
        user = await visit(sender, self.scope, timezone.now())
        if user is None:
            return NOT_SIGNED_IN
        self.user = user
        companion = await visit(self._companion)
        if companion is None:
            return NO_SUCH_COMPANION
        try:
            await self.channel_layer.group_add(group_of(companion.pk), self.channel_name)
        except REDIS_AWAY:
            return AWAY
        self.companion = companion
        return None

    async def disconnect(self, code: int) -> None:
        if self.idle:
            self.idle.cancel()
        if hasattr(self, "companion"):
            await self.channel_layer.group_discard(group_of(self.companion.pk), self.channel_name)

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
        except DatabaseError:
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
        started = await visit(start, self.companion, frame.text, frame.client_id, timezone.now())
        saved = {
            "type": "message.saved",
            "message": frames.message(started.message),
            "reply": {"id": str(started.reply.pk), "state": started.reply.state},
        }
        await self._tell_all(saved)
        if started.is_new:
            spawn(started.reply.pk)

    async def _tell_all(self, frame: dict[str, Any]) -> None:
        """To this socket at once, and to the companion's other sockets."""
        json = orjson.dumps(frame).decode()
        await self.send(json)
        try:
            message = {"type": "reply.frames", "id": "", "frames": [[None, json]], "but": self.channel_name}
            await self.channel_layer.group_send(group_of(self.companion.pk), message)
        except REDIS_AWAY:
            return

    async def _resume(self, reply: Reply, after: int) -> None:
        """What follows piece `after`; where its pieces are gone, the text as it is on the row."""
        self.told[str(reply.pk)] = after
        entries = await self._pieces_after(reply, after)
        for frame in entries:
            await self._give(str(reply.pk), orjson.loads(frame).get("seq"), frame)
        if not entries:
            await self._give_row(reply)

    async def _pieces_after(self, reply: Reply, after: int) -> list[str]:
        """The kept frames, unless there is a gap between `after` and the first of them."""
        try:
            kept = await stream.read(reply.pk, after)
        except REDIS_AWAY:
            return []
        first = next((piece["seq"] for piece in stream.pieces_in(kept, 0)), after + 1)
        return kept if first == after + 1 else []

    async def _give_row(self, reply: Reply) -> None:
        reply = await visit(Reply.objects.select_related("answer", "companion__user").get, pk=reply.pk)
        self.told[str(reply.pk)] = reply.seq
        if reply.is_open:
            frame = {
                "type": "reply.started",
                "message_id": str(reply.message_id),
                "text": reply.text,
                "after": reply.seq,
            }
        else:
            frame = {"type": f"reply.{reply.state}", **frames.ending(reply, self.companion)}
        await self.send(orjson.dumps({"id": str(reply.pk), **frame}).decode())

    async def reply_frames(self, event: dict[str, Any]) -> None:
        """Frames from the process that makes a reply."""
        if event.get("but") == self.channel_name:
            return
        for seq, frame in event["frames"]:
            await self._give(event["id"], seq, frame)

    async def _give(self, reply_id: str, seq: int | None, frame: str) -> None:
        """Send the frame, unless this socket has had its piece."""
        if seq is not None:
            if seq <= self.told.get(reply_id, 0):
                return
            self.told[reply_id] = seq
        await self.send(frame)

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
